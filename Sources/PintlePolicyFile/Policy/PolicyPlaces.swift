package import Pintle

/// A finder of the value in a document to which a path such as `hosts[0].pins[1]` leads.
package struct PolicyPlaces {
    private let root: JSONValue
    /// A cache of the tape indices of each list's elements. A list can have millions of elements, finding one takes
    /// linear time, and a thousand problems can concern one list.
    private var lists: [PolicyPath: [UInt32]] = [:]

    package init(_ root: JSONValue) {
        self.root = root
    }

    /// Returns the value at the path. If a step is missing, it returns the value where the author of the policy would
    /// look: the pins if the backup pins are missing, otherwise the host, otherwise the object that lacks the member.
    package mutating func value(at path: PolicyPath) -> JSONValue {
        switch find(path) {
        case .there(let value), .nearest(let value): value
        }
    }

    private enum Found {
        case there(JSONValue)
        case nearest(JSONValue)
    }

    /// Finds the value recursively from the last step, so that each list is walked only once. The depth of the
    /// recursion is the number of steps, which is small because only this package creates paths.
    private mutating func find(_ path: PolicyPath) -> Found {
        switch path.steps.last {
        case nil: .there(root)
        case .element(let number): element(number, of: path.parent)
        case .member(let name): member(name, of: path.parent)
        }
    }

    private mutating func member(_ name: String, of owner: PolicyPath) -> Found {
        let owner = find(owner)
        guard case .there(let object) = owner else { return owner }
        guard let member = object.members?.first(where: { $0.key.string == name }) else {
            return .nearest(stand(in: object, for: name))
        }
        return .there(member.value)
    }

    private mutating func element(_ number: Int, of list: PolicyPath) -> Found {
        if let known = lists[list], known.indices.contains(number) {
            return .there(JSONValue(tape: root.tape, index: Int(known[number])))
        }
        let found = find(list)
        guard case .there(let value) = found else { return found }
        let elements = lists[list] ?? value.elements?.map { UInt32($0.index) } ?? []
        lists[list] = elements
        guard elements.indices.contains(number) else { return .nearest(value) }
        return .there(JSONValue(tape: root.tape, index: Int(elements[number])))
    }

    private func stand(in value: JSONValue, for name: String) -> JSONValue {
        if name == "backupPins", let pins = value["pins"] {
            return pins.elements?.first { _ in true } ?? pins
        }
        return value["host"] ?? value
    }
}

extension PolicyProblem {
    package func at(_ position: TextPlace) -> PolicyProblem {
        PolicyProblem(
            id: id, at: place, line: position.line, column: position.column, message: message, help: help)
    }
}
