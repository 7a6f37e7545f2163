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
    public init(_ policy: PinningPolicy) {
        state = Locked(PolicySnapshot(policy: policy, generation: 1))
    }

    public var current: PolicySnapshot { state.withLock { $0 } }

    /// Puts another policy in force, under the next generation.
    ///
    /// - Returns: what is in force now. A receipt names its generation.
    @discardableResult
    public func replace(with policy: PinningPolicy) -> PolicySnapshot {
        state.withLock { state in
            state = PolicySnapshot(policy: policy, generation: state.generation + 1)
            return state
        }
    }
}
