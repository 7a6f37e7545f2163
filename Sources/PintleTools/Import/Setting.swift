/// A value of a property list or of a literal in code, with its place.
struct Setting: Sendable {
    indirect enum Value: Sendable {
        case string(String)
        case boolean(Bool)
        /// Numbers, dates and data. No format needs them; their text is kept for messages only.
        case other(String)
        case array([Setting])
        case dictionary([Member])
    }

    struct Member: Sendable {
        let key: String
        let place: ForeignPlace
        let value: Setting
    }

    let value: Value
    let place: ForeignPlace

    /// The members, or `nil` unless this is a dictionary.
    var members: [Member]? {
        if case .dictionary(let members) = value { members } else { nil }
    }

    subscript(key: String) -> Setting? { members?.first { $0.key == key }?.value }

    // MARK: What must be there

    func dictionary(_ name: String) throws(ForeignError) -> [Member] {
        if case .dictionary(let members) = value { return members }
        throw wrongType(name, "a dictionary")
    }

    func array(_ name: String) throws(ForeignError) -> [Setting] {
        if case .array(let items) = value { return items }
        throw wrongType(name, "an array")
    }

    func string(_ name: String) throws(ForeignError) -> String {
        if case .string(let text) = value { return text }
        throw wrongType(name, "a string")
    }

    func boolean(_ name: String) throws(ForeignError) -> Bool {
        if case .boolean(let boolean) = value { return boolean }
        throw wrongType(name, "true or false")
    }

    /// The strings of an array, with their places.
    func strings(_ name: String) throws(ForeignError) -> [(String, ForeignPlace)] {
        var strings: [(String, ForeignPlace)] = []
        for item in try array(name) { strings.append((try item.string(name), item.place)) }
        return strings
    }

    private func wrongType(_ name: String, _ wanted: String) -> ForeignError {
        ForeignError("wrong-type", "\(name) is not \(wanted)", at: place)
    }

    /// - Throws: an error at the second of two equal keys, because parsers differ in which one they take.
    static func refuseDuplicates(_ members: [Member]) throws(ForeignError) {
        var seen: Set<String> = []
        for member in members where !seen.insert(member.key).inserted {
            throw ForeignError("duplicate-key", "\(member.key) is there twice", at: member.place, hint: "remove one")
        }
    }
}

extension ForeignError {
    static func unknownKey(_ key: String, in name: String, at place: ForeignPlace, known: [String]) -> ForeignError {
        let nearest = Spelling.nearest(to: key, among: known).map { "; did you mean \($0)?" } ?? ""
        return ForeignError(
            "unknown-key", "\(name) has the unknown key \(key)\(nearest)", at: place,
            hint: "what is not understood may restrict the pins: take it out, or write the policy by hand")
    }
}

/// Reads property lists in XML (Apple's DTD, version 1.0).
enum PropertyListReader {
    static func root(_ bytes: [UInt8]) throws(ForeignError) -> Setting {
        if bytes.starts(with: Array("bplist".utf8)) {
            throw ForeignError(
                "binary-plist", "a binary property list", at: nil, hint: "convert it: plutil -convert xml1 FILE")
        }
        let root = try XMLDocument.root(bytes)
        guard root.name == "plist", root.children.count == 1, let child = root.children.first, root.hasNoText else {
            throw ForeignError("not-a-plist", "not a property list with one value", at: root.place)
        }
        return try setting(child)
    }

    private static func setting(_ element: XMLElement) throws(ForeignError) -> Setting {
        func leaf(_ value: Setting.Value) throws(ForeignError) -> Setting {
            guard element.children.isEmpty else {
                throw ForeignError("malformed-plist", "<\(element.name)> has elements inside", at: element.place)
            }
            return Setting(value: value, place: element.place)
        }
        switch element.name {
        case "string": return try leaf(.string(element.text))
        case "true": return try leaf(.boolean(true))
        case "false": return try leaf(.boolean(false))
        case "integer", "real", "date", "data": return try leaf(.other(element.trimmed))
        case "array":
            guard element.hasNoText else { break }
            var items: [Setting] = []
            for child in element.children { items.append(try setting(child)) }
            return Setting(value: .array(items), place: element.place)
        case "dict":
            guard element.hasNoText else { break }
            return Setting(value: .dictionary(try members(element)), place: element.place)
        default: break
        }
        throw ForeignError("malformed-plist", "<\(element.name)> does not belong here", at: element.place)
    }

    private static func members(_ element: XMLElement) throws(ForeignError) -> [Setting.Member] {
        var members: [Setting.Member] = []
        var rest = element.children[...]
        while let key = rest.popFirst() {
            guard key.name == "key", key.children.isEmpty else {
                throw ForeignError("malformed-plist", "a key is missing before <\(key.name)>", at: key.place)
            }
            guard let value = rest.popFirst(), value.name != "key" else {
                throw ForeignError("malformed-plist", "the key \(key.text) has no value", at: key.place)
            }
            members.append(Setting.Member(key: key.text, place: key.place, value: try setting(value)))
        }
        try Setting.refuseDuplicates(members)
        return members
    }
}

extension XMLElement {
    /// A Boolean value that indicates whether it contains only elements.
    var hasNoText: Bool { text.allSatisfy(\.isWhitespace) }
}
