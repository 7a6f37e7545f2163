/// Leads from a path such as `hosts[0].pins[1]` to the value in the document that it means.
package struct PolicyPlaces {
    private let root: JSONValue
    /// Where the elements of each list stand that a path led into. A list may have millions, finding its last takes
    /// time, and a thousand problems may be about one list.
    private var lists: [Substring: [UInt32]] = [:]

    package init(_ root: JSONValue) {
        self.root = root
    }

    /// Where the path leads. Where something on the way is absent, the nearest thing that its author will look at: for
    /// absent backup pins the pins, otherwise the host, otherwise the object that lacks it.
    package mutating func value(at path: String) -> JSONValue {
        switch find(path[...]) {
        case .there(let value), .nearest(let value): value
        }
    }

    private enum Found {
        case there(JSONValue)
        case nearest(JSONValue)
    }

    /// From the end, so that a list that is known need not be led to again. Recurses once a step; paths are made here.
    private mutating func find(_ path: Substring) -> Found {
        if path.isEmpty { return .there(root) }
        if path.last == "]", let bracket = path.lastIndex(of: "[") {
            return element(Int(path[path.index(after: bracket)...].dropLast()), of: path[..<bracket])
        }
        let dot = path.lastIndex(of: ".")
        let owner = find(dot.map { path[..<$0] } ?? "")
        guard case .there(let object) = owner else { return owner }
        let name = dot.map { path[path.index(after: $0)...] } ?? path
        guard let member = object.members?.first(where: { $0.key.string == String(name) }) else {
            return .nearest(stand(in: object, for: name))
        }
        return .there(member.value)
    }

    private mutating func element(_ number: Int?, of list: Substring) -> Found {
        if let number, let known = lists[list], known.indices.contains(number) {
            return .there(JSONValue(tape: root.tape, index: Int(known[number])))
        }
        let found = find(list)
        guard case .there(let value) = found, let number else { return found }
        if lists[list] == nil {
            lists[list] = value.elements?.map { UInt32($0.index) } ?? []
        }
        guard let known = lists[list], known.indices.contains(number) else { return .nearest(value) }
        return .there(JSONValue(tape: root.tape, index: Int(known[number])))
    }

    private func stand(in value: JSONValue, for name: Substring) -> JSONValue {
        if name == "backupPins", let pins = value["pins"] {
            return pins.elements?.first { _ in true } ?? pins
        }
        return value["host"] ?? value
    }
}

extension PolicyProblem {
    package func at(_ place: JSONPlace) -> PolicyProblem {
        PolicyProblem(
            id: id, path: path, line: place.line, column: place.column, message: message, help: help)
    }
}
