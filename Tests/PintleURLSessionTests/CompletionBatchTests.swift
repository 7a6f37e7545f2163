import Foundation
import Synchronization
import Testing

@testable import PintleURLSession

@Suite("Completions of async calls are run together")
struct CompletionBatchTests {
    private let batch = CompletionBatch()
    private let log = Log()

    @Test("A completion outside of a turn runs at once")
    func outsideOfATurn() {
        batch.add { log.note("first") }
        #expect(log.entries == ["first"])
        batch.beginTurn()
        batch.endTurn()
        batch.add { log.note("second") }
        #expect(log.entries == ["first", "second"])
    }

    @Test("The only completion of a turn runs at its end, on the same thread")
    func oneInATurn() {
        batch.beginTurn()
        batch.add { log.note("only") }
        #expect(log.entries.isEmpty)
        batch.endTurn()
        #expect(log.entries == ["only"])
    }

    @Test("Several completions run in order, on a thread other than the loop's")
    func severalInATurn() {
        let loop = pthread_self()
        let done = DispatchSemaphore(value: 0)
        batch.beginTurn()
        for number in 1...3 {
            batch.add { [log] in log.note("\(number), \(pthread_equal(pthread_self(), loop) != 0)") }
        }
        batch.add { done.signal() }
        #expect(log.entries.isEmpty)
        batch.endTurn()
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(log.entries == ["1, false", "2, false", "3, false"])
    }

    @Test("A completion on a thread without a loop runs at once, also while a loop is in a turn")
    func otherThread() {
        batch.beginTurn()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread { [batch, log] in
            batch.add { log.note("other") }
            done.signal()
        }
        thread.start()
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(log.entries == ["other"])
        batch.endTurn()
    }

    @Test("Completions do not wait for tasks that fill Swift's pool")
    func fullPool() {
        let isOver = Atomic<Bool>(false)
        let (running, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        for _ in 0..<count {
            DispatchQueue.global().async {
                running.signal()
                while !isOver.load(ordering: .relaxed) { sched_yield() }
            }
        }
        #expect(running.wait(timeout: .now() + 60) == .success)
        batch.beginTurn()
        batch.add { done.signal() }
        batch.add {}
        batch.endTurn()
        #expect(done.wait(timeout: .now() + 60) == .success)
        isOver.store(true, ordering: .relaxed)
    }

    @Test("The end of any loop's turn runs the completions of all loops")
    func severalLoops() {
        batch.beginTurn()
        batch.beginTurn()
        batch.add { log.note("first") }
        batch.endTurn()
        #expect(log.entries == ["first"])
        batch.add { log.note("second") }
        #expect(log.entries == ["first"])
        batch.endTurn()
        #expect(log.entries == ["first", "second"])
    }

    @Test("A completion may add another one")
    func addsAnother() {
        batch.beginTurn()
        batch.add { batch.add { log.note("second") } }
        batch.endTurn()
        #expect(log.entries == ["second"])
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        var entries: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }
}
