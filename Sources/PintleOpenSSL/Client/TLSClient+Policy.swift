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
    /// The server was refused inside the handshake and has been told so by an alert; or the policy allows no
    /// such host, and nothing was sent to it at all.
    case rejected(TrustEvaluation)

    /// The verdict with its reasons.
    public var evaluation: TrustEvaluation {
        switch self {
        case .trusted(_, let evaluation), .rejected(let evaluation): evaluation
        }
    }
}

extension TLSClient {
    /// Connects, and lets a policy judge the server before anything is sent to it.
    ///
    /// The verdict is about the target's own endpoint, wherever ``HandshakeTarget/connectTo`` leads. A host
    /// that the policy does not allow (`host-not-allowed`) is neither resolved nor connected to: its name
    /// would be told to resolvers, proxies and, in the ClientHello, to every listener on the way. Neither is an
    /// address under which the system connects to another one (`0.0.0.0`, `::`, `::ffff:192.0.2.1`): the error is
    /// `invalid-host`.
    ///
    /// - Parameter approvals: what people have said about servers that no rule covers, for a policy that asks them.
    /// - Throws: ``HandshakeError`` where no verdict came about. A refusal is a value, not an error.
    public func connect(
        to target: HandshakeTarget, via proxy: ProxyConfiguration = .none, checking policy: PinningPolicy,
        approvals: TrustApprovals = .none, at instant: Date = Date(), validator: PathValidator = PathValidator()
    ) throws(HandshakeError) -> CheckedConnection {
        try target.requireOwnAddress()
        if policy.unpinnedHosts == .reject, policy.rule(for: target.endpoint) == nil {
            return .rejected(TrustEvaluation(notAllowed: target.endpoint))
        }
        var evaluation: TrustEvaluation?
        let connection: TLSConnection
        do {
            connection = try connect(to: target, via: proxy) { chain in
                let verdict = policy.evaluate(
                    target.endpoint, chain, approvals: approvals, at: instant, validator: validator)
                evaluation = verdict
                return verdict.decision.handshakeVerdict
            }
        } catch {
            if error.code == .rejectedByVerifier, let evaluation { return .rejected(evaluation) }
            if let failure = error.pathFailure {
                return .rejected(TrustEvaluation(of: target.endpoint, unreadable: failure))
            }
            throw error
        }
        guard let evaluation, evaluation.decision.isTrusted else {
            throw HandshakeError(
                .verifierNotCalled, "the handshake ended without a verdict", hint: nil, isBeforeCertificate: false)
        }
        return .trusted(connection, evaluation)
    }
}
