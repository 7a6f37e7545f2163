internal import Pintle

/// Keeps events in memory, for tests.
///
///     let recorder = TrustFailureRecorder()
///     let session = URLSession.pinned(to: policy, observer: recorder)
///     // ... a request that is refused ...
///     await recorder.settle()
///     #expect(recorder.reports.map(\.reason) == ["pin-mismatch"])
///
/// The newest 1,000 are kept. Safe to use from any thread.
public final class TrustFailureRecorder: TrustFailureObserver {
    private let kept = Locked<[TrustFailureEvent]>([])

    /// A recorder without events.
    public init() {}

    /// Appends the event, and drops the oldest beyond 1,000.
    public func observe(_ event: TrustFailureEvent) {
        kept.withLock { kept in
            kept.append(event)
            if kept.count > 1_000 { kept.removeFirst() }
        }
    }

    /// Oldest first.
    public var events: [TrustFailureEvent] { kept.withLock { $0 } }

    /// What would be reported of the verdicts, whatever addresses their rules have.
    public var reports: [TrustFailureReport] {
        events.compactMap { event in
            guard case .verdict(let failure) = event else { return nil }
            return TrustFailureReport(failure)
        }
    }

    /// Forgets all events.
    public func removeAll() { kept.withLock { $0 = [] } }

    /// Waits until every event that was there by now has been handed to its observer.
    public func settle() async { await TrustFailureFeed.shared.settle() }
}
