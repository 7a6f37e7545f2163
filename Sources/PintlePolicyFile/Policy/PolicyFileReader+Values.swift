internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Parsers for the value types of a policy file. Each reports a problem and then returns `nil`.
extension PolicyFileReader {
    mutating func report(_ problem: PolicyProblem, _ value: JSONValue) {
        problems.append((value.offset, problem))
    }

    mutating func report(_ id: String, _ value: JSONValue, _ path: PolicyPath, _ message: String, help: String) {
        report(PolicyProblem(id: id, at: path, message: message, help: help), value)
    }

    mutating func reportType(of value: JSONValue, _ wanted: String, at path: PolicyPath) {
        let name = path.isRoot ? "the policy" : "\(path)"
        report("wrong-type", value, path, "\(name) is \(value.kind.description)", help: "write \(wanted)")
    }

    /// Returns the members of an object by key. It reports each unknown key at its position.
    mutating func members<Key: PolicyFileKey>(
        of value: JSONValue, as keys: Key.Type, at path: @autoclosure () -> PolicyPath
    ) -> [Key: JSONValue]? {
        guard let members = value.members else {
            reportType(of: value, "an object: {...}", at: path())
            return nil
        }
        var known: [Key: JSONValue] = [:]
        for member in members where !isFull {
            // Compare bytes: a string with the Kelvin sign equals the same string with a K.
            let name = member.key.stringSlice ?? []
            if let key = Key.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) }) {
                known[key] = member.value
            } else {
                reportUnknown(member.key, among: Key.allCases.map(\.rawValue), at: path())
            }
        }
        return known
    }

    private mutating func reportUnknown(_ key: JSONValue, among known: [String], at path: PolicyPath) {
        let name = key.string ?? ""
        let owner = path.isRoot ? "the policy" : "\(path)"
        report(
            "unknown-key", key, Self.isPlain(name) ? path[name] : path, "unknown key \(quoted(key)) in \(owner)",
            help: help(for: name, in: known, called: "known keys"))
    }

    mutating func required<Key: PolicyFileKey>(
        _ key: Key, of members: [Key: JSONValue], in object: JSONValue, at path: @autoclosure () -> PolicyPath,
        help: String
    ) -> JSONValue? {
        if let value = members[key] { return value }
        let path = path()
        let owner = path.isRoot ? "the policy" : "\(path)"
        report("missing-key", object, path[key.rawValue], "\(owner) has no \"\(key.rawValue)\"", help: help)
        return nil
    }

    /// Returns whether a key may appear in a path. For any other key, the path is that of its object.
    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.count <= 64
            && key.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isAlphabetic }
    }

    mutating func elements(of value: JSONValue, at path: @autoclosure () -> PolicyPath) -> JSONElements? {
        if let elements = value.elements { return elements }
        reportType(of: value, "a list: [...]", at: path())
        return nil
    }

    mutating func string(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> String? {
        if let string = value.string { return string }
        reportType(of: value, "a string in double quotes", at: path())
        return nil
    }

    mutating func boolean(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> Bool? {
        if let boolean = value.boolean { return boolean }
        reportType(of: value, "true or false, without quotes", at: path())
        return nil
    }

    /// Parses an integer. `id` is the id of the problem if the integer is outside `range`.
    mutating func integer(
        _ value: JSONValue, in range: ClosedRange<Int64>?, id: String, at path: @autoclosure () -> PolicyPath
    ) -> Int64? {
        guard let integer = value.integer else {
            if value.kind == .number {
                // This happens if the surrounding document, such as a batch, allows numbers of any form.
                report(
                    "non-integer-number", value, path(), "\(path()) is not a 64-bit integer",
                    help: "numbers are integers, written in digits")
                return nil
            }
            reportType(of: value, "a number, without quotes", at: path())
            return nil
        }
        if let range, !range.contains(integer) {
            report(
                id, value, path(), "\(integer) is out of range",
                help: "write a number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return integer
    }

    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: JSONValue, at path: @autoclosure () -> PolicyPath
    ) -> Choice? where Choice.RawValue == String {
        guard let text = string(value, at: path()) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        report(
            "unknown-value", value, path(), "\(quoted(value)) is not a value of \(path())",
            help: help(for: text, in: Choice.allCases.map(\.rawValue), called: "values"))
        return nil
    }

    mutating func date(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> Date? {
        guard let text = string(value, at: path()) else { return nil }
        do throws(RFC3339.ParsingError) {
            return try RFC3339.date(from: text)
        } catch {
            report("invalid-date", value, path(), "\(quoted(value)) is \(error.message)", help: error.hint)
            return nil
        }
    }

    /// Returns a string value for messages: in quotes, escaped and shortened.
    func quoted(_ value: JSONValue) -> String {
        let text = value.string ?? ""
        guard text.unicodeScalars.count > 80 else { return JSONWriter.quoted(text) }
        var short = String.UnicodeScalarView()
        short.append(contentsOf: text.unicodeScalars.prefix(79))
        return JSONWriter.quoted(String(short) + "…")
    }

    private func help(for text: String, in known: [String], called name: String) -> String {
        let list = "\(name): " + known.joined(separator: ", ")
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
