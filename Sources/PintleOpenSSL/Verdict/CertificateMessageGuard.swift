internal import COpenSSL
package import Pintle

/// Inspects a Certificate message before OpenSSL parses it.
///
/// OpenSSL parses the whole message before it asks for a verdict, so parsing itself can be the attack. 10,000 small
/// certificates keep a processor busy for a second, and each EC key with explicit parameters (RFC 5480 section 2.1.1)
/// takes up to half a second. Only OpenSSL's message callback runs earlier, and OpenSSL ignores its result. So the
/// guard changes the message in OpenSSL's buffer. That is safe: the buffer belongs to this handshake, and OpenSSL has
/// already hashed the message into the transcript.
///
/// - The guard makes the whole message unreadable in three cases: it exceeds a limit, the leaf has such a key, or a
///   certificate is not valid DER up to its key. In the last case the guard cannot know what OpenSSL would decode.
///   OpenSSL then ends the handshake with an alert.
/// - Above the leaf, the guard replaces the algorithm of such a key with one that does not exist, so that OpenSSL does
///   not decode the key. The caller passes the original bytes on to the core, which drops the certificate.
///
/// If a later version of OpenSSL parses a copy of the message, the guard saves no time. It still does no harm, because
/// a hook that has a verdict does not ask again.
package enum CertificateMessageGuard {
    /// The change that the guard made to a message.
    package enum Action {
        /// The guard made the message unreadable for this reason.
        case refused(PathFailure)
        /// The guard hid the keys of these certificates from OpenSSL. The value has their original DER by position,
        /// above 0.
        case hidden([Int: [UInt8]])
    }

    /// The limit for all certificates of a message, in bytes. Recorded chains may have 4 MiB
    /// (``PresentedChain/Limits``); a live server gets less, because it makes the client wait. The largest leaf in
    /// public test suites has 105 kB. OpenSSL's own default limit, which curl uses, is 100 kB for a message.
    package static let maximumSize = 256 * 1024

    private static let certificateMessage: UInt8 = 11

    /// Inspects a received message, and changes it if OpenSSL must not parse it unchanged.
    ///
    /// - Parameters:
    ///   - message: the buffer from OpenSSL's message callback. Its type is read-only, but the memory is writable.
    ///   - contentType: the record's content type, from the callback.
    ///   - version: the protocol version, from the callback.
    /// - Returns: `nil` if nothing was changed.
    package static func inspect(
        _ message: UnsafeRawBufferPointer, _ contentType: CInt, _ version: CInt
    ) -> Action? {
        guard contentType == SSL3_RT_HANDSHAKE, message.first == certificateMessage else { return nil }
        let isTLS13 = version == TLS1_3_VERSION
        let buffer = UnsafeMutableRawBufferPointer(mutating: message)
        let ranges: [Range<Int>]
        do {
            ranges = try certificates(in: message, isTLS13: isTLS13)
        } catch {
            spoil(buffer, isTLS13: isTLS13)
            return .refused(error)
        }
        var hidden: [Int: [UInt8]] = [:]
        for (position, range) in ranges.enumerated() {
            // The time is bounded: the reader skips from header to header, up to the key's algorithm.
            let der = [UInt8](message[range])
            switch KeyAlgorithm(ofCertificate: der) {
            case .decodable: break
            case .unnamedCurve(let identifier) where position > 0:
                hidden[position] = der
                // Changes the last arc of the identifier. No algorithm has the resulting identifier.
                buffer[range.lowerBound + identifier.upperBound - 1] = 0x7F
            case .unnamedCurve:
                spoil(buffer, isTLS13: isTLS13)
                return .refused(PathFailure(.malformedCertificate, depth: 0, text: KeyAlgorithm.unnamedCurveText))
            case .unreadable:
                spoil(buffer, isTLS13: isTLS13)
                return .refused(
                    PathFailure(
                        .malformedCertificate, depth: position, text: "a certificate that is not DER up to its key"))
            }
        }
        return hidden.isEmpty ? nil : .hidden(hidden)
    }

    /// Sets the length of the list to 16 MiB, which no message can hold.
    private static func spoil(_ buffer: UnsafeMutableRawBufferPointer, isTLS13: Bool) {
        let lengthOffset = isTLS13 ? 5 : 4
        guard buffer.count >= lengthOffset + 3 else { return }
        for offset in lengthOffset..<lengthOffset + 3 { buffer[offset] = 0xFF }
    }

    /// Finds the certificates in a message: RFC 5246 section 7.4.2, RFC 8446 section 4.4.2.
    ///
    /// - Returns: the certificates before the first malformed byte. OpenSSL parses these, then refuses the message at
    ///   that byte.
    /// - Throws: `limits-exceeded`, with the limit.
    static func certificates(
        in message: UnsafeRawBufferPointer, isTLS13: Bool
    ) throws(PathFailure) -> [Range<Int>] {
        let limits = PresentedChain.Limits()
        // Skip the message header and, in TLS 1.3, the request context, which is empty for servers. Then the list's
        // length.
        var rest = message.dropFirst(isTLS13 ? 5 : 4)
        var (ranges, total): ([Range<Int>], Int) = ([], 0)
        guard number(&rest, bytes: 3) != nil else { return ranges }
        while !rest.isEmpty {
            guard let size = number(&rest, bytes: 3), size <= rest.count else { return ranges }
            ranges.append(rest.startIndex..<rest.startIndex + size)
            rest = rest.dropFirst(size)
            total += size
            if ranges.count > limits.count {
                throw PathFailure(.limitsExceeded, text: "more than \(limits.count) certificates")
            }
            if size > Certificate.maximumSize {
                throw PathFailure(
                    .limitsExceeded, depth: ranges.count - 1,
                    text: "a certificate of \(size) bytes, more than \(Certificate.maximumSize)")
            }
            if total > maximumSize {
                throw PathFailure(.limitsExceeded, text: "more than \(maximumSize) bytes of certificates")
            }
            // After the limits, because OpenSSL parses a certificate before it notices that its extensions are missing.
            if isTLS13 {
                guard let extensions = number(&rest, bytes: 2), extensions <= rest.count else { return ranges }
                rest = rest.dropFirst(extensions)
            }
        }
        return ranges
    }

    private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>, bytes count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
