internal import Pintle

/// Keeps events in memory, for tests.
///
///     let recorder = PinFailureRecorder()
///     let session = URLSession.pinned(to: policy, observer: recorder)
///     // ... a request that is refused ...
///     await recorder.settle()
///     #expect(recorder.reports.map(\.reason) == ["pin-mismatch"])
///
/// The newest 1,000 are kept. Safe to use from any thread.
public final class PinFailureRecorder: PinFailureObserver {
    private let kept = Locked<[PinFailureEvent]>([])

    public init() {}

    public func observe(_ event: PinFailureEvent) {
        kept.withLock { kept in
            kept.append(event)
            if kept.count > 1_000 { kept.removeFirst() }
        }
    }

    /// Oldest first.
    public var events: [PinFailureEvent] { kept.withLock { $0 } }

    /// What would be reported of the verdicts, whatever addresses their rules have.
    public var reports: [PinFailureReport] {
        events.compactMap { event in
            guard case .verdict(let failure) = event else { return nil }
            return PinFailureReport(failure)
        }
    }

    public func removeAll() { kept.withLock { $0 = [] } }

    /// Waits until every event that was there by now has been handed to its observer.
    public func settle() async { await PinFailureFeed.shared.settle() }
}
