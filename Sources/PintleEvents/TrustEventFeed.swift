internal import Pintle
internal import PintleSystem

/// A queue that carries events from handshakes to observers, so that a handshake never waits for an observer.
///
/// The process has a single feed. When it ends by `exit`, it waits for queued events for at most two seconds, because a
/// mismatch is often the last event of a command-line program.
package final class TrustEventFeed: Sendable {
    package static let shared = TrustEventFeed()
    package static let capacity = 256
    /// The limit of queued certificates in bytes. A server may send four mebibytes each time.
    package static let maximumWeight = 16 << 20

    private struct State: Sendable {
        var waiting: [Delivery] = []
        var weight = 0
        /// A Boolean value that indicates whether a thread is delivering events, or about to.
        var isRunning = false
        var dropped = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct Delivery: Sendable {
        let event: TrustEvent
        let observer: any TrustEventObserver
        /// The size of the event's certificates in bytes.
        let weight: Int
    }

    private let state = Locked(State())

    private static let isRegistered: Bool = atexit { TrustEventFeed.shared.finish() } == 0

    package init() {}

    /// The number of events that were dropped because the queue was full.
    package var dropped: Int { state.withLock { $0.dropped } }

    package func post(_ event: TrustEvent, to observer: any TrustEventObserver) {
        _ = Self.isRegistered
        let weight = event.weight
        let starts = state.withLock { state in
            guard state.waiting.count < Self.capacity, state.weight + weight <= Self.maximumWeight else {
                state.dropped += 1
                return false
            }
            state.weight += weight
            state.waiting.append(Delivery(event: event, observer: observer, weight: weight))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        // A thread of its own: an observer may block, and if a task ends the process, Swift's thread pool may have no
        // free thread. Only if the system has no thread left, the pool runs the work.
        if !SystemThread.startDetached(run) { Task.detached(priority: .utility) { self.run() } }
    }

    /// Waits until the queue is empty and all events are delivered.
    package func waitForEvents() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isRunning { state.waiters.append(continuation) }
                return !state.isRunning
            }
            if isIdle { continuation.resume() }
        }
    }

    private func run() {
        while let next = next() { next.observer.observe(next.event) }
    }

    /// Returns the next event. At the end of the queue it resumes the waiting callers and returns `nil`, which ends the
    /// thread.
    private func next() -> Delivery? {
        let (next, waiters) = state.withLock { state -> (Delivery?, [CheckedContinuation<Void, Never>]) in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                defer { state.waiters = [] }
                return (nil, state.waiters)
            }
            let next = state.waiting.removeFirst()
            state.weight -= next.weight
            return (next, [])
        }
        for continuation in waiters { continuation.resume() }
        return next
    }

    /// Waits at the end of the process. Calls no observer on the exiting thread, because other threads may be waiting
    /// for it.
    private func finish() {
        let end = Uptime.milliseconds + 2_000
        while Uptime.milliseconds < end, state.withLock({ $0.isRunning }) { usleep(1_000) }
    }
}

extension TrustEvent {
    /// The size of the event's certificates in bytes.
    fileprivate var weight: Int {
        guard case .verdict(let event) = self else { return 0 }
        let sent = event.evaluation.presented?.certificates.reduce(0) { $0 + $1.der.count } ?? 0
        return sent + (event.evaluation.path?.certificates.reduce(0) { $0 + $1.count } ?? 0)
    }
}
