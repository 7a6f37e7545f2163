internal import PintleConsole
internal import PintleSystem
internal import PintleTestKit
internal import Synchronization

/// Runs jobs on a bounded number of threads. Results can be taken in any order.
///
/// These are threads and not tasks, because a job blocks while a client runs. Call ``close()`` at the end.
final class OrderedJobs<Value: Sendable>: Sendable {
    private struct State {
        /// The jobs that have not begun, the next one last.
        var waiting: [Int]
        var results: [Int: Value] = [:]
    }

    private let state: Mutex<State>
    private let cancelled = Atomic(false)
    private let threads = ThreadGroup()
    private let work: @Sendable (_ number: Int, _ isCancelled: () -> Bool) -> Value

    /// - Parameters:
    ///   - order: The numbers of the jobs in the order in which they begin.
    ///   - width: The number of jobs that run at the same time.
    ///   - work: Runs one job, on a thread of this object. The second parameter returns `true` when the job must end
    ///     early.
    init(
        _ order: [Int], atOnce width: Int,
        work: @escaping @Sendable (_ number: Int, _ isCancelled: () -> Bool) -> Value
    ) {
        state = Mutex(State(waiting: order.reversed()))
        self.work = work
        for _ in 0..<min(width, order.count) {
            _ = threads.start { [weak self] in
                while let self, self.runNext() {}
            }
        }
    }

    /// A Boolean value that indicates whether ``close()`` was called, or the user wants the tool to end.
    private var isCancelled: Bool { cancelled.load(ordering: .relaxed) || Interrupts.areAsking }

    /// Returns `false` if no job is left.
    private func runNext() -> Bool {
        guard !cancelled.load(ordering: .relaxed), let number = state.withLock({ $0.waiting.popLast() }) else {
            return false
        }
        let value = work(number) { isCancelled }
        state.withLock { $0.results[number] = value }
        return true
    }

    /// The number of jobs that have ended.
    var finishedCount: Int { state.withLock { $0.results.count } }

    /// Returns the result of a job that has ended.
    func finished(_ number: Int) -> Value? { state.withLock { $0.results[number] } }

    /// Waits for a job, and returns its result.
    ///
    /// - Parameter whileWaiting: Called about fifty times a second.
    func result(of number: Int, whileWaiting: () -> Void) -> Value {
        var rounds = 0
        while true {
            if let value = finished(number) { return value }
            if rounds % 10 == 0 { whileWaiting() }
            // The system may have no thread left.
            if threads.runningCount == 0, runNext() { continue }
            rounds += 1
            usleep(2_000)
        }
    }

    /// Ends the jobs that run, drops those that wait, and waits for the threads.
    func close() {
        cancelled.store(true, ordering: .relaxed)
        threads.joinAll()
    }
}
