import Glibc

/// The plaintext messages of a TLS 1.2 handshake, built by hand (RFC 5246 section 7.4). With them a test can send
/// messages that no library sends.
enum FakeTLS {
    static let serverHello = serverHello(version: [3, 3])

    /// Returns a ServerHello with ECDHE_RSA_WITH_AES_128_GCM_SHA256 and an empty renegotiation_info.
    static func serverHello(version: [UInt8]) -> [UInt8] {
        let suite: [UInt8] = version == [3, 3] ? [0xC0, 0x2F] : [0xC0, 0x13]
        return message(
            2, version + Array(repeating: 0x72, count: 32) + [0] + suite + [0, 0, 5, 0xFF, 1, 0, 1, 0])
    }

    static func certificateMessage(_ certificates: [[UInt8]]) -> [UInt8] {
        message(11, sized(certificates.flatMap(sized)))
    }

    static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] { [type] + sized(body) }

    static func records(_ messages: [UInt8]) -> [UInt8] {
        var records: [UInt8] = []
        var rest = messages[...]
        while !rest.isEmpty {
            let piece = rest.prefix(16_384)
            records += [22, 3, 3, UInt8(piece.count >> 8), UInt8(piece.count & 0xFF)]
            records += piece
            rest = rest.dropFirst(piece.count)
        }
        return records
    }

    /// Starts a server that answers a ClientHello with a ServerHello and `messages`, then waits until the client
    /// closes.
    static func server(_ messages: [UInt8]) throws -> ScriptedPeer {
        try ScriptedPeer { peer in
            _ = peer.read()
            peer.write(records(serverHello + messages))
            while !peer.read().isEmpty {}
        }
    }

    /// A HelloRequest in its own record.
    static let helloRequest = records(message(0, []))

    static func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

    static func sized(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 16), UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)] + bytes
    }
}
