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
/// An evaluator made from a ``PolicySource`` decides by the policy that is in force at each verdict. Call ``prepare()``
/// before the first connection, so that its verdict takes no longer than later ones.
///
/// The evaluator caches neither verdicts nor chains. On Apple's systems do not call it on the main queue, because the
/// system may use the network. Call it in each handshake, and turn off TLS session resumption in the library: a resumed
/// session does not call it. The type is safe to use from any thread.
public struct ServerTrustEvaluator: Sendable {
    /// The source of the policy that decides.
    private let source: any PolicySource
    private let validate: @Sendable (PathRequest) -> PathOutcome
    /// The policy of an evaluator for one policy.
    private var fixedPolicy: PinningPolicy?
    private let prepareValidation: @Sendable (PinningPolicy) -> Void
    private var failureHandler: (@Sendable (VerdictEvent) -> Void)?

    /// The policy that is in force now.
    public var policy: PinningPolicy { fixedPolicy ?? source.current.policy }

    /// Creates an evaluator that follows the changes of a policy.
    ///
    /// - Parameters:
    ///   - source: the source of the policy, the users' approvals and the newest known time. Each verdict reads
    ///     ``PolicySource/current`` once.
    ///   - validate: builds and checks the path, as ``PathRequest`` describes.
    ///   - prepare: does ahead of time what the first validation would do, such as reading the system's roots.
    public init(
        source: some PolicySource, validate: @escaping @Sendable (PathRequest) -> PathOutcome,
        prepare: @escaping @Sendable (PinningPolicy) -> Void = { _ in }
    ) {
        self.source = source
        self.validate = validate
        prepareValidation = prepare
    }

    /// Creates an evaluator for one policy. The generation in its receipts is always 1, also after the approvals have
    /// changed: give it a source if a pool follows them.
    ///
    /// - Parameters:
    ///   - policy: the policy that decides.
    ///   - approvals: returns the current approvals, such as `{ store.approvals }`. It is called for each decision.
    ///     Approvals count only if the policy asks the user, and only for hosts without a rule.
    ///   - newestKnownTime: the release date, or the date of the last update: ``PolicySnapshot/newestKnownTime``.
    ///   - validate: builds and checks the path, as ``PathRequest`` describes.
    ///   - prepare: does ahead of time what the first validation would do, such as reading the system's roots.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil, validate: @escaping @Sendable (PathRequest) -> PathOutcome,
        prepare: @escaping @Sendable (PinningPolicy) -> Void = { _ in }
    ) {
        self.init(
            source: FixedPolicy(policy: policy, approvals: approvals, newestKnownTime: newestKnownTime),
            validate: validate, prepare: prepare)
        fixedPolicy = policy
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
        evaluate(server, presented: presented, at: instant, validate: validate)
    }

    /// Decides by the policy in force, with another validation. All ways to ask an evaluator about a chain come through
    /// here, so that its handlers get each event once.
    package func evaluate(
        _ server: ServerEndpoint, presented: [[UInt8]], at instant: Date, validate: (PathRequest) -> PathOutcome
    ) -> TrustEvaluation {
        let snapshot = source.current
        var evaluation = snapshot.policy.evaluate(
            server, presented: presented, approvals: snapshot.approvals, at: instant,
            newestKnownTime: snapshot.newestKnownTime, validate: validate)
        evaluation.origin?.generation = snapshot.generation
        report(evaluation, by: snapshot, at: instant)
        return evaluation
    }

    /// Refuses a server whose certificates cannot be judged, and calls the handlers as for any other refusal.
    package func refuse(_ server: ServerEndpoint, _ failure: PathFailure, at instant: Date) -> TrustEvaluation {
        let evaluation = TrustEvaluation(of: server, unreadable: failure)
        report(evaluation, by: source.current, at: instant)
        return evaluation
    }

    private func report(_ evaluation: TrustEvaluation, by snapshot: PolicySnapshot, at instant: Date) {
        guard let failureHandler,
            let event = VerdictEvent(evaluation, by: snapshot.policy, generation: snapshot.generation, at: instant)
        else { return }
        failureHandler(event)
    }

    /// Does ahead of time what the first verdict under the policy in force would do. On Linux that is reading the
    /// system's roots, which takes tens of milliseconds; the system's own validation needs no preparation.
    ///
    /// It may be called on any thread, and again after a policy change. If the roots cannot be read, the verdicts say
    /// so.
    public func prepare() { prepareValidation(policy) }

    /// Returns a copy of this evaluator that also calls a handler once for each verdict that ``VerdictEvent``
    /// describes, also for a challenge or a trust object on Apple's systems. A refusal without a server that can be
    /// named causes no event.
    ///
    /// - Parameter handler: called before the verdict is returned, and therefore inside a handshake. It must pass the
    ///   event on and return at once. `PintleEvents` provides such a handler with `observed(by:)`.
    public func onFailure(_ handler: @escaping @Sendable (VerdictEvent) -> Void) -> ServerTrustEvaluator {
        var evaluator = self
        let earlier = failureHandler
        evaluator.failureHandler = { event in
            earlier?(event)
            handler(event)
        }
        return evaluator
    }
}

/// The source of an evaluator for one policy. Its generation never changes, although the approvals may.
private struct FixedPolicy: PolicySource {
    let policy: PinningPolicy
    let approvals: @Sendable () -> TrustApprovals
    let newestKnownTime: Date?

    var current: PolicySnapshot {
        PolicySnapshot(policy: policy, approvals: approvals(), generation: 1, newestKnownTime: newestKnownTime)
    }
}
