internal import Pintle
internal import PintleOpenSSL

/// The places of a policy file's rules and their pins.
struct RulePlaces {
    private let root: JSONValue?
    private let rules: [JSONValue]

    init(_ json: [UInt8]) {
        root = try? JSONDocument(json).root
        rules = root?["hosts"]?.elements.map(Array.init) ?? []
    }

    /// Returns the place of the host of a rule, of one of its pins, or of the beginning of the file.
    func place(rule: Int?, list: StaticString? = nil, pin: Int? = nil) -> TextPlace? {
        guard let rule, rules.indices.contains(rule) else { return root?.place }
        let value = rules[rule]
        guard let list, let pins = value[list] else { return (value["host"] ?? value).place }
        guard let pin, let elements = pins.elements.map(Array.init), elements.indices.contains(pin) else {
            return pins.place
        }
        return elements[pin].place
    }
}
