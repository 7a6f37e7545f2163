internal import Pintle

/// The first bytes of a connection without TLS.
enum ForeignProtocol {
    /// The protocols whose clients speak first, by their first bytes.
    private static let beginnings: [(bytes: [UInt8], name: String)] = [
        (Array("SSH-".utf8), "SSH"), (Array("AMQP".utf8), "AMQP"), (Array("<?xml".utf8), "XMPP"),
        (Array("<stream".utf8), "XMPP"),
        // A PostgreSQL client asks for TLS with the length 8 and the code 80877103.
        ([0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F], "PostgreSQL"),
    ]

    /// The most bytes that are shown of an unknown protocol, because the bytes may be secret.
    private static let shownCount = 4

    /// The start of HTTP/2 (RFC 9113 section 3.4).
    private static let http2 = Array("PRI * HTTP/2.0".utf8)

    /// Returns `true` if the bytes begin an HTTP/1.1 request (RFC 9112 section 3), or one that servers take for it.
    static func isHTTP(_ bytes: [UInt8]) -> Bool {
        guard !isHTTP2(bytes), !hasKnownBeginning(bytes) else { return false }
        let (method, rest) = parts(bytes)
        guard !method.isEmpty, rest.first == UInt8(ascii: " ") else { return false }
        let isUsual = 3...16 ~= method.count && method.allSatisfy { 0x41...0x5A ~= $0 || $0 == UInt8(ascii: "-") }
        return isUsual || rest.prefix { $0 != 0x0A }.contains(sequence: Array(" HTTP/1.".utf8))
    }

    static func isHTTP2(_ bytes: [UInt8]) -> Bool { bytes.starts(with: http2) }

    private static func hasKnownBeginning(_ bytes: [UInt8]) -> Bool {
        beginnings.contains { bytes.starts(with: $0.bytes) }
    }

    /// Returns `true` if more bytes may still tell which protocol this is. A client may write its first line in pieces.
    static func isUndecided(_ bytes: [UInt8]) -> Bool {
        if lacksWord(bytes) { return true }
        let (method, rest) = parts(bytes)
        return bytes.count < lineLimit && !isHTTP(bytes) && !isHTTP2(bytes) && !hasKnownBeginning(bytes)
            && !method.isEmpty && rest.first == UInt8(ascii: " ") && !rest.contains(0x0A)
    }

    /// Returns `true` if the bytes end within the first word, so that they tell nothing.
    static func lacksWord(_ bytes: [UInt8]) -> Bool {
        let isPrefix = ([http2] + beginnings.map(\.bytes)).contains { $0.count > bytes.count && $0.starts(with: bytes) }
        let (method, rest) = parts(bytes)
        return isPrefix
            || bytes.count < lineLimit && rest.isEmpty && method.count <= methodLimit && !hasKnownBeginning(bytes)
    }

    private static let methodLimit = 64
    private static let lineLimit = 4_096

    /// Returns the first token (RFC 9110 section 5.6.2), and what follows. Servers skip line breaks before a request
    /// (RFC 9112 section 2.2).
    private static func parts(_ bytes: [UInt8]) -> (method: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        let line = bytes.drop { $0 == 0x0D || $0 == 0x0A }
        let method = line.prefix {
            0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || "!#$%&'*+-.^_`|~".utf8.contains($0)
        }
        return (method, line[method.endIndex...])
    }

    /// Returns the name of a protocol, or the first bytes in hexadecimal.
    static func name(_ bytes: [UInt8]) -> String {
        if let known = beginnings.first(where: { bytes.starts(with: $0.bytes) }) { return known.name }
        // The fixed header of MQTT's CONNECT, and the name of the protocol behind its length.
        if bytes.first == 0x10, bytes.prefix(16).contains(sequence: Array("MQTT".utf8)) { return "MQTT" }
        return "bytes \(Hex.encode(bytes.prefix(shownCount)))"
    }
}

extension Collection where Element: Equatable {
    fileprivate func contains(sequence: [Element]) -> Bool {
        var rest = self[...]
        while rest.count >= sequence.count {
            if rest.starts(with: sequence) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
