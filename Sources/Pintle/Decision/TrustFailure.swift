#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A verdict that somebody should hear of, with what led to it: a refusal, a mismatch that was let through because its
/// rule only reports, or pins past their date.
///
/// It holds certificates by reference and encodes nothing: making one costs a handshake nothing that counts.
public struct TrustFailure: Sendable {
    /// The evaluation with the verdict that is reported.
    public let evaluation: TrustEvaluation
    /// What decided.
    public let policy: PinningPolicy
    /// The generation of the policy, as its ``PolicySource`` numbers it.
    public let generation: UInt64
    /// When it was decided.
    public let instant: Date
    /// The rule that covers the server; `nil` where none does. It is there too where the chain was refused before the rule
    /// was looked up.
    public let rule: MatchedRule?

    /// `nil` for a verdict that nobody needs to hear of: a pin that matched, a host without pins, an approval.
    public init?(_ evaluation: TrustEvaluation, by policy: PinningPolicy, generation: UInt64 = 1, at instant: Date) {
        switch evaluation.decision {
        case .trusted(.pinMatched), .trusted(.hostNotPinned), .trusted(.userApproved): return nil
        case .trusted(.pinsExpired), .trusted(.mismatchReportedOnly), .rejected: break
        }
        self.evaluation = evaluation
        self.policy = policy
        self.generation = generation
        self.instant = instant
        rule = evaluation.rule ?? policy.rule(for: evaluation.endpoint)
    }

    /// The server that was asked for.
    public var endpoint: ServerEndpoint { evaluation.endpoint }
    /// The verdict.
    public var decision: TrustDecision { evaluation.decision }
    /// The stable code of the decision, such as `pin-mismatch`.
    public var reason: String { evaluation.decision.reason }
}

extension TrustFailure: CustomStringConvertible {
    /// One line; texts out of certificates are escaped.
    public var description: String {
        switch decision {
        case .rejected(let rejection): "\(endpoint) refused, \(rejection)"
        case .trusted(.pinsExpired(let expiration)): "\(endpoint) let in, \(reason): \(expiration)"
        case .trusted(.mismatchReportedOnly(let mismatch)): "\(endpoint) let in, \(reason): \(mismatch)"
        case .trusted: "\(endpoint) let in, \(reason)"
        }
    }
}
