/// A line of a response's head. libcurl delivers it with its line end, and always in HTTP/1.1's form (RFC 9112 sections
/// 4 and 5).
enum HeadLine: Equatable {
    /// A status line. The code has three digits.
    case status(version: String, code: Int)
    /// A field. The name is a token, and the value holds no line break.
    case field(name: String, value: String)
    /// An obsolete folded line: it begins with a blank and continues the last field. The value holds no line break.
    case continuation(value: String)
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

    private static func value(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || endsLines(byte) }
        // Other programs may end a line at these bytes, so each becomes a blank (RFC 9110 section 5.5).
        func endsLines(_ byte: UInt8) -> Bool { byte == 0x00 || byte == 0x0A || byte == 0x0D }
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        let value = UnsafeRawBufferPointer(rebasing: rest)
        guard value.contains(where: endsLines) else { return String(decoding: value, as: UTF8.self) }
        return String(decoding: value.map { endsLines($0) ? 0x20 : $0 }, as: UTF8.self)
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
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
