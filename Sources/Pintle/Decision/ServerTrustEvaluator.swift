#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Decides about servers for a TLS stack that is not ours: certificates in, verdict out.
///
/// It takes what the server *presented*, as the verification callbacks of TLS libraries hand it over, and does all
/// that a decision needs: the path is built and validated first, name and dates included, and pins are compared with
/// that path. So a callback that replaces every check of its library may ask nothing but this.
///
///     let evaluator = ServerTrustEvaluator(policy: policy)  // PintleOpenSSL brings the validation
///     let evaluation = evaluator.evaluate(server, presented: chain, at: Date())
///     guard evaluation.decision.isTrusted else { return close(evaluation.decision.reason) }
///
/// It answers at once and keeps nothing: no verdict, and no chain. Ask it in each handshake, and let the library
/// resume no TLS session, because a resumed session asks nobody. Safe to use from any thread.
public struct ServerTrustEvaluator: Sendable {
    /// The policy that decides. Another policy is another evaluator.
    public let policy: PinningPolicy
    package let approvals: @Sendable () -> TrustApprovals
    private let validate: @Sendable (PathRequest) -> PathOutcome
    package let newestKnownTime: Date?
    private var failureHandler: (@Sendable (TrustFailure) -> Void)?

    /// - Parameters:
    ///   - policy: that decides.
    ///   - approvals: asked at each decision for what people have said by then, `{ store.approvals }`; it counts where
    ///     the policy asks people, and for hosts without a rule.
    ///   - newestKnownTime: the date of the release, or that of the last update: ``PolicySnapshot/newestKnownTime``.
    ///   - validate: builds and checks the path: everything that ``PathRequest`` asks for.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil, validate: @escaping @Sendable (PathRequest) -> PathOutcome
    ) {
        self.policy = policy
        self.approvals = approvals
        self.newestKnownTime = newestKnownTime
        self.validate = validate
    }

    /// Decides whether a server is the one that is meant, as
    /// ``PinningPolicy/evaluate(_:presented:approvals:at:newestKnownTime:validate:)`` does.
    ///
    /// - Parameters:
    ///   - server: the host and port that the caller wants to talk to, never a name out of a certificate or SNI.
    ///   - presented: what the server sent, DER, the leaf first.
    ///   - instant: now.
    public func evaluate(
        _ server: ServerEndpoint, presented: [[UInt8]], at instant: Date
    ) -> TrustEvaluation {
        let evaluation = policy.evaluate(
            server, presented: presented, approvals: approvals(), at: instant, newestKnownTime: newestKnownTime,
            validate: validate)
        if let failureHandler, let failure = TrustFailure(evaluation, by: policy, at: instant) {
            failureHandler(failure)
        }
        return evaluation
    }

    /// Returns the same evaluator, which also calls a handler for each verdict that ``TrustFailure`` describes.
    ///
    /// - Parameter handler: called within ``evaluate(_:presented:at:)``, which is to say inside a handshake: it hands the
    ///   failure on and returns at once. `PintleReports` has `onFailure(notify:)`, which does that.
    public func onFailure(_ handler: @escaping @Sendable (TrustFailure) -> Void) -> ServerTrustEvaluator {
        var evaluator = self
        evaluator.failureHandler = handler
        return evaluator
    }
}
