public import Pintle

/// A policy that asks (`askUser`), and what people have said beside it, for whatever takes a source:
///
///     options.decideTrust(of: server, by: ApprovedPolicy(policy, approvals: store))
///
/// A change of either is a new generation. `URLSession.pinned(to:approvals:)` makes its own. Safe to use from any thread.
public final class ApprovedPolicy: PolicySource {
    private struct State: Sendable {
        var policy: PolicySnapshot
        var approvals: StoreSnapshot
        var generation: UInt64 = 1
    }

    private let source: any PolicySource
    private let store: TrustApprovalStore
    private let state: Locked<State>

    /// - Parameters:
    ///   - source: the policy, or what replaces it while it is in use.
    ///   - store: what has been approved counts for hosts that no rule covers.
    public init(_ source: some PolicySource, approvals store: TrustApprovalStore) {
        self.source = source
        self.store = store
        state = Locked(State(policy: source.current, approvals: store.current))
    }

    /// Returns the policy with the approvals of a store, or just the policy where there is no store.
    package static func source(_ policy: some PolicySource, _ store: TrustApprovalStore?) -> any PolicySource {
        guard let store else { return policy }
        return ApprovedPolicy(policy, approvals: store)
    }

    /// The policy of now with the approvals of now. One system call where the store has a file that has not changed.
    public var current: PolicySnapshot {
        // Read outside of the lock: a store tells of its events meanwhile, and whoever listens may ask again.
        let (policy, approvals) = (source.current, store.current)
        return state.withLock { state in
            // Another thread may have read later and been faster: of each the newer one counts.
            let isNewer = (
                policy.generation > state.policy.generation, approvals.revision > state.approvals.revision
            )
            if isNewer.0 { state.policy = policy }
            if isNewer.1 { state.approvals = approvals }
            if isNewer.0 || isNewer.1 { state.generation += 1 }
            return PolicySnapshot(
                policy: state.policy.policy, approvals: state.approvals.approvals, generation: state.generation,
                // It may grow without a new generation.
                newestKnownTime: policy.newestKnownTime)
        }
    }
}
