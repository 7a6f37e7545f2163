package import Pintle

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

    package mutating func report(
        _ id: String, _ value: JSONValue, _ path: PolicyPath, _ message: String, help: String
    ) {
        report(PolicyProblem(id: id, at: path, message: message, help: help), value)
    }

    package func name(of path: PolicyPath) -> String { path.isRoot ? "the policy" : "\(path)" }

    /// A key that is no plain word does not appear in a path: its place is that of its object.
    package func path(ofUnknown key: String, in object: PolicyPath) -> PolicyPath {
        let isPlain =
            !key.isEmpty && key.utf8.count <= 64
            && key.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isAlphabetic }
        return isPlain ? object[key] : object
    }

    mutating func required<Key: PolicyFileKey>(
        _ key: Key, of members: [Key: JSONValue], in object: JSONValue, at path: @autoclosure () -> PolicyPath,
        help: String
    ) -> JSONValue? {
        if let value = members[key] { return value }
        let path = path()
        report("missing-key", object, path[key.rawValue], "\(name(of: path)) has no \"\(key.rawValue)\"", help: help)
        return nil
    }

    mutating func elements(of value: JSONValue, at path: @autoclosure () -> PolicyPath) -> JSONElements? {
        if let elements = value.elements { return elements }
        reportType(of: value, path(), "a list: [...]")
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
            reportType(of: value, path(), "a number, without quotes")
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

    mutating func date(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> Date? {
        guard let text = string(value, path()) else { return nil }
        do throws(RFC3339.ParsingError) {
            return try RFC3339.date(from: text)
        } catch {
            report("invalid-date", value, path(), "\(quoted(value)) is \(error.message)", help: error.hint)
            return nil
        }
    }
}
