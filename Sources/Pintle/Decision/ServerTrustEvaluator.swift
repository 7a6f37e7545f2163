#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Decides about servers for any TLS stack: it takes certificates and returns a verdict.
///
/// It takes the chain that the server *presented*, as the verification callbacks of TLS libraries provide it. It builds
/// and validates the path, including name and dates, and then compares the pins with that path. A callback that
/// replaces all of its library's checks therefore needs only this type.
///
///     let evaluator = ServerTrustEvaluator(policy: policy)  // PintleOpenSSL brings the validation
///     let evaluation = evaluator.evaluate(server, presented: chain, at: Date())
///     guard evaluation.decision.isTrusted else { return close(evaluation.decision.reason) }
///
/// The evaluator caches neither verdicts nor chains. On Apple's systems do not call it on the main queue, because the
/// system may use the network. Call it in each handshake, and turn off TLS session resumption in the library: a resumed
/// session does not call it. The type is safe to use from any thread.
public struct ServerTrustEvaluator: Sendable {
    /// The policy that decides. To change it, create another evaluator.
    public let policy: PinningPolicy
    package let approvals: @Sendable () -> TrustApprovals
    private let validate: @Sendable (PathRequest) -> PathOutcome
    package let newestKnownTime: Date?
    private var failureHandler: (@Sendable (TrustFailure) -> Void)?

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - policy: the policy that decides.
    ///   - approvals: returns the current approvals, such as `{ store.approvals }`. It is called for each decision.
    ///     Approvals count only if the policy asks the user, and only for hosts without a rule.
    ///   - newestKnownTime: the release date, or the date of the last update: ``PolicySnapshot/newestKnownTime``.
    ///   - validate: builds and checks the path, as ``PathRequest`` describes.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil, validate: @escaping @Sendable (PathRequest) -> PathOutcome
    ) {
        self.policy = policy
        self.approvals = approvals
        self.newestKnownTime = newestKnownTime
        self.validate = validate
    }

    /// Decides whether the caller may trust a server, as
    /// ``PinningPolicy/evaluate(_:presented:approvals:at:newestKnownTime:validate:)`` does.
    ///
    /// - Parameters:
    ///   - server: the host and port that the caller wants to connect to, never a name from a certificate or SNI.
    ///   - presented: the certificates that the server sent, in DER, the leaf first.
    ///   - instant: the current time.
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

    /// Returns a copy of this evaluator that also calls a handler for each verdict that ``TrustFailure`` describes.
    ///
    /// - Parameter handler: called within ``evaluate(_:presented:at:)``, and therefore inside a handshake. It must pass
    ///   the failure on and return at once. `PintleReports` provides such a handler with `onFailure(notify:)`.
    public func onFailure(_ handler: @escaping @Sendable (TrustFailure) -> Void) -> ServerTrustEvaluator {
        var evaluator = self
        evaluator.failureHandler = handler
        return evaluator
    }
}
