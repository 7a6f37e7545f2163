#if NIO
internal import NIOSSL
internal import Pintle

extension PathFailure {
    /// Creates the failure of a handshake that BoringSSL ended because of the server's certificates, before it asked
    /// for a verdict; `nil` for any other error.
    ///
    /// BoringSSL's reasons are only available as text.
    init?(handshake error: any Error) {
        guard case NIOSSLError.handshakeFailed(.sslError(let errors)) = error else { return nil }
        for text in errors.map(\.description) {
            // Such as ["1000007d", "SSL routines", "OPENSSL_internal", "CERTIFICATE_VERIFY_FAILED at ...", "393"].
            // iOS 15 has no `contains` for a text, except in Foundation.
            let parts = text.split(separator: ":").dropFirst()
            for (reason, code, meaning) in Self.reasons where parts.contains(where: { $0.hasPrefix("\(reason) ") }) {
                self.init(code, text: "\(meaning) (BoringSSL: \(reason))")
                return
            }
        }
        return nil
    }

    private static let reasons: [(reason: String, code: Code, meaning: String)] = [
        // Without a verdict: a certificate above the leaf cannot be parsed, so NIOSSL does not ask.
        ("CERTIFICATE_VERIFY_FAILED", .malformedCertificate, "a certificate cannot be read"),
        ("CANNOT_PARSE_LEAF_CERT", .malformedCertificate, "the leaf cannot be read"),
        ("CERT_LENGTH_MISMATCH", .malformedCertificate, "the length of a certificate is wrong"),
        ("UNKNOWN_CERTIFICATE_TYPE", .malformedCertificate, "the leaf's key has an unknown type"),
        ("WRONG_CERTIFICATE_TYPE", .malformedCertificate, "the leaf's key does not fit the cipher suite"),
        ("ECC_CERT_NOT_FOR_SIGNING", .unsuitablePurpose, "the leaf's key must not sign"),
        ("KEY_USAGE_BIT_INCORRECT", .unsuitablePurpose, "the leaf's key must not be used like this"),
        ("BAD_ECC_CERT", .weakKey, "the leaf's key is on a curve that is not accepted"),
        ("EXCESSIVE_MESSAGE_SIZE", .limitsExceeded, "the certificates are too large"),
        ("PEER_DID_NOT_RETURN_A_CERTIFICATE", .emptyChain, "the server sent no certificate"),
    ]
}
#endif
