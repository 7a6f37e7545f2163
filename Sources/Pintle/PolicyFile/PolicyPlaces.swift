/// Leads from a path such as `hosts[0].pins[1]` to the value in the document that it means.
struct PolicyPlaces {
    private let root: JSONValue
    /// A policy may have a million hosts, and finding the last of them in the document takes time.
    private let hosts: [JSONValue]

    init(_ root: JSONValue) {
        self.root = root
        hosts = root["hosts"]?.elements.map(Array.init) ?? []
    }

    /// Where the path leads. Where something on the way is absent, the nearest thing that its author will look at: for
    /// absent backup pins the pins, otherwise the host, otherwise the object that lacks it.
    func value(at path: String) -> JSONValue {
        var value = root
        for step in path.split(separator: ".") {
            let name = step.prefix { $0 != "[" }
            guard let member = member(String(name), of: value) else { return stand(in: value, for: name) }
            value = member
            let index = step.dropFirst(name.count + 1).dropLast()
            guard !index.isEmpty else { continue }
            guard let number = Int(index), let element = element(number, of: value) else { return value }
            value = element
        }
        return value
    }

    private func member(_ name: String, of value: JSONValue) -> JSONValue? {
        value.members?.first { $0.key.string == name }?.value
    }

    private func element(_ index: Int, of list: JSONValue) -> JSONValue? {
        if list.offset == root["hosts"]?.offset { return hosts.indices.contains(index) ? hosts[index] : nil }
        return list.elements?.dropFirst(index).first { _ in true }
    }

    private func stand(in value: JSONValue, for name: Substring) -> JSONValue {
        if name == "backupPins", let pins = value["pins"] {
            return pins.elements?.first { _ in true } ?? pins
        }
        return value["host"] ?? value
    }
}

extension PolicyProblem {
    func at(_ place: JSONPlace) -> PolicyProblem {
        PolicyProblem(
            id: id, path: path, line: place.line, column: place.column, message: message, help: help)
    }
}
