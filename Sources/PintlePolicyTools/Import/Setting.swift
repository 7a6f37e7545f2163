internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile

/// A value of a property list, with its place.
struct Setting: Sendable {
    indirect enum Value: Sendable {
        case string(String)
        case boolean(Bool)
        /// Numbers, dates and data, which no format needs.
        case other
        case array([Setting])
        case dictionary([Member])
    }

    struct Member: Sendable {
        let key: String
        let place: TextPlace
        let value: Setting
    }

    let value: Value
    let place: TextPlace

    /// The members, or `nil` unless this is a dictionary.
    var members: [Member]? {
        if case .dictionary(let members) = value { members } else { nil }
    }

    subscript(key: String) -> Setting? { members?.first { $0.key == key }?.value }

    // MARK: What must be there

    func dictionary(_ name: String) throws(ToolError) -> [Member] {
        if case .dictionary(let members) = value { return members }
        throw wrongType(name, "a dictionary")
    }

    func array(_ name: String) throws(ToolError) -> [Setting] {
        if case .array(let items) = value { return items }
        throw wrongType(name, "an array")
    }

    func string(_ name: String) throws(ToolError) -> String {
        if case .string(let text) = value { return text }
        throw wrongType(name, "a string")
    }

    func boolean(_ name: String) throws(ToolError) -> Bool {
        if case .boolean(let boolean) = value { return boolean }
        throw wrongType(name, "true or false")
    }

    /// The strings of an array, with their places.
    func strings(_ name: String) throws(ToolError) -> [(String, TextPlace)] {
        var strings: [(String, TextPlace)] = []
        for item in try array(name) { strings.append((try item.string(name), item.place)) }
        return strings
    }

    private func wrongType(_ name: String, _ wanted: String) -> ToolError {
        .unusable("wrong-type", "\(name) is not \(wanted)", at: place)
    }

    /// - Throws: an error at the second of two equal keys, because parsers differ in which one they take.
    static func refuseDuplicates(_ members: [Member]) throws(ToolError) {
        var seen: Set<String> = []
        for member in members where !seen.insert(member.key).inserted {
            throw .unusable("duplicate-key", "\(member.key) is there twice", at: member.place, hint: "remove one")
        }
    }
}

extension ToolError {
    static func unknownKey(_ key: String, in name: String, at place: TextPlace, known: [String]) -> ToolError {
        let nearest = Spelling.suggestion(for: key, among: known)
        return .unusable(
            "unknown-key", "\(name) has the unknown key \(key)\(nearest)", at: place,
            hint: "an unknown setting may restrict the pins: take it out, or write the policy by hand")
    }
}
