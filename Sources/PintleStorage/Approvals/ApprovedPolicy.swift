public import Pintle

/// A policy that asks the user (`askUser`), combined with the user's approvals, for every API that takes a policy
/// source:
///
///     let session = URLSession.pinned(to: ApprovedPolicy(policy, approvals: store))
///
/// A change of the policy or of the approvals starts a new generation. Safe to use from any thread.
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
    ///   - source: the policy, or a source that may replace it at run time.
    ///   - store: the approvals, which count for hosts that no rule covers.
    public init(_ source: some PolicySource, approvals store: TrustApprovalStore) {
        self.source = source
        self.store = store
        state = Locked(State(policy: source.current, approvals: store.current))
    }

    /// The current policy with the current approvals. Costs one system call if the store's file has not changed.
    public var current: PolicySnapshot {
        // Read outside of the lock: a store may send events during the read, and their handler may call this property
        // again.
        let (policy, approvals) = (source.current, store.current)
        return state.withLock { state in
            // Another thread may have read newer values first. Keep the newer one of each.
            let isNewer = (
                policy.generation > state.policy.generation, approvals.revision > state.approvals.revision
            )
            if isNewer.0 { state.policy = policy }
            if isNewer.1 { state.approvals = approvals }
            if isNewer.0 || isNewer.1 { state.generation += 1 }
            return PolicySnapshot(
                policy: state.policy.policy, approvals: state.approvals.approvals, generation: state.generation,
                // This time may grow without a new generation.
                newestKnownTime: policy.newestKnownTime)
        }
    }
}
