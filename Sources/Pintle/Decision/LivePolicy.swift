#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A policy that an app can replace while connections use it.
///
///     let policy = LivePolicy(bundled)
///     let session = URLSession.pinned(to: policy)
///     // later, from any thread:
///     policy.replace(with: other)
///
/// The new policy decides about all connections made after the replacement. In a `PinnedURLSession`, connections that
/// the old policy accepted carry no further requests, but requests already running finish. The replacement is not
/// stored, so it does not survive a restart of the process.
public final class LivePolicy: PolicySource {
    private let state: Locked<PolicySnapshot>

    /// Creates a policy with generation 1.
    ///
    /// - Parameters:
    ///   - policy: the initial policy.
    ///   - releaseDate: the build date of the release, as a constant that the build writes into the program. Never take
    ///     it from the device's clock or from a file's date. If the clock is more than 400 days ahead of it, expired
    ///     pins are reported with ``ExpiredPins/isClockSuspicious``.
    public init(_ policy: PinningPolicy, releaseDate: Date? = nil) {
        state = Locked(PolicySnapshot(policy: policy, generation: 1, newestKnownTime: releaseDate))
    }

    /// The policy in force.
    public var current: PolicySnapshot { state.withLock { $0 } }

    /// Replaces the policy and increments the generation.
    ///
    /// - Returns: the new snapshot. A receipt names its generation.
    @discardableResult
    public func replace(with policy: PinningPolicy) -> PolicySnapshot {
        state.withLock { state in
            state = PolicySnapshot(
                policy: policy, generation: state.generation + 1, newestKnownTime: state.newestKnownTime)
            return state
        }
    }
}
