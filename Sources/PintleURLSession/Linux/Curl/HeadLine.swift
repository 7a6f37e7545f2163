/// A line of a response's head, as libcurl hands it over: with its end, and in HTTP/1.1's form whatever the
/// version (RFC 9112 sections 4 and 5).
enum HeadLine: Equatable {
    case status(version: String, code: Int)
    case field(name: String, value: String)
    /// The empty line after the last field.
    case end

    /// `nil` for what is none of them.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let line = Self.trimmed(bytes[...])
        if line.isEmpty {
            self = .end
        } else if line.starts(with: "HTTP/".utf8) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard words.count > 1, let code = Int(Self.text(words[1])) else { return nil }
            self = .status(version: Self.text(words[0]), code: code)
        } else {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            self = .field(name: Self.text(line[..<colon]), value: Self.text(Self.trimmed(line[(colon + 1)...])))
        }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
