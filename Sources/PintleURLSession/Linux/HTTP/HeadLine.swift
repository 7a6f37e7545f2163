/// A line of a response's head. libcurl delivers it with its line end, and always in HTTP/1.1's form (RFC 9112 sections
/// 4 and 5).
enum HeadLine: Equatable {
    /// A status line. The code has three digits.
    case status(version: String, code: Int)
    /// A field. The name is a token, and the value holds no line break.
    case field(name: String, value: FieldValue)
    /// An obsolete folded line: it begins with a blank and continues the last field. The value holds no line break.
    case continuation(value: FieldValue)
    /// The empty line after the last field.
    case end

    /// Returns `nil` for any other line, such as a field whose name is not a token. The caller skips it.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while let last = rest.last, last == 0x0A || last == 0x0D { rest.removeLast() }
        // A buffer is read several times faster than a slice.
        let line = UnsafeRawBufferPointer(rebasing: rest)
        if line.isEmpty {
            self = .end
        } else if line.starts(with: "HTTP/".utf8) {
            func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 }
            let version = line.prefix { !isBlank($0) }
            let digits = line[version.endIndex...].drop(while: isBlank).prefix { !isBlank($0) }
            guard digits.count == 3, digits.allSatisfy({ 0x30...0x39 ~= $0 }), let code = Int(Self.text(digits)),
                code >= 100
            else { return nil }
            self = .status(version: Self.text(version), code: code)
        } else if line.first == 0x20 || line.first == 0x09 {
            self = .continuation(value: Self.value(line[...]))
        } else {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            guard name.allSatisfy(HeaderToken.isByte) else { return nil }
            self = .field(name: String(decoding: name, as: UTF8.self), value: Self.value(line[(colon + 1)...]))
        }
    }

    private static func value(_ bytes: Slice<UnsafeRawBufferPointer>) -> FieldValue {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || endsLines(byte) }
        // Other programs may end a line at these bytes, so each becomes a blank (RFC 9110 section 5.5).
        func endsLines(_ byte: UInt8) -> Bool { byte == 0x00 || byte == 0x0A || byte == 0x0D }
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        let value = UnsafeRawBufferPointer(rebasing: rest)
        guard value.contains(where: endsLines) else { return FieldValue(value) }
        return FieldValue(value.map { endsLines($0) ? 0x20 : $0 })
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
    }
}

/// The value of a field. Bytes that are no UTF-8 are read as Latin-1, so that none is lost (RFC 9110 section 5.5).
struct FieldValue: Equatable, Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String
    /// A Boolean value that indicates whether the text was read as Latin-1.
    private(set) var isLatin1 = false

    init(_ bytes: some Collection<UInt8>) {
        // Most values are ASCII, for which `String(validating:)` takes three times as many instructions.
        if bytes.allSatisfy({ $0 < 0x80 }) {
            text = String(decoding: bytes, as: UTF8.self)
        } else if let text = String(validating: bytes, as: UTF8.self) {
            self.text = text
        } else {
            (text, isLatin1) = (Self.latin1(bytes), true)
        }
    }

    init(_ text: String) { self.text = text }
    init(stringLiteral text: String) { self.text = text }

    /// Appends the value of a folded line, with a blank in place of the line break.
    mutating func append(_ other: FieldValue) {
        let isMixed = isLatin1 != other.isLatin1
        let (first, second) = (isMixed ? asLatin1 : text, isMixed ? other.asLatin1 : other.text)
        text = first.isEmpty ? second : "\(first) \(second)"
        isLatin1 = isLatin1 || other.isLatin1
    }

    /// The bytes as they came, as Latin-1.
    private var asLatin1: String { isLatin1 ? text : Self.latin1(text.utf8) }

    private static func latin1(_ bytes: some Sequence<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return String(scalars)
    }
}

extension String {
    /// The bytes that text was read from as Latin-1. Text with other characters has its bytes in UTF-8.
    var latin1Bytes: [UInt8] {
        let bytes = unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        return bytes.count == unicodeScalars.count ? bytes : Array(utf8)
    }
}

/// The grammar of field names, methods and schemes (RFC 9110 section 5.6.2).
enum HeaderToken {
    static func isByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
