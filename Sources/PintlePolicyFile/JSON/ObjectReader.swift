internal import Pintle

extension JSONValue {
    /// Returns the members of an object by key; `nil` unless this is an object. `unknown` gets the members with other
    /// keys.
    package func members<Key: RawRepresentable & CaseIterable & Hashable, Failure: Error>(
        as keys: Key.Type, unknown: (JSONMember) throws(Failure) -> Void
    ) throws(Failure) -> [Key: JSONValue]? where Key.RawValue == String {
        guard let members else { return nil }
        var known: [Key: JSONValue] = [:]
        for member in members {
            // Compare bytes: a string with the Kelvin sign equals the same string with a K.
            let name = member.key.stringSlice ?? []
            func isSpelled(_ key: Key) -> Bool { key.rawValue.utf8.elementsEqual(name) }
            // Messages do not offer a former key, which is missing in the list.
            if let key = Key.allCases.first(where: isSpelled) ?? Key(rawValue: String(decoding: name, as: UTF8.self)),
                isSpelled(key)
            {
                known[key] = member.value
            } else {
                try unknown(member)
            }
        }
        return known
    }
}

/// A reader of a JSON file that goes on after a mistake, so that all mistakes are reported at once. Each function
/// reports a mistake and returns `nil`. Places are built only for mistakes.
package protocol ObjectReader {
    /// The place of a value in the file.
    associatedtype Path
    /// A Boolean value that indicates whether the list of problems is full.
    var isFull: Bool { get }
    mutating func report(_ id: String, _ value: JSONValue, _ path: Path, _ message: String, help: String)
    /// Returns a place as messages name it: `hosts[0]`, or `the policy`.
    func name(of path: Path) -> String
    /// Returns the place of an unknown member.
    func path(ofUnknown key: String, in object: Path) -> Path
}

extension ObjectReader {
    package mutating func reportType(of value: JSONValue, _ path: Path, _ wanted: String) {
        report(
            "wrong-type", value, path, "\(name(of: path)) is \(value.kind.description)", help: "write \(wanted)")
    }

    /// Returns the members of an object by key, and reports each unknown key at its position.
    package mutating func members<Key: RawRepresentable & CaseIterable & Hashable>(
        of value: JSONValue, as keys: Key.Type, _ path: @autoclosure () -> Path
    ) -> [Key: JSONValue]? where Key.RawValue == String {
        let known = value.members(as: keys) { member in
            guard !isFull else { return }
            let (name, path) = (member.key.string ?? "", path())
            report(
                "unknown-key", member.key, self.path(ofUnknown: name, in: path),
                "unknown key \(quoted(member.key)) in \(self.name(of: path))",
                help: help(for: name, in: Key.allCases.map(\.rawValue), called: "known keys"))
        }
        if known == nil { reportType(of: value, path(), "an object: {...}") }
        return known
    }

    package mutating func string(_ value: JSONValue, _ path: @autoclosure () -> Path) -> String? {
        if let string = value.string { return string }
        reportType(of: value, path(), "a string in double quotes")
        return nil
    }

    package mutating func boolean(_ value: JSONValue, _ path: @autoclosure () -> Path) -> Bool? {
        if let boolean = value.boolean { return boolean }
        reportType(of: value, path(), "true or false, without quotes")
        return nil
    }

    package mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: JSONValue, _ path: @autoclosure () -> Path
    ) -> Choice? where Choice.RawValue == String {
        guard let text = string(value, path()) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let path = path()
        report(
            "unknown-value", value, path, "\(quoted(value)) is not a value of \(name(of: path))",
            help: help(for: text, in: Choice.allCases.map(\.rawValue), called: "values"))
        return nil
    }

    /// Returns a string of the file for messages: in quotes, escaped and shortened.
    package func quoted(_ value: JSONValue) -> String {
        let scalars = (value.string ?? "").unicodeScalars
        guard scalars.count > 80 else { return JSONWriter.quoted(String(scalars)) }
        return JSONWriter.quoted(String(String.UnicodeScalarView(scalars.prefix(79))) + "…")
    }

    /// Returns the known words, and the one that the text most likely misspells.
    package func help(for text: String, in known: [String], called name: String) -> String {
        let list = "\(name): " + known.prefix(20).joined(separator: ", ") + (known.count > 20 ? " and more" : "")
        guard let nearest = NearestSpelling.of(text, in: known) else { return list }
        return "did you mean \"\(nearest)\"? \(list)"
    }
}

extension JSONValue.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .null: "null"
        case .boolean: "true or false"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
