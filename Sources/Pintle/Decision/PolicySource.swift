#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is in force at one instant: everything that decides about a connection, read in one go.
public struct PolicySnapshot: Sendable {
    /// The policy that decides.
    public let policy: PinningPolicy
    /// What people have said about servers that no rule covers.
    public let approvals: TrustApprovals
    /// Grows with every change of what decides, and never otherwise: of one source, two snapshots with the
    /// same number decide the same.
    public let generation: UInt64
    /// The latest time that is known to have passed, from a source that the device's clock has no part in: the date of
    /// the release, or `issuedAt` of the last update that was adopted. `nil` where there is no such source. It decides
    /// nothing; it tells a wrong clock from a neglected app (``PinExpiration/isClockSuspicious``).
    public let newestKnownTime: Date?

    /// A policy with its generation.
    public init(
        policy: PinningPolicy, approvals: TrustApprovals = .none, generation: UInt64, newestKnownTime: Date? = nil
    ) {
        self.policy = policy
        self.approvals = approvals
        self.generation = generation
        self.newestKnownTime = newestKnownTime
    }
}

/// Where the policy that is in force is found: whoever decides asks before each decision.
///
/// Nobody is told of a change, and nobody has to listen: a connection, and a request on a kept one, are decided
/// by what `current` returns at that moment.
///
/// A ``PinningPolicy`` is a source that always returns itself. Use a ``LivePolicy`` to replace a policy.
public protocol PolicySource: Sendable {
    /// What is in force now.
    ///
    /// It is asked on any thread, for each request several times, also inside handshakes: it returns at once,
    /// without waiting for anybody, and makes no more than a system call where nothing has changed. What it has
    /// once returned never comes back after a newer generation.
    var current: PolicySnapshot { get }
}

extension PinningPolicy: PolicySource {
    /// This policy, generation 1.
    public var current: PolicySnapshot { PolicySnapshot(policy: self, generation: 1) }
}
