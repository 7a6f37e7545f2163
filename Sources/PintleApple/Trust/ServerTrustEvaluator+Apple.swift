import Foundation
import Pintle
import Security

extension ServerTrustEvaluator {
    /// Decides by a policy, on paths that the system has validated.
    ///
    /// - Parameters:
    ///   - policy: that decides.
    ///   - approvals: asked at each decision for what people have said by then, `{ store.approvals }`.
    ///   - newestKnownTime: the date of the release, or that of the last update: ``PolicySnapshot/newestKnownTime``.
    public init(
        policy: PinningPolicy, approvals: @escaping @Sendable () -> TrustApprovals = { .none },
        newestKnownTime: Date? = nil
    ) {
        self.init(policy: policy, approvals: approvals, newestKnownTime: newestKnownTime) { request in
            guard let trust = SecTrust.presenting(request.chain.certificates.map(\.der)) else {
                return .invalid(PathFailure(.malformedCertificate, depth: 0, text: "the system cannot read it"))
            }
            return SystemValidation(trust).outcome(of: request)
        }
    }

    /// Decides by what is in force at one instant.
    public init(_ snapshot: PolicySnapshot) {
        self.init(
            policy: snapshot.policy, approvals: { snapshot.approvals }, newestKnownTime: snapshot.newestKnownTime)
    }

    /// Decides about the server behind a trust object, whose anchors, date and policies are replaced. Its own policies stay
    /// among them, except where the server's certificate is itself the anchor.
    ///
    /// The system evaluates, which may take its time: never call it on the main queue. After a refusal the trust object has
    /// no anchors, so that nothing trusts it by another way.
    ///
    /// An address under which the system connects to another one (`0.0.0.0`, `::`, `::ffff:192.0.2.1`) is refused with
    /// `invalid-path` and the path failure `other`.
    ///
    /// - Parameters:
    ///   - server: the host and port that the caller wants to talk to, never a name out of a certificate.
    ///   - trust: from the connection; used by nobody else meanwhile.
    ///   - instant: now.
    public func evaluate(_ server: ServerEndpoint, _ trust: SecTrust, at instant: Date) -> TrustEvaluation {
        judge(server, trust, at: instant).evaluation
    }

    /// - Returns: beside the verdict, whether the system would not have come to it by itself.
    func judge(
        _ server: ServerEndpoint, _ trust: SecTrust, at instant: Date
    ) -> (evaluation: TrustEvaluation, isPrivate: Bool) {
        if let alias = AddressAlias(server.host) {
            let failure = PathFailure(.other, text: "\(alias.message); \(alias.hint)")
            return (TrustEvaluation(of: server, unreadable: failure), false)
        }
        var isPrivate = false
        let validation = SystemValidation(trust)
        let evaluation = policy.evaluate(
            server, presented: trust.certificates, approvals: approvals(), at: instant, newestKnownTime: newestKnownTime
        ) { request in
            let outcome = validation.outcome(of: request)
            // Of two outcomes a later one counts only where it is the path that is trusted.
            if case .valid = outcome { isPrivate = !request.anchors.certificates.isEmpty }
            return outcome
        }
        if !evaluation.decision.isTrusted { validation.leaveUntrusted() }
        return (evaluation, isPrivate)
    }
}
