internal import Dispatch
internal import Glibc
internal import Synchronization

/// A collector of the completions of async calls. It runs the completions of one turn of a loop together.
///
/// A completion wakes a thread of Swift's pool, and on one processor that thread interrupts the loop. With many
/// requests at once, a change of threads for each completion takes longer than the completion itself.
///
/// Safe to use from any thread. The loops of one session share a batch, and the end of any turn runs all completions.
final class CompletionBatch: Sendable {
    typealias Completion = @Sendable () -> Void

    private struct State {
        /// The threads of the loops that are in a turn.
        var loops: [pthread_t] = []
        var completions: [Completion] = []
    }

    /// A queue with a thread of its own: a global queue would share its threads with Swift's tasks, so completions
    /// would wait for tasks that use the processor.
    private static let queue = DispatchQueue(label: "pintle.completions", qos: .userInitiated)

    private let state = Mutex(State())

    /// Begins a turn of the loop that runs on this thread.
    func beginTurn() { state.withLock { $0.loops.append(pthread_self()) } }

    /// Runs the completions: one on the calling thread, several one after the other on another thread.
    func endTurn() {
        let completions = state.withLock { state in
            if let index = state.loops.firstIndex(of: pthread_self()) { state.loops.remove(at: index) }
            defer { state.completions = [] }
            return state.completions
        }
        guard let first = completions.first else { return }
        if completions.count == 1 { return first() }
        Self.queue.async { for completion in completions { completion() } }
    }

    /// Runs a completion at the end of the turn if a loop calls this in its turn, and at once otherwise.
    func add(_ completion: @escaping Completion) {
        let isCollected = state.withLock { state in
            guard state.loops.contains(pthread_self()) else { return false }
            state.completions.append(completion)
            return true
        }
        if !isCollected { completion() }
    }
}
