package import Pintle

/// The caller's answer to a ``PeerChain``.
package enum HandshakeVerdict: Hashable, Sendable {
    case accept
    /// The handshake ends here, and the server (and an interceptor's log) reads this alert.
    case reject(TLSAlert)
    /// The handshake ends here although the chain was not refused.
    case abort(HandshakeFault)
}

extension TrustDecision {
    /// The verdict with the alert that says most (RFC 8446 section 6.2): the log of a server or an interceptor shows it.
    package var handshakeVerdict: HandshakeVerdict {
        guard case .rejected(let rejection) = self else { return .accept }
        switch rejection.pathFailure?.code {
        case .untrustedRoot, .selfSigned: return .reject(.unknownCA)
        case .expired: return .reject(.certificateExpired)
        case .unsuitablePurpose: return .reject(.unsupportedCertificate)
        case .invalidSignature: return .reject(.decryptError)
        case nil: return .reject(.certificateUnknown)
        default: return .reject(.badCertificate)
        }
    }
}
