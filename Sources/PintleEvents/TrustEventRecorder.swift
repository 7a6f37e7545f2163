public import Pintle

/// Records events in memory, for tests.
///
///     let recorder = TrustEventRecorder()
///     let session = URLSession.pinned(to: policy, observer: recorder)
///     // ... a request that is refused ...
///     await recorder.waitForEvents()
///     #expect(recorder.verdicts.map(\.decision.reason) == ["pin-mismatch"])
///
/// Keeps the newest 1,000 events. Safe to use from any thread.
public final class TrustEventRecorder: TrustEventObserver {
    private let kept = Locked<[TrustEvent]>([])

    /// Creates a recorder without events.
    public init() {}

    /// Appends the event. Drops the oldest event beyond 1,000.
    public func observe(_ event: TrustEvent) {
        kept.withLock { kept in
            kept.append(event)
            if kept.count > 1_000 { kept.removeFirst() }
        }
    }

    /// The events, oldest first.
    public var events: [TrustEvent] { kept.withLock { $0 } }

    /// The verdicts among the events: refusals, mismatches in report-only mode, and expired pins.
    public var verdicts: [VerdictEvent] {
        events.compactMap { event in
            guard case .verdict(let verdict) = event else { return nil }
            return verdict
        }
    }

    /// Removes all events.
    public func removeAll() { kept.withLock { $0 = [] } }

    /// Waits until all events so far have been delivered to their observers.
    public func waitForEvents() async { await TrustEventFeed.shared.waitForEvents() }
}
