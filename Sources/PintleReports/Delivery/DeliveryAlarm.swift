internal import Pintle

/// Wakes the loops that wait for the next delivery when a new report is stored.
final class DeliveryAlarm: Sendable {
    private struct State: Sendable {
        /// The number of reports stored so far. With it, a report that is stored between a delivery and the pause is
        /// not missed.
        var count: UInt64 = 0
        var lastSleeper: UInt64 = 0
        var sleepers: [UInt64: Task<Void, Never>] = [:]
    }

    private let state = Locked(State())

    var hasSleeper: Bool { state.withLock { !$0.sleepers.isEmpty } }

    var count: UInt64 { state.withLock { $0.count } }

    func ring() {
        let sleepers = state.withLock { state in
            state.count &+= 1
            defer { state.sleepers = [:] }
            return state.sleepers.values.map(\.self)
        }
        for sleeper in sleepers { sleeper.cancel() }
    }

    /// Returns after the given time, when a report is stored, or when the calling task is cancelled.
    ///
    /// - Parameters:
    ///   - seconds: the longest time to wait.
    ///   - count: the number of reports that the caller knows of. If there are more, the call returns at once.
    func sleep(_ seconds: Double, since count: UInt64) async {
        let sleeper = Task<Void, Never> { try? await Task.sleep(nanoseconds: UInt64(seconds * 1e9)) }
        let id = state.withLock { state -> UInt64? in
            guard state.count == count else { return nil }
            state.lastSleeper &+= 1
            state.sleepers[state.lastSleeper] = sleeper
            return state.lastSleeper
        }
        guard let id else { return sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.sleepers[id] = nil }
    }
}
