internal import COpenSSL
internal import Pintle

/// Counts the certificates in a Certificate message before OpenSSL parses them.
///
/// OpenSSL 3 takes some 0.1 ms for a certificate, and parses the whole message before it asks for a
/// verdict: 10,000 small ones, well below 4 MiB, keep a processor busy for a second. The message callback
/// is the only place in between, and it can only look. So it makes the message unreadable where a limit is
/// exceeded, in the buffer that is about to be parsed and belongs to this handshake: OpenSSL then ends the
/// handshake itself, with an alert. Should a later version parse a copy, nothing is lost but time: the
/// verdict has been given, and a slot that has one is not asked again.
package enum CertificateMessageGuard {
    private static let certificateMessage: UInt8 = 11

    static func install(on context: OpaquePointer) {
        SSL_CTX_set_msg_callback(context) { isSent, version, contentType, bytes, count, ssl, _ in
            guard let ssl else { return }
            let seen = UnsafeRawBufferPointer(start: bytes, count: count)
            guard isSent == 0, let excess = CertificateMessageGuard.spoil(seen, contentType, version) else { return }
            VerdictSlot.attached(to: ssl)?.refuseUnread(excess)
        }
    }

    /// Makes a received message unreadable if it carries too much: what that was, in words.
    ///
    /// - Parameters:
    ///   - message: as OpenSSL's message callback has it, writable although it does not look so.
    ///   - version: of the protocol, as the callback has it.
    package static func spoil(_ message: UnsafeRawBufferPointer, _ contentType: CInt, _ version: CInt) -> String? {
        guard contentType == SSL3_RT_HANDSHAKE, message.first == certificateMessage,
            let excess = excess(in: message, isTLS13: version == TLS1_3_VERSION)
        else { return nil }
        // The length of the list, which no list has.
        let lengthOffset = version == TLS1_3_VERSION ? 5 : 4
        let buffer = UnsafeMutableRawBufferPointer(mutating: message)
        for offset in lengthOffset..<lengthOffset + 3 { buffer[offset] = 0xFF }
        return excess
    }

    /// What is too much, in words; nil where nothing is, and for a message that is not well formed, which
    /// is OpenSSL's to refuse. RFC 5246 section 7.4.2, RFC 8446 section 4.4.2.
    static func excess(in message: UnsafeRawBufferPointer, isTLS13: Bool) -> String? {
        let limits = PresentedChain.Limits()
        // Message header; in TLS 1.3 the request context, empty for servers; the length of the list.
        var rest = message.dropFirst(isTLS13 ? 5 : 4)
        guard number(&rest, bytes: 3) != nil else { return nil }
        var (count, total) = (0, 0)
        while !rest.isEmpty {
            guard let size = number(&rest, bytes: 3), size <= rest.count else { return nil }
            rest = rest.dropFirst(size)
            if isTLS13 {
                guard let extensions = number(&rest, bytes: 2), extensions <= rest.count else { return nil }
                rest = rest.dropFirst(extensions)
            }
            count += 1
            total += size
            if count > limits.count { return "more than \(limits.count) certificates" }
            if size > Certificate.maximumSize {
                return "a certificate of \(size) bytes, more than \(Certificate.maximumSize)"
            }
            if total > limits.totalSize { return "more than \(limits.totalSize) bytes of certificates" }
        }
        return nil
    }

    private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>, bytes count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
