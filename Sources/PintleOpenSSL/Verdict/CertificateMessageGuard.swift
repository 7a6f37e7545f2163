internal import COpenSSL
package import Pintle

/// Looks at a Certificate message before OpenSSL parses it.
///
/// OpenSSL parses the whole message before it asks for a verdict, and parsing can be the attack: 10,000 small
/// certificates keep a processor busy for a second, and an EC key with explicit parameters (RFC 5480 section 2.1.1)
/// takes up to half a second each. OpenSSL's message callback is the only place in between, and its result is ignored.
/// So the guard changes the message in OpenSSL's buffer, which belongs to this handshake and has been hashed into the
/// transcript by then:
///
/// - Beyond a limit, where the leaf has such a key, or where a certificate is not DER up to its key, so that the guard
///   cannot say what OpenSSL would decode, it makes the message unreadable. OpenSSL then ends the
///   handshake with an alert.
/// - Above the leaf it changes the algorithm of such a key to one that does not exist, so that OpenSSL does not decode
///   the key. The caller passes the original bytes on to the core, which drops the certificate.
///
/// If a later version of OpenSSL parses a copy, only time is lost: a hook that has a verdict does not ask again.
package enum CertificateMessageGuard {
    /// The guard's changes to a message, and their reason.
    package enum Action {
        /// The message is unreadable now, for this reason.
        case refused(PathFailure)
        /// OpenSSL will not decode the keys of these certificates: their original DER by their position, above 0.
        case hidden([Int: [UInt8]])
    }

    /// Bytes of all certificates of a message. Recorded chains may have 4 MiB (``PresentedChain/Limits``); a live
    /// server makes the client wait, so it gets less. The largest leaf in public test suites has 105 kB, and a message
    /// of 100 kB is OpenSSL's own default limit, so curl refuses more.
    package static let maximumSize = 256 * 1024

    private static let certificateMessage: UInt8 = 11

    /// Inspects a received message, and changes it where OpenSSL must not parse it as it stands.
    ///
    /// - Parameters:
    ///   - message: as OpenSSL's message callback has it, writable although it does not look so.
    ///   - version: of the protocol, as the callback has it.
    /// - Returns: `nil` where nothing was changed.
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
            // Bounded: the reader jumps from header to header as far as the key's algorithm.
            let der = [UInt8](message[range])
            switch KeyAlgorithm(ofCertificate: der) {
            case .decodable: break
            case .unnamedCurve(let identifier) where position > 0:
                hidden[position] = der
                // The last arc of the identifier: no algorithm of this number exists.
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

    /// Announces a list of 16 MiB, which no message holds.
    private static func spoil(_ buffer: UnsafeMutableRawBufferPointer, isTLS13: Bool) {
        let lengthOffset = isTLS13 ? 5 : 4
        guard buffer.count >= lengthOffset + 3 else { return }
        for offset in lengthOffset..<lengthOffset + 3 { buffer[offset] = 0xFF }
    }

    /// Finds the certificates in a message: RFC 5246 section 7.4.2, RFC 8446 section 4.4.2.
    ///
    /// - Returns: those in front of the first byte that is not well formed. OpenSSL parses them before it reaches that
    ///   byte and refuses the message.
    /// - Throws: `limits-exceeded`, with the limit.
    static func certificates(
        in message: UnsafeRawBufferPointer, isTLS13: Bool
    ) throws(PathFailure) -> [Range<Int>] {
        let limits = PresentedChain.Limits()
        // Message header; in TLS 1.3 the request context, empty for servers; the length of the list.
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
            // After the limits: OpenSSL parses a certificate before it misses what should follow.
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
