internal import Pintle

/// Counts the requests of a store that have not ended. A transport may ignore that its task was cancelled, and a store
/// that asked again all the same would pile requests up.
///
/// Safe to use from any thread.
final class OpenRequests: Sendable {
    private struct State {
        var count = 0
        /// Waiters by number; each gets `true` once no request is open.
        var waiters: [Int: AsyncStream<Bool>.Continuation] = [:]
        var lastWaiter = 0
    }

    private let state = Locked(State())

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? Array(state.waiters.values) : []
        }
        for waiter in waiters { waiter.yield(true) }
    }

    /// Waits until no request is open.
    ///
    /// - Parameter timeLimit: returns when the time is up, too.
    /// - Returns: whether no request is open.
    func waitUntilNone(_ timeLimit: @escaping @Sendable () async -> Void) async -> Bool {
        let (answers, mailbox) = AsyncStream<Bool>.makeStream()
        let number = state.withLock { state -> Int? in
            guard state.count > 0 else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = mailbox
            return state.lastWaiter
        }
        guard let number else { return true }
        let clock = Task.detached(priority: Task.currentPriority) {
            await timeLimit()
            mailbox.yield(false)
        }
        defer {
            clock.cancel()
            state.withLock { $0.waiters[number] = nil }
        }
        for await answer in answers { return answer }
        return false
    }
}
