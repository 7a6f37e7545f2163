#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A consistent snapshot of everything that decides about a connection.
public struct PolicySnapshot: Sendable {
    /// The policy that decides.
    public let policy: PinningPolicy
    /// The users' approvals of servers that no rule covers.
    public let approvals: TrustApprovals
    /// A number that grows with each change to the policy or the approvals, and never otherwise. Two snapshots of one
    /// source with the same number decide the same.
    public let generation: UInt64
    /// The latest time known to have passed, from a source independent of the device's clock: the release date, or
    /// `issuedAt` of the last adopted update. `nil` without such a source. It does not affect the verdict; it
    /// distinguishes a wrong clock from an app without updates (``ExpiredPins/isClockSuspicious``).
    public let newestKnownTime: Date?

    /// Creates a snapshot of a policy.
    public init(
        policy: PinningPolicy, approvals: TrustApprovals = .none, generation: UInt64, newestKnownTime: Date? = nil
    ) {
        self.policy = policy
        self.approvals = approvals
        self.generation = generation
        self.newestKnownTime = newestKnownTime
    }
}

/// A provider of the policy in force. Sessions, delegates, web views and evaluators ask it before each
/// decision.
///
/// A source sends no change notifications. The session reads `current` when it decides, about each connection and about
/// each request on a kept-alive connection.
///
/// A ``PinningPolicy`` is a source that always returns itself. Use a ``LivePolicy`` to replace a policy.
public protocol PolicySource: Sendable {
    /// The policy and approvals in force.
    ///
    /// Sessions read this property on any thread, several times for each request and also inside handshakes. It must
    /// return at once and must not block on other threads. If nothing has changed, it may make at most one system call.
    /// After it has returned a generation, it must never return an older one.
    var current: PolicySnapshot { get }
}

extension PolicySnapshot: PolicySource {
    /// This snapshot.
    public var current: PolicySnapshot { self }
}

extension PinningPolicy: PolicySource {
    /// A snapshot of this policy with generation 1.
    public var current: PolicySnapshot { PolicySnapshot(policy: self, generation: 1) }
}
