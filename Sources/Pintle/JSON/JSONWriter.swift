/// Writes JSON in the order it is told, so that a document's keys stand where its readers expect them.
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
/// Bytes are UTF-8. Beside what RFC 8259 asks for, characters that rewrite a terminal (DEL, C1 controls, bidirectional
/// overrides, line separators) are written as escapes.
package struct JSONWriter: Sendable {
    package enum Style: Sendable {
        /// Two blanks a level, a member or an element a line.
        case pretty
        /// One line without blanks, as NDJSON needs it.
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

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Values

    package mutating func value(_ text: String) {
        startValue()
        appendString(text)
    }

    package mutating func value(_ number: Int64) {
        startValue()
        append(String(number))
    }

    package mutating func value(_ number: Int) { value(Int64(number)) }

    package mutating func value(_ boolean: Bool) {
        startValue()
        append(boolean ? "true" : "false")
    }

    /// A value that is JSON already, as a reader has seen it.
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

    /// Writes a key; one value must follow.
    package mutating func key(_ key: String) {
        startValue()
        appendString(key)
        append(style == .pretty ? ": " : ":")
        followsKey = true
    }

    package mutating func member(_ key: String, _ text: String?) {
        guard let text else { return }
        self.key(key)
        value(text)
    }

    package mutating func member(_ key: String, _ number: Int64?) {
        guard let number else { return }
        self.key(key)
        value(number)
    }

    package mutating func member(_ key: String, _ number: Int?) { member(key, number.map { Int64($0) }) }

    package mutating func member(_ key: String, _ boolean: Bool?) {
        guard let boolean else { return }
        self.key(key)
        value(boolean)
    }

    package mutating func member(_ key: String, _ texts: [String]?) {
        guard let texts else { return }
        array(key) { for text in texts { $0.value(text) } }
    }

    package mutating func object(_ key: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        try object(body)
    }

    package mutating func array(_ key: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        try array(body)
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
        // Still true where the body wrote nothing: an empty container stays on its line.
        if !isFirst { startLine() }
        isFirst = false
        append(close)
    }

    private mutating func startValue() {
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

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

extension JSONWriter {
    /// `text` as a JSON string, quotes included; also how messages quote what a file says.
    package static func quoted(_ text: String) -> String {
        var writer = JSONWriter(.compact)
        writer.value(text)
        return writer.text
    }

    private mutating func appendString(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case _ where Self.isUnsafeToShow(scalar):
                // None of them lies beyond the basic plane: one unit each.
                let unit = UInt16(truncatingIfNeeded: scalar.value)
                append("\\u")
                append(Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]))
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a character changes how the text around it is shown: controls, line separators, bidirectional marks.
    static func isUnsafeToShow(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }
}
