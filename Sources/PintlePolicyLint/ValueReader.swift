package import Pintle
package import PintlePolicyFile
package import PintleSystem

/// A reader of a file of the tool. A place is text: `keys[2].pin`, or `the plan` for the document.
package protocol ValueReader: ObjectReader where Path == String {
    var problems: [ValueProblem] { get set }
}

/// A mistake in a file of the tool.
package struct ValueProblem: Sendable {
    /// The offset of the value in the file.
    package let offset: Int
    /// Stable, for scripts: `unknown-key`.
    package let id: String
    /// Lower case, no full stop.
    package let message: String
    package let help: String?
    /// The file of the mistake; `nil` for the file that is read, until the mistakes are placed.
    package private(set) var file: String?
    /// The place, counted from 1.
    package private(set) var line: Int?
    package private(set) var column: Int?

    package init(
        at offset: Int, _ id: String, _ message: String, help: String?, file: String? = nil, line: Int? = nil,
        column: Int? = nil
    ) {
        self.offset = offset
        self.id = id
        self.message = message
        self.help = help
        self.file = file
        self.line = line
        self.column = column
    }

    fileprivate func placed(in file: String, _ place: TextPlace) -> ValueProblem {
        guard self.file == nil else { return self }
        var problem = self
        problem.file = file
        if line == nil { (problem.line, problem.column) = (place.line, place.column) }
        return problem
    }
}

/// The mistakes in a file, with their places; at least one.
package struct ValueProblems: Error {
    package let all: [ValueProblem]
}

/// The members of an object, with their places for errors.
package struct Fields<Key: RawRepresentable & CaseIterable & Hashable> where Key.RawValue == String {
    package let object: JSONValue
    /// The object in errors: `keys[2]`, or `the plan` for the document.
    package let name: String
    fileprivate let prefix: String
    fileprivate let values: [Key: JSONValue]

    package subscript(key: Key) -> JSONValue? { values[key] }

    /// Returns a member's place in errors: `keys[2].pin`, or `until` for one of the document.
    package func path(_ key: Key) -> String { prefix + key.rawValue }
}

extension ValueReader {
    /// Reads a document of which one value is made.
    ///
    /// - Parameters:
    ///   - file: the name of the file in errors.
    ///   - name: what the document is, in errors: `the plan`.
    ///   - id: the id of the error if there is neither a value nor a problem.
    ///   - read: reads the document's root; `nil` after a mistake.
    /// - Throws: every problem with its place, in the order of the file; at most ``ValueLimits/problems``.
    package mutating func document<Content>(
        _ bytes: [UInt8], _ limits: JSONDocument.Limits, file: String, called name: String, unusable id: String,
        _ read: (inout Self, JSONValue) -> Content?
    ) throws(ValueProblems) -> Content {
        func problem(_ id: String, _ message: String, help: String? = nil, _ place: JSONError? = nil) -> ValueProblems {
            ValueProblems(all: [
                ValueProblem(at: 0, id, message, help: help, file: file, line: place?.line, column: place?.column)
            ])
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: limits)
        } catch {
            throw problem(
                error.code.rawValue, error.message, help: error.hint ?? "the file must be JSON as RFC 8259 has it",
                error)
        }
        let content = read(&self, document.root)
        guard problems.isEmpty else { throw ValueProblems(all: placed(in: document, file: file)) }
        guard let content else { throw problem(id, "\(name) cannot be used") }
        return content
    }

    /// A Boolean value that indicates whether the list of problems is full.
    package var isFull: Bool { problems.count >= ValueLimits.problems }

    /// Returns the problems with their places, in the order of the file.
    ///
    /// - Parameter file: the name of the file in errors.
    private func placed(in document: JSONDocument, file: String) -> [ValueProblem] {
        let order = problems.indices.sorted { (problems[$0].offset, $0) < (problems[$1].offset, $1) }
        let sorted = order.prefix(ValueLimits.problems).map { problems[$0] }
        return zip(sorted, document.places(at: sorted.map(\.offset))).map { $0.placed(in: file, $1) }
    }

    package mutating func report(_ id: String, _ value: JSONValue, _ message: String, help: String) {
        problems.append(ValueProblem(at: value.offset, id, message, help: help))
    }

    package mutating func report(
        _ id: String, _ value: JSONValue, _ path: String, _ message: String, help: String
    ) {
        report(id, value, message, help: help)
    }

    package func name(of path: String) -> String { path }

    package func path(ofUnknown key: String, in object: String) -> String { object }

    /// Returns the members of an object, and reports unknown keys.
    ///
    /// - Parameter isDocument: `true` for the document itself, whose members are named without it.
    package mutating func fields<Key>(
        of value: JSONValue, as keys: Key.Type, _ path: String, isDocument: Bool = false
    ) -> Fields<Key>? {
        members(of: value, as: keys, path).map {
            Fields(object: value, name: path, prefix: isDocument ? "" : path + ".", values: $0)
        }
    }

    /// Returns the members of an object that another value stands for: none.
    package func noFields<Key>(inPlaceOf value: JSONValue, _ path: String) -> Fields<Key> {
        Fields(object: value, name: path, prefix: path + ".", values: [:])
    }

    /// Reads a member with `read`, which gets the reader, the value and its path; `nil` without the member.
    package mutating func optional<Key, Value>(
        _ key: Key, of fields: Fields<Key>, _ read: (inout Self, JSONValue, String) -> Value?
    ) -> Value? {
        fields[key].flatMap { read(&self, $0, fields.path(key)) }
    }

    /// Reads a member as ``optional(_:of:_:)`` does, and reports that it is missing.
    package mutating func required<Key, Value>(
        _ key: Key, of fields: Fields<Key>, example: String, _ read: (inout Self, JSONValue, String) -> Value?
    ) -> Value? {
        if fields[key] == nil { reportMissing(key, of: fields, "add \"\(key.rawValue)\": \(example)") }
        return optional(key, of: fields, read)
    }

    package mutating func reportMissing<Key>(_ key: Key, of fields: Fields<Key>, _ help: String) {
        report("missing-key", fields.object, "\(fields.name) has no \"\(key.rawValue)\"", help: help)
    }

    /// Returns the elements of a list with their paths.
    ///
    /// - Parameter limit: the number of elements. A longer list is reported and not read.
    package mutating func list(
        _ value: JSONValue, _ path: String, limit: Int, mayBeEmpty: Bool = false
    ) -> [(value: JSONValue, path: String)] {
        guard let elements = value.elements else {
            reportType(of: value, path, "a list: [...]")
            return []
        }
        guard value.count <= limit else {
            report(
                "too-many", value, "\(path) has \(value.count) elements; at most \(limit) are read",
                help: "leave out what is no longer needed")
            return []
        }
        if value.count == 0, !mayBeEmpty { report("empty-list", value, "\(path) is empty", help: "name at least one") }
        return elements.enumerated().map { ($1, "\(path)[\($0)]") }
    }

    /// Reads a name that the output and other parts of the plan use. It must be short, visible and on one line.
    package mutating func name(_ value: JSONValue, _ path: String) -> String? {
        guard let text = string(value, path) else { return nil }
        let scalars = text.unicodeScalars
        guard !scalars.isEmpty, scalars.count <= ValueLimits.nameLength, !scalars.contains(where: \.isUnsafeToPrint),
            scalars.first?.properties.isWhitespace == false, scalars.last?.properties.isWhitespace == false
        else {
            report(
                "invalid-name", value, "\(path) is not a valid name",
                help: "write 1 to \(ValueLimits.nameLength) visible characters, no blank at the ends")
            return nil
        }
        return text
    }

    package mutating func pin(_ value: JSONValue, _ path: String) -> PublicKeyPin? {
        guard let text = string(value, path) else { return nil }
        do {
            return try PublicKeyPin(text)
        } catch {
            report(error.code, value, "\(path): \(error)", help: error.hint)
            return nil
        }
    }

    /// - Parameter id: the id of the problem if the number is outside `range`.
    package mutating func integer(_ value: JSONValue, in range: ClosedRange<Int64>, id: String, _ path: String) -> Int?
    {
        guard value.kind == .integer || value.kind == .number else {
            reportType(of: value, path, "a number, without quotes")
            return nil
        }
        guard let integer = value.integer, range.contains(integer) else {
            report(
                id, value, "\(path) is out of range",
                help: "write a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return Int(integer)
    }

    /// Reads a day, which stands for its first second in UTC, or an RFC 3339 instant. Fractions of a second are cut
    /// off.
    package mutating func date(_ value: JSONValue, _ path: String) -> Date? {
        guard let text = string(value, path) else { return nil }
        do throws(RFC3339.ParsingError) {
            let instant = try RFC3339.date(from: text.utf8.count == 10 ? text + "T00:00:00Z" : text)
            return instant.wholeSeconds
        } catch {
            report(
                "invalid-date", value, "\(path): \(quoted(value)) is \(error.message)",
                help: "write a day in UTC, 2027-03-01, or an instant, 2027-03-01T06:00:00Z")
            return nil
        }
    }

    /// Returns the position of the name.
    package mutating func reference(_ value: JSONValue, to names: [String], _ path: String, called kind: String) -> Int?
    {
        guard let text = string(value, path) else { return nil }
        if let index = names.firstIndex(of: text) { return index }
        report(
            "unknown-name", value, "\(path): no \(kind) is called \(quoted(value))",
            help: names.isEmpty
                ? "describe it in \"\(kind)s\"" : help(for: text, in: names, called: "there are"))
        return nil
    }
}

package enum ValueLimits {
    package static let problems = 100
    /// The most characters of a name.
    static let nameLength = 64
}
