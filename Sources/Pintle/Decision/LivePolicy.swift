#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A policy that an app replaces while it is in use.
///
///     let policy = LivePolicy(bundled)
///     let session = URLSession.pinned(to: policy)
///     // later, from any thread:
///     policy.replace(with: other)
///
/// Connections that are made from then on are decided by the new policy, those of the old one carry no new
/// request, and what runs ends as it was decided. Nothing is remembered over the end of the process.
public final class LivePolicy: PolicySource {
    private let state: Locked<PolicySnapshot>

    /// Generation 1.
    ///
    /// - Parameters:
    ///   - policy: the policy in force at first.
    ///   - releaseDate: when the release was built, as a constant that the build writes into the program. Never take it
    ///     from the device's clock or from a file's date. Pins that expired more than 400 days after it are reported with
    ///     ``PinExpiration/isClockSuspicious``.
    public init(_ policy: PinningPolicy, releaseDate: Date? = nil) {
        state = Locked(PolicySnapshot(policy: policy, generation: 1, newestKnownTime: releaseDate))
    }

    /// The policy in force.
    public var current: PolicySnapshot { state.withLock { $0 } }

    /// Puts another policy in force, under the next generation.
    ///
    /// - Returns: what is in force now. A receipt names its generation.
    @discardableResult
    public func replace(with policy: PinningPolicy) -> PolicySnapshot {
        state.withLock { state in
            state = PolicySnapshot(
                policy: policy, generation: state.generation + 1, newestKnownTime: state.newestKnownTime)
            return state
        }
    }
}
