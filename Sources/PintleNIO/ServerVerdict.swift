#if NIO
internal import NIOSSL
internal import Pintle

/// The verdict on the server of one channel.
enum ServerVerdict: Sendable {
    case accepted(TrustReceipt)
    case refused(TrustRejection)
    /// The policy was not asked, so the handshake fails.
    case unavailable(PinnedTLSError)

    /// The answer for NIOSSL, with the validated path if BoringSSL can read it.
    var result: NIOSSLVerificationResultWithMetadata {
        guard case .accepted(let receipt) = self else { return .failed }
        let path = try? receipt.path.certificates.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        guard let path, !path.isEmpty else { return .certificateVerified(VerificationMetadata(nil)) }
        return .certificateVerified(VerificationMetadata(ValidatedCertificateChain(path)))
    }
}
#endif
