internal import Pintle

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A JSON writer that emits keys in the order of the calls, so that they appear where readers expect them.
///
/// ```swift
/// var json = JSONWriter(.pretty)
/// json.object {
///     $0.member("host", "example.com")
///     $0.member("detail", detail)             // nil: the member is absent
///     $0.array("pins") { for pin in pins { $0.value(pin) } }
/// }
/// print(json.text)
/// ```
/// The output is UTF-8. In addition to what RFC 8259 requires, the writer escapes characters that can control a
/// terminal (DEL, C1 controls, bidirectional overrides, line separators).
package struct JSONWriter: Sendable {
    package enum Style: Sendable {
        /// Indented by two blanks a level, with one member or element a line.
        case pretty
        /// On one line without blanks, as NDJSON requires.
        case compact
    }

    package private(set) var bytes: [UInt8] = []
    private let style: Style
    private var depth = 0
    private var isFirst = true
    private var followsKey = false

    package init(_ style: Style) {
        self.style = style
    }

    /// Returns an indented document with one object.
    package static func document(_ members: (inout JSONWriter) throws -> Void) rethrows -> JSONWriter {
        var json = JSONWriter(.pretty)
        try json.object(members)
        return json
    }

    /// Returns an indented document with an array of objects. The closure writes the members of each.
    package static func document<Elements: Sequence>(
        listing elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
    ) rethrows -> JSONWriter {
        var json = JSONWriter(.pretty)
        try json.array { json in
            for element in elements { try json.object { try write(&$0, element) } }
        }
        return json
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Values

    package mutating func value(_ value: some JSONRepresentable) { value.write(to: &self) }

    /// Writes a value that is already JSON, unchanged.
    package mutating func value(verbatim json: ArraySlice<UInt8>) {
        startValue()
        bytes.append(contentsOf: json)
    }

    package mutating func null() {
        startValue()
        append("null")
    }

    package mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        try container("{", "}", body)
    }

    package mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        try container("[", "]", body)
    }

    // MARK: Members; a `nil` value writes nothing

    /// Writes a key. Exactly one value must follow.
    package mutating func key(_ key: String) {
        startValue()
        appendString(key)
        append(style == .pretty ? ": " : ":")
        followsKey = true
    }

    package mutating func member(_ key: String, _ value: (some JSONRepresentable)?) {
        guard let value else { return }
        self.key(key)
        value.write(to: &self)
    }

    package mutating func object(_ key: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        try object(body)
    }

    package mutating func array(_ key: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        try array(body)
    }

    /// Writes an array. The closure writes one value for each element.
    package mutating func array<Elements: Sequence>(
        _ key: String, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
    ) rethrows {
        try array(key) { json in
            for element in elements { try write(&json, element) }
        }
    }

    /// Writes an array of objects. The closure writes the members of each.
    package mutating func objects<Elements: Sequence>(
        _ key: String, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
    ) rethrows {
        try array(key, elements) { json, element in try json.object { try write(&$0, element) } }
    }

    // MARK: Text

    private mutating func container(
        _ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) throws -> Void
    ) rethrows {
        startValue()
        append(open)
        depth += 1
        isFirst = true
        try body(&self)
        depth -= 1
        // `isFirst` is still true if the body wrote nothing, so an empty container stays on one line.
        if !isFirst { startLine() }
        isFirst = false
        append(close)
    }

    fileprivate mutating func startValue() {
        if followsKey {
            followsKey = false
            return
        }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        if depth > 0 { startLine() }
        isFirst = false
    }

    private mutating func startLine() {
        guard style == .pretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    fileprivate mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    fileprivate mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

/// A Swift value that is a value in JSON.
package protocol JSONRepresentable: Sendable {
    func write(to json: inout JSONWriter)
}

extension String: JSONRepresentable {
    package func write(to json: inout JSONWriter) {
        json.startValue()
        json.appendString(self)
    }
}

extension Int64: JSONRepresentable {
    package func write(to json: inout JSONWriter) {
        json.startValue()
        json.append(String(self))
    }
}

extension Int: JSONRepresentable {
    package func write(to json: inout JSONWriter) { json.value(Int64(self)) }
}

extension UInt16: JSONRepresentable {
    package func write(to json: inout JSONWriter) { json.value(Int64(self)) }
}

extension Bool: JSONRepresentable {
    package func write(to json: inout JSONWriter) {
        json.startValue()
        json.append(self ? "true" : "false")
    }
}

extension Date: JSONRepresentable {
    /// Writes an RFC 3339 date in UTC, with whole seconds.
    package func write(to json: inout JSONWriter) { json.value(RFC3339.string(from: self)) }
}

extension [String]: JSONRepresentable {
    package func write(to json: inout JSONWriter) { json.array { for text in self { $0.value(text) } } }
}

extension JSONWriter {
    /// Returns `text` as a JSON string with quotes. Messages also use it to quote text from a file.
    package static func quoted(_ text: String) -> String {
        var writer = JSONWriter(.compact)
        writer.value(text)
        return writer.text
    }

    fileprivate mutating func appendString(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case _ where Self.isUnsafeToShow(scalar):
                // All unsafe characters lie in the Basic Multilingual Plane, so each is one UTF-16 unit.
                let unit = UInt16(truncatingIfNeeded: scalar.value)
                append("\\u")
                append(Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]))
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Returns whether a character changes how the text around it is displayed: controls, line separators,
    /// bidirectional and other invisible format characters.
    static func isUnsafeToShow(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }
}
