import Foundation
import FoundationNetworking
import Pintle
import Synchronization
import Testing

@testable import PintleURLSession

/// The order and the size of a delegate's callbacks, without a transfer.
@Suite("Pinned sessions: the delegate's outbox")
struct DelegateOutboxTests {
    /// An outbox whose queue is suspended until ``run()``, and the list of the callbacks that ran.
    private final class Fixture: Sendable {
        let outbox: DelegateOutbox
        let queue: OperationQueue
        // Kept here, because the outbox does not keep its task alive.
        private let task: URLSessionTask
        private let session: PinnedURLSession
        private let log = Mutex<[String]>([])
        var events: [String] { log.withLock { $0 } }

        init() throws {
            queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = true
            session = PinnedURLSession(
                source: LivePolicy(try SessionFixture().policy()), configuration: .ephemeral, delegate: nil,
                delegateQueue: queue
            )
            task = session.dataTask(with: try #require(URL(string: "https://localhost/")))
            outbox = DelegateOutbox(session)
            outbox.task = task
        }

        func note(_ event: String) { log.withLock { $0.append(event) } }

        func send(_ name: String) { outbox.send { [self] _, _ in note(name) } }

        /// - Returns: `true` if the backlog is over its limit.
        func sendContent(_ data: Data?, count: Int? = nil, received: Int64 = 0) -> Bool {
            outbox.sendContent(data, count: count ?? data?.count ?? 0, received: received) { [self] piece, _, _ in
                let text = piece.count > 100 ? "" : String(decoding: piece.data, as: UTF8.self)
                note("content \(text) \(piece.count) of \(piece.received)")
            } relieve: { [self] in
                note("relieve")
            }
        }

        func sendText(_ text: String, received: Int64) {
            #expect(!sendContent(Data(text.utf8), received: received))
        }

        func sendSent(_ count: Int64, total: Int64) {
            outbox.sendSentBytes(count, TaskProgress(sent: total, expectedToSend: 9)) { [self] piece, _, _ in
                note("sent \(piece.count), \(piece.total) of \(piece.expected)")
            }
        }

        func close(isQueued: Bool = true) { outbox.close(isQueued: isQueued) { [self] in note("completion") } }

        /// Cancels the task, which the session would otherwise keep, and lets the queue run empty.
        func end() {
            queue.isSuspended = false
            session.invalidateAndCancel()
        }

        func run() async {
            queue.isSuspended = false
            await withCheckedContinuation { done in queue.addOperation { done.resume() } }
        }
    }

    @Test("The completion runs behind all queued callbacks, and no callback runs after it", arguments: [true, false])
    func order(isClosed: Bool) async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        fixture.send("first")
        fixture.sendText("ab", received: 2)
        fixture.sendSent(3, total: 3)
        if isClosed { fixture.close() }
        fixture.send("second")
        fixture.sendText("cd", received: 4)
        fixture.sendSent(4, total: 4)
        await fixture.run()
        fixture.send("third")
        await fixture.run()
        let before = ["first", "content ab 2 of 2"]
        if isClosed {
            // The bytes sent after the close belong to another transfer, whose callback does not run.
            #expect(fixture.events == before + ["sent 3, 3 of 9", "completion"])
        } else {
            #expect(
                fixture.events == before + ["sent 3, 3 of 9", "second", "content cd 2 of 4", "sent 4, 4 of 9", "third"])
        }
    }

    @Test("Content joins a queued piece, but not a piece with another callback behind it", arguments: [true, false])
    func joining(isInterrupted: Bool) async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        fixture.sendText("ab", received: 2)
        if isInterrupted { fixture.send("other") }
        fixture.sendText("cd", received: 4)
        await fixture.run()
        fixture.sendText("ef", received: 6)
        await fixture.run()
        let pieces = isInterrupted ? ["content ab 2 of 2", "other", "content cd 2 of 4"] : ["content abcd 4 of 4"]
        #expect(fixture.events == pieces + ["content ef 2 of 6"])
    }

    @Test("Content that is already in a file joins a piece by its size")
    func joiningInFile() async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        #expect(!fixture.sendContent(nil, count: 3, received: 3))
        #expect(!fixture.sendContent(nil, count: 4, received: 7))
        await fixture.run()
        #expect(fixture.events == ["content  7 of 7"])
    }

    @Test("Sent bytes of one transfer join; the first bytes of the next transfer do not")
    func joiningSent() async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        fixture.sendSent(2, total: 2)
        fixture.sendSent(3, total: 5)
        fixture.sendSent(4, total: 4)
        await fixture.run()
        #expect(fixture.events == ["sent 5, 5 of 9", "sent 4, 4 of 9"])
    }

    @Test(
        "The backlog is full over its limit, and the relieve callback runs once it is within the limit again",
        arguments: [0, 1])
    func backlog(excess: Int) async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        let limit = DelegateOutbox.backlogLimit
        #expect(!fixture.sendContent(nil, count: limit, received: Int64(limit)))
        fixture.send("other")
        // A piece costs at least a kilobyte, so this one is over the limit. It joins no other piece.
        #expect(fixture.sendContent(nil, count: 1, received: Int64(limit) + 1))
        await fixture.run()
        #expect(fixture.events == ["content  \(limit) of \(limit)", "relieve", "other", "content  1 of \(limit + 1)"])
        // The backlog is empty again: content up to the limit fits.
        #expect(fixture.sendContent(nil, count: limit + excess, received: 0) == (excess > 0))
        await fixture.run()
        #expect(fixture.events.filter { $0 == "relieve" }.count == 1 + excess)
    }

    @Test("Pieces of one byte also fill the backlog", arguments: [1_024, 1_025])
    func smallPieces(count: Int) throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        var isFull = false
        for _ in 0..<count {
            isFull = fixture.sendContent(nil, count: 1)
            fixture.send("other")
        }
        #expect(isFull == (count > 1_024))
    }

    @Test(
        "An async call completes at once, and its delegate still gets the callbacks queued before",
        arguments: [true, false])
    func unqueuedClose(hasDelegate: Bool) async throws {
        let fixture = try Fixture()
        defer { fixture.end() }
        if hasDelegate { fixture.outbox.taskDelegate = Recorder() }
        fixture.send("first")
        let waiting = fixture.queue.operationCount
        fixture.close(isQueued: false)
        #expect(fixture.events == ["completion"])
        // Without a delegate there is no callback to stop.
        #expect(fixture.queue.operationCount == waiting + (hasDelegate ? 1 : 0))
        fixture.send("second")
        await fixture.run()
        #expect(fixture.events == ["completion", "first"] + (hasDelegate ? [] : ["second"]))
    }
}
