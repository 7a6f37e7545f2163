internal import Glibc
internal import Synchronization

/// Threads that their owner joins before it is released, so that no thread outlives a test.
///
/// These are POSIX threads and not tasks, because servers block. Swift's pool has one thread a core, and the tests themselves
/// may block all of them.
package final class ThreadGroup: Sendable {
    private struct State {
        var running: Set<pthread_t> = []
        var finished: [pthread_t] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var runningCount: Int { state.withLock { $0.running.count } }

    /// Starts a thread. Returns `false` if the system cannot.
    package func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        joinFinished()
        let entry = Unmanaged.passRetained(Entry(group: self, body: body))
        // Under the lock, so that a thread that ends at once is listed before it reports its end.
        let started = state.withLock { state in
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { pointer in
                    guard let pointer else { return nil }
                    let entry = Unmanaged<Entry>.fromOpaque(pointer).takeRetainedValue()
                    entry.body()
                    entry.group.end(pthread_self())
                    return nil
                }, entry.toOpaque())
            guard code == 0 else { return false }
            state.running.insert(thread)
            return true
        }
        if !started { entry.release() }
        return started
    }

    /// Waits for every thread to end. If one of them makes this call, it is detached instead.
    package func joinAll() {
        let threads = state.withLock { state in
            defer { state = State() }
            return Array(state.running) + state.finished
        }
        for thread in threads {
            if pthread_equal(thread, pthread_self()) != 0 {
                pthread_detach(thread)
            } else {
                pthread_join(thread, nil)
            }
        }
    }

    private func joinFinished() {
        let threads = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for thread in threads { pthread_join(thread, nil) }
    }

    private func end(_ thread: pthread_t) {
        state.withLock { state in
            if state.running.remove(thread) != nil { state.finished.append(thread) }
        }
    }

    private final class Entry: Sendable {
        let group: ThreadGroup
        let body: @Sendable () -> Void

        init(group: ThreadGroup, body: @escaping @Sendable () -> Void) {
            self.group = group
            self.body = body
        }
    }
}
