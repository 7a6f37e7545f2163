internal import COpenSSL
package import Pintle

/// The caller's answer to a ``PeerChain``.
package enum HandshakeVerdict: Hashable, Sendable {
    case accept
    /// Refuses the chain and ends the handshake. The server, or an interceptor's log, sees this alert.
    case reject(TLSAlert)
    /// Ends the handshake, although the chain was not refused.
    case abort(AbortReason)

    /// The reason that a handshake ends without a verdict on the certificates. The server receives the alert
    /// `internal_error`.
    package enum AbortReason: Hashable, Sendable, CaseIterable {
        /// OpenSSL provided no chain that begins with the leaf.
        case noChain
        /// The name in SNI is not the name of the judged server.
        case otherName
        /// OpenSSL asked about a second chain on an accepted connection.
        case askedTwice
        /// The policy was replaced before the server showed its certificates.
        case superseded
        /// OpenSSL had no memory for the data that the verdict needs.
        case outOfMemory

        /// A clause for an error message.
        package var text: String {
            switch self {
            case .noChain: "its chain cannot be read"
            case .otherName: "the name in SNI is another one"
            case .askedTwice: "it presented a second chain"
            case .superseded: "the policy changed meanwhile"
            case .outOfMemory: "OpenSSL has no memory for the verdict"
            }
        }

        /// The error code that OpenSSL translates to the alert (`ssl_x509err2alert`).
        var verificationError: CInt {
            switch self {
            case .noChain, .otherName, .askedTwice, .superseded: X509_V_ERR_UNSPECIFIED
            case .outOfMemory: X509_V_ERR_OUT_OF_MEM
            }
        }
    }
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

/// Receives the events of a connection with a ``VerificationHook``, on the thread that runs the connection.
package protocol HandshakeObserver: AnyObject {
    /// Called for each handshake message or alert from the server, also after the handshake.
    ///
    /// - Parameters:
    ///   - message: the bytes that OpenSSL parses next; valid during the call only.
    ///   - contentType: `SSL3_RT_HANDSHAKE` or `SSL3_RT_ALERT`.
    func received(_ message: UnsafeRawBufferPointer, _ contentType: CInt)

    /// Called when the hook has a verdict, or a reason why there is none.
    func changed(to state: VerificationHook.State)
}
