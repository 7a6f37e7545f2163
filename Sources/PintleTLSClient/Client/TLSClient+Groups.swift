internal import COpenSSL

extension TLSClient {
    /// A Boolean value that indicates whether a handshake of this process offers a hybrid group
    /// (``KeyExchangeGroup/isHybrid``).
    ///
    /// OpenSSL offers one since version 3.5, unless its configuration file sets other groups. The answer therefore
    /// comes from a ClientHello, which is written to memory and never sent. `false` if OpenSSL has no memory.
    package static let offersHybridGroup =
        clientHello().map { hello in
            supportedGroups(ofClientHello: hello).contains(where: hybrids.contains)
        } ?? false

    /// The hybrid groups by their numbers in IANA's registry "TLS Supported Groups".
    private static let hybrids: ClosedRange<UInt16> = 4_587...4_590

    /// Returns the record with a client's first message.
    private static func clientHello() -> [UInt8]? {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return nil }
        defer { SSL_CTX_free(context) }
        guard let ssl = SSL_new(context) else { return nil }
        // Frees both buffers too.
        defer { SSL_free(ssl) }
        guard let incoming = BIO_new(BIO_s_mem()) else { return nil }
        guard let outgoing = BIO_new(BIO_s_mem()) else {
            BIO_free(incoming)
            return nil
        }
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        // Fails, because there is no answer to read.
        SSL_do_handshake(ssl)
        ERR_clear_error()
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(outgoing, &bytes, CInt(bytes.count))
        return count > 0 ? Array(bytes.prefix(Int(count))) : nil
    }

    /// Returns the numbers in the extension supported_groups (RFC 8446 sections 4.1.2 and 4.2.7); empty without one.
    static func supportedGroups(ofClientHello record: [UInt8]) -> [UInt16] {
        // The headers of the record and of the message, the version and the random bytes.
        var rest = record.dropFirst(5 + 4 + 2 + 32)
        func number(_ count: Int, _ bytes: inout ArraySlice<UInt8>) -> Int {
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        }
        func vector(_ lengthBytes: Int, _ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let count = number(lengthBytes, &bytes)
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count)
        }
        // The session's identifier, the cipher suites and the compression methods.
        for lengthBytes in [1, 2, 1] { _ = vector(lengthBytes, &rest) }
        var extensions = vector(2, &rest)
        while !extensions.isEmpty {
            let type = number(2, &extensions)
            var content = vector(2, &extensions)
            guard type == TLSEXT_TYPE_supported_groups else { continue }
            var list = vector(2, &content)
            var groups: [UInt16] = []
            while !list.isEmpty { groups.append(UInt16(truncatingIfNeeded: number(2, &list))) }
            return groups
        }
        return []
    }
}
