#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A verdict worth reporting, with the data that led to it: a refusal, a mismatch that the rule only reports, or
/// expired pins.
///
/// It holds certificates by reference and encodes nothing, so creating one adds no noticeable cost to a handshake.
public struct VerdictEvent: Sendable {
    /// The evaluation with the reported verdict.
    public let evaluation: TrustEvaluation
    /// The policy that decided.
    public let policy: PinningPolicy
    /// The generation of the policy, as its ``PolicySource`` numbers it.
    public let generation: UInt64
    /// The time of the decision.
    public let instant: Date
    /// The rule that covers the server; `nil` if none does. It is set even if the chain was refused before the rule was
    /// looked up.
    public let rule: MatchedRule?

    /// Creates an event; `nil` if the verdict needs no report: a pin matched, the host has no pins, or the user
    /// approved the server.
    public init?(_ evaluation: TrustEvaluation, by policy: PinningPolicy, generation: UInt64 = 1, at instant: Date) {
        guard evaluation.decision.code.weight != .good else { return nil }
        self.evaluation = evaluation
        self.policy = policy
        self.generation = generation
        self.instant = instant
        rule = evaluation.rule ?? policy.rule(for: evaluation.endpoint)
    }

    /// The host and port that the caller asked for.
    public var endpoint: ServerEndpoint { evaluation.endpoint }
    /// The verdict.
    public var decision: TrustDecision { evaluation.decision }
    /// The code of the decision's reason.
    public var code: TrustDecision.Reason { decision.code }
    /// The stable text of ``code``, such as `pin-mismatch`.
    public var reason: String { code.rawValue }
}

extension VerdictEvent: CustomStringConvertible {
    /// The failure on one line. Texts from certificates are escaped.
    public var description: String {
        switch decision {
        case .rejected(let rejection): "\(endpoint) refused, \(rejection)"
        case .trusted(let basis): "\(endpoint) let in, \(basis)"
        }
    }
}
