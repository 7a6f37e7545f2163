package import Pintle

/// The caller's answer to a ``PeerChain``.
package enum HandshakeVerdict: Hashable, Sendable {
    case accept
    /// Refuses the chain and ends the handshake. The server, or an interceptor's log, sees this alert.
    case reject(TLSAlert)
    /// Ends the handshake, although the chain was not refused.
    case abort(HandshakeFault)
}

extension TrustDecision {
    /// The verdict with the most specific alert (RFC 8446 section 6.2), which the log of a server or an interceptor
    /// shows.
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
