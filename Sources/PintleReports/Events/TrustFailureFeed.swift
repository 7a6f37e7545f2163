internal import Pintle
internal import PintleStorage

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Carries events from handshakes to observers: whoever posts does not wait.
///
/// One for the process. A process that ends by `exit` waits for what waits, two seconds at most: the last thing that a
/// command-line program sees may well be a mismatch.
package final class TrustFailureFeed: Sendable {
    package static let shared = TrustFailureFeed()
    package static let capacity = 256
    /// In bytes of certificates that wait: a server may send four mebibytes each time.
    package static let maximumWeight = 16 << 20

    private struct State: Sendable {
        var waiting: [Delivery] = []
        var weight = 0
        /// Whether a thread is handing over, or about to.
        var isRunning = false
        var dropped = 0
        var settling: [CheckedContinuation<Void, Never>] = []
    }

    private struct Delivery: Sendable {
        let event: TrustFailureEvent
        let observer: any TrustFailureObserver
        /// In bytes.
        let weight: Int
    }

    private let state = Locked(State())

    private static let isRegistered: Bool = atexit { TrustFailureFeed.shared.finish() } == 0

    package init() {}

    /// Events that came while too many waited.
    package var dropped: Int { state.withLock { $0.dropped } }

    package func post(_ event: TrustFailureEvent, to observer: any TrustFailureObserver) {
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
        if starts { FeedThread.start { self.run() } }
    }

    /// Waits until nothing waits.
    package func settle() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.isRunning { state.settling.append(continuation) }
                return !state.isRunning
            }
            if isSettled { continuation.resume() }
        }
    }

    private func run() {
        while let next = next() { next.observer.observe(next.event) }
    }

    /// `nil` where nothing waits: whoever waits for that hears of it, and this thread is over.
    private func next() -> Delivery? {
        let (next, settled) = state.withLock { state -> (Delivery?, [CheckedContinuation<Void, Never>]) in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                defer { state.settling = [] }
                return (nil, state.settling)
            }
            let next = state.waiting.removeFirst()
            state.weight -= next.weight
            return (next, [])
        }
        for continuation in settled { continuation.resume() }
        return next
    }

    /// At the end of the process. No observer is called on the thread that ends it, which others may be waiting for.
    private func finish() {
        let end = Uptime.milliseconds + 2_000
        while Uptime.milliseconds < end, state.withLock({ $0.isRunning }) { usleep(1_000) }
    }
}

extension TrustFailureEvent {
    /// In bytes of the certificates that it keeps.
    fileprivate var weight: Int {
        guard case .verdict(let failure) = self else { return 0 }
        let sent = failure.evaluation.presented?.certificates.reduce(0) { $0 + $1.der.count } ?? 0
        return sent + (failure.evaluation.path?.certificates.reduce(0) { $0 + $1.count } ?? 0)
    }
}
