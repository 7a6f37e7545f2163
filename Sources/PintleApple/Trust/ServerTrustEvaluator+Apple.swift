import Foundation
import Pintle
import Security

extension ServerTrustEvaluator {
    /// Creates an evaluator that follows the changes of a policy. The system validates the paths.
    ///
    /// - Parameter source: The source of the policy, the user's approvals and the newest known time. Each verdict reads
    ///   its `current` once.
    public init(source: some PolicySource) {
        self.init(source: source) { Self.validate($0) }
    }

    /// Creates an evaluator that applies a policy to paths that the system has validated.
    ///
    /// - Parameters:
    ///   - policy: The policy that decides.
    ///   - approvals: A closure that returns the user's current approvals, called for each decision:
    ///     `{ store.approvals }`.
    ///   - newestKnownTime: The date of the release or of the last update: ``PolicySnapshot/newestKnownTime``.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil
    ) {
        self.init(policy: policy, approvals: approvals, newestKnownTime: newestKnownTime) { Self.validate($0) }
    }

    private static func validate(_ request: PathRequest) -> PathOutcome {
        guard let trust = SecTrust.presenting(request.chain.certificates.map(\.der)) else {
            return .invalid(PathFailure(.malformedCertificate, depth: 0, text: "the system cannot read it"))
        }
        return SystemValidation(trust).outcome(of: request)
    }

    /// Creates an evaluator for the policy and the approvals of a snapshot.
    public init(_ snapshot: PolicySnapshot) {
        self.init(source: snapshot)
    }

    /// Decides about the server behind a trust object.
    ///
    /// This replaces the trust object's anchors and date, clears its exceptions, and adds a policy to its own. If the
    /// server's certificate is itself the anchor, its own policies are replaced too. After a refusal the trust object
    /// has no anchors, so that no other code can get it to trust the server.
    ///
    /// The system does not say which certificates the server sent. So ``/Pintle/TrustEvaluation/presented`` and the
    /// served chain of a report are the path that the system built from them.
    ///
    /// The system's evaluation may take some time: never call it on the main queue. Asynchronous code calls the other
    /// method of this name, which does not block.
    ///
    /// If the system would connect to another address than the given one (`0.0.0.0`, `::`, `::ffff:192.0.2.1`), the
    /// server is refused with `invalid-path` and the path failure `other`.
    ///
    /// - Parameters:
    ///   - server: The host and port that the caller wants to connect to, never a name from a certificate.
    ///   - trust: The trust object of the connection. No other code may use it at the same time.
    ///   - instant: The current time.
    public func evaluate(_ server: ServerEndpoint, _ trust: SecTrust, at instant: Date) -> TrustEvaluation {
        judge(server, trust, at: instant).evaluation
    }

    /// Decides as the synchronous method does, and evaluates on a queue of this package. So it may be called on the
    /// main actor. Cancelling the task does not end the evaluation.
    ///
    /// - Parameters:
    ///   - server: The host and port that the caller wants to connect to, never a name from a certificate.
    ///   - trust: The trust object of the connection. No other code may use it at the same time.
    ///   - instant: The current time.
    nonisolated(nonsending) public func evaluate(
        _ server: ServerEndpoint, _ trust: SecTrust, at instant: Date
    ) async -> TrustEvaluation {
        let handed = Handed(trust)
        return await withCheckedContinuation { continuation in
            TrustQueue.async { continuation.resume(returning: evaluate(server, handed.value, at: instant)) }
        }
    }

    /// - Returns: The verdict, and whether the system by itself would have refused the server.
    func judge(
        _ server: ServerEndpoint, _ trust: SecTrust, at instant: Date
    ) -> (evaluation: TrustEvaluation, isPrivate: Bool) {
        let validation = SystemValidation(trust)
        var isPrivate = false
        let evaluation = evaluate(server, presented: trust.certificates, at: instant) { request in
            let outcome = validation.outcome(of: request)
            // A later outcome replaces an earlier one only if it is valid: then its path is the trusted one.
            if case .valid = outcome { isPrivate = !request.anchors.certificates.isEmpty }
            return outcome
        }
        if !evaluation.decision.isTrusted { validation.leaveUntrusted() }
        return (evaluation, isPrivate)
    }
}
