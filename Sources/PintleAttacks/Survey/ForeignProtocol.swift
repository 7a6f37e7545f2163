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

    /// Returns `true` if the bytes begin an HTTP/1.1 request (RFC 9112 section 3).
    static func isHTTP(_ bytes: [UInt8]) -> Bool {
        let method = method(bytes)
        return (3...methodLimit).contains(method.count) && bytes.dropFirst(method.count).first == UInt8(ascii: " ")
            && !isHTTP2(bytes)
    }

    static func isHTTP2(_ bytes: [UInt8]) -> Bool { bytes.starts(with: http2) }

    /// Returns `true` if more bytes may still tell which protocol this is. A client may write its first line in pieces.
    static func isUndecided(_ bytes: [UInt8]) -> Bool {
        let isMethod = method(bytes).count == bytes.count && bytes.count <= methodLimit
        return isMethod
            || ([http2] + beginnings.map(\.bytes)).contains { $0.count > bytes.count && $0.starts(with: bytes) }
    }

    private static let methodLimit = 16

    private static func method(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.prefix { 0x41...0x5A ~= $0 || $0 == UInt8(ascii: "-") }
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
