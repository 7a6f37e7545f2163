internal import PintleSystem
internal import Synchronization

/// Threads that their owner joins before it is released, so that no thread outlives a test.
///
/// These are POSIX threads and not tasks, because servers block. Swift's pool has one thread a core, and the tests
/// themselves may block all of them.
package final class ThreadGroup: Sendable {
    private struct State {
        var running: Set<SystemThread> = []
        var finished: [SystemThread] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var runningCount: Int { state.withLock { $0.running.count } }

    /// Starts a thread. Returns `false` if the system cannot.
    package func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        joinFinished()
        // Under the lock, so that a thread that ends at once is listed before it reports its end.
        return state.withLock { state in
            let thread = SystemThread.start {
                body()
                self.end(.current)
            }
            guard let thread else { return false }
            state.running.insert(thread)
            return true
        }
    }

    /// Waits for every thread to end. If one of them makes this call, it is detached instead.
    package func joinAll() {
        let threads = state.withLock { state in
            defer { state = State() }
            return Array(state.running) + state.finished
        }
        for thread in threads {
            if thread == .current { thread.detach() } else { thread.join() }
        }
    }

    private func joinFinished() {
        let threads = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for thread in threads { thread.join() }
    }

    private func end(_ thread: SystemThread) {
        state.withLock { state in
            if state.running.remove(thread) != nil { state.finished.append(thread) }
        }
    }
}
