internal import COpenSSL
public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What came of a handshake that a policy judged.
public enum CheckedConnection {
    /// The server is trusted; the connection is open and nothing has been sent over it yet.
    case trusted(TLSConnection, TrustEvaluation)
    /// The server was refused inside the handshake and has been told so by an alert.
    case rejected(TrustEvaluation)

    public var evaluation: TrustEvaluation {
        switch self {
        case .trusted(_, let evaluation), .rejected(let evaluation): evaluation
        }
    }
}

extension TLSClient {
    /// Connects, and lets a policy judge the server before anything is sent to it.
    ///
    /// - Parameter endpoint: whom the verdict is about; the target may lead elsewhere, as a test does.
    /// - Throws: ``HandshakeError`` where no verdict came about. A refusal is a value, not an error.
    public func connect(
        to target: HandshakeTarget, as endpoint: ServerEndpoint, via proxy: ProxyConfiguration = .none,
        checking policy: PinningPolicy, at instant: Date = Date(), validator: PathValidator = PathValidator()
    ) throws(HandshakeError) -> CheckedConnection {
        var evaluation: TrustEvaluation?
        let connection: TLSConnection
        do {
            connection = try connect(to: target, via: proxy) { chain in
                let verdict = policy.evaluate(endpoint, chain, at: instant, validator: validator)
                evaluation = verdict
                return verdict.decision.handshakeVerdict
            }
        } catch {
            if error.code == .rejectedByVerifier, let evaluation { return .rejected(evaluation) }
            throw error
        }
        guard let evaluation, evaluation.decision.isTrusted else {
            throw HandshakeError(
                .verifierNotCalled, "the handshake ended without a verdict", hint: nil, isBeforeCertificate: false)
        }
        return .trusted(connection, evaluation)
    }
}

extension PinningPolicy {
    /// Decides about a chain inside a handshake, on the certificates that OpenSSL has parsed already.
    func evaluate(
        _ endpoint: ServerEndpoint, _ chain: borrowing PeerChain, at instant: Date, validator: PathValidator
    ) -> TrustEvaluation {
        // The closure does not outlive this call, and the chain does; a borrowed value cannot be captured.
        let leaf = chain.leaf
        let presented = chain.presented
        return evaluate(endpoint, presented: chain.certificates, at: instant) { request in
            validator.validate(request, leaf: leaf, presented: presented)
        }
    }
}

extension TrustDecision {
    /// The alert says as much as one can: whoever watches a proxy's log reads it.
    var handshakeVerdict: HandshakeVerdict {
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
