internal import COpenSSL

/// Restricts an `SSL_CTX`, also libcurl's, so that only a verdict on certificates can accept a connection.
package enum ContextRestriction {
    /// The largest Certificate message that OpenSSL reads, in bytes: the 4 MiB of a recorded chain, plus the framing.
    /// ``CertificateMessageGuard`` accepts much less. But it can report which limit was exceeded only if OpenSSL reads
    /// the message. OpenSSL never allocates more than this, whatever length a server announces.
    static let certificateListLimit = 4 * 1024 * 1024 + 64 * 1024

    /// The bytes that a server may send until the handshake ends: the largest chain, and the same again for everything
    /// else.
    package static let handshakeAllowance = 2 * certificateListLimit

    /// Turns off everything that could bypass a verdict on certificates: resumption, renegotiation, authentication
    /// after the handshake, and cipher suites without a certificate. Returns `false` if OpenSSL has no memory or still
    /// offers such a suite.
    static func apply(to context: OpaquePointer) -> Bool {
        SSL_CTX_set_options(
            context,
            pintle_SSL_OP_NO_TICKET | pintle_SSL_OP_NO_RENEGOTIATION | pintle_SSL_OP_NO_COMPRESSION
                | pintle_SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
        )
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, certificateListLimit, nil)
        // libcurl switches it on. A server could then ask for the client's certificate long after the verdict.
        SSL_CTX_set_post_handshake_auth(context, 0)
        SSL_CTX_set_psk_client_callback(context, nil)
        SSL_CTX_set_psk_use_session_callback(context, nil)
        leaveOutFiniteFieldSuites(context)
        if offersOnlyCertificates(context) { return true }
        // If a suite is left over, the system's configuration has added suites without encryption to TLS 1.3's separate
        // list.
        return SSL_CTX_set_cipher_list(context, "DEFAULT:!aNULL:!eNULL:!PSK:!SRP") == 1
            && offersOnlyCertificates(context)
    }

    /// Disables suites with a finite-field Diffie-Hellman exchange (RFC 5246 section 8.1.2). The server chooses the
    /// group: with a modulus of 10,000 bits, one call of OpenSSL blocks its thread for a second.
    ///
    /// A security callback is cheaper than another list of suites, which OpenSSL would parse for each context.
    private static func leaveOutFiniteFieldSuites(_ context: OpaquePointer) {
        guard libraryRules != nil else { return }
        SSL_CTX_set_security_callback(context) { ssl, context, operation, bits, identifier, other, extra in
            if operation >> 16 == ContextRestriction.aboutSuite, let other,
                SSL_CIPHER_get_kx_nid(OpaquePointer(other)) == NID_kx_dhe
            {
                return 0
            }
            return ContextRestriction.libraryRules?(ssl, context, operation, bits, identifier, other, extra) ?? 0
        }
    }

    /// `SSL_SECOP_OTHER_CIPHER`, in the upper half of an operation: OpenSSL asks about a suite.
    private static let aboutSuite: CInt = 1
    /// OpenSSL's default security callback, which answers by the security level of the context.
    private static let libraryRules = {
        let context = SSL_CTX_new(TLS_client_method())
        defer { SSL_CTX_free(context) }
        return context.flatMap { SSL_CTX_get_security_callback($0) }
    }()

    /// Returns whether every suite that can be negotiated authenticates the server and encrypts. Suites with a shared
    /// key or a password (SRP) may remain in OpenSSL's list, but a client without a key or password does not offer
    /// them.
    private static func offersOnlyCertificates(_ context: OpaquePointer) -> Bool {
        guard let suites = SSL_CTX_get_ciphers(context) else { return false }
        return (0..<OPENSSL_sk_num(suites)).allSatisfy { index in
            guard let suite = OPENSSL_sk_value(suites, index).map({ OpaquePointer($0) }) else { return false }
            return SSL_CIPHER_get_auth_nid(suite) != NID_auth_null && SSL_CIPHER_get_cipher_nid(suite) != NID_undef
        }
    }
}
