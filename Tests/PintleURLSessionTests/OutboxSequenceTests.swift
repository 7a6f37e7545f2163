import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import PintleURLSession

/// All sequences of what a transfer sends to an outbox, of the delegate's progress, and of the end.
@Suite("Pinned sessions: all sequences of a delegate's callbacks")
struct OutboxSequenceTests {
    private enum Step: String, CaseIterable {
        /// A question or a response.
        case callback
        case content, muchContent
        /// The first sent bytes of a transfer, and later ones.
        case sent, moreSent
        /// The delegate returns from one callback.
        case run
        /// The same, and content arrives while the delegate runs.
        case runWhileReceiving
        case close
    }

    private static let longest = ProcessInfo.processInfo.environment["PINTLE_ALL_STATES"] == nil ? 6 : 7

    @Test("Nothing is lost or doubled before the completion, nothing follows it, and each full backlog is relieved")
    func all() throws {
        let fixture = try Fixture()
        var count = 0
        var shortest: (fault: String, steps: [Step])?
        func extend(_ steps: [Step]) {
            count += 1
            if steps.count < shortest?.steps.count ?? .max, let fault = fixture.fault(after: steps) {
                shortest = (fault, steps)
            }
            guard steps.count < Self.longest else { return }
            // After the end, the rest of a transfer may still arrive, but the end does not come again.
            for step in Step.allCases where step != .close || !steps.contains(.close) { extend(steps + [step]) }
        }
        extend([])
        if let shortest { Issue.record("\(shortest.fault): \(shortest.steps.map(\.rawValue))") }
        print("outbox: \(count) sequences of up to \(Self.longest) steps")
    }

    /// A delegate queue that runs its callbacks when a test says so.
    private final class SteppedQueue: OperationQueue, @unchecked Sendable {
        private let blocks = Mutex<[@Sendable () -> Void]>([])

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            blocks.withLock { $0.append(block) }
        }

        /// - Returns: `false` if there is none.
        func runNext() -> Bool {
            let next = blocks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            next?()
            return next != nil
        }
    }

    /// The calls that the delegate got, and those that it had to get.
    private struct Log: Sendable {
        var sentNames: [Int] = []
        var names: [Int] = []
        var sentContent = Data()
        var content = Data()
        var sentBytes: Int64 = 0
        var bytes: Int64 = 0
        /// The amounts that were sent before the end.
        var due: (names: Int, content: Int, bytes: Int64)?
        var completions = 0
        var callsAfterEnd = 0
        var isHeld = false
    }

    private struct Fixture {
        private let queue = SteppedQueue()
        private let session: PinnedURLSession
        private let task: URLSessionTask

        init() throws {
            session = PinnedURLSession(
                source: LivePolicy(try SessionFixture().policy()), configuration: .ephemeral, delegate: nil,
                delegateQueue: queue)
            task = session.dataTask(with: try #require(URL(string: "https://localhost/")))
        }

        /// Performs the steps, lets the delegate catch up, and returns the broken law.
        func fault(after steps: [Step]) -> String? {
            let outbox = DelegateOutbox(session)
            outbox.task = task
            let record = Record()
            for (number, step) in steps.enumerated() { perform(step, UInt8(number), outbox, record) }
            while queue.runNext() {}
            return record.fault
        }

        private func perform(_ step: Step, _ number: UInt8, _ outbox: DelegateOutbox, _ record: Record) {
            switch step {
            case .callback:
                record.change { $0.sentNames.append(Int(number)) }
                outbox.send { _, _ in record.call { $0.names.append(Int(number)) } }
            case .content: Self.receive(number, 2, outbox, record)
            case .muchContent: Self.receive(number, DelegateOutbox.backlogLimit, outbox, record)
            case .sent, .moreSent:
                let total = record.change { log in
                    log.sentBytes += 7
                    return step == .sent ? 7 : log.sentBytes
                }
                outbox.sendSentBytes(7, TaskProgress(sent: total, expectedToSend: -1)) { piece, _, _ in
                    record.call { $0.bytes += piece.count }
                }
            case .run: _ = queue.runNext()
            case .runWhileReceiving:
                record.onCall.withLock { $0 = { Self.receive(number, 1, outbox, record) } }
                _ = queue.runNext()
                record.onCall.withLock { $0 = nil }
            case .close:
                record.change { $0.due = ($0.sentNames.count, $0.sentContent.count, $0.sentBytes) }
                outbox.close(isQueued: true) { record.change { $0.completions += 1 } }
            }
        }

        /// - Parameter count: the size of the content, which one byte stands for.
        private static func receive(_ byte: UInt8, _ count: Int, _ outbox: DelegateOutbox, _ record: Record) {
            let total = record.change { log in
                log.sentContent.append(byte)
                return Int64(log.sentContent.count)
            }
            let isFull = outbox.sendContent(Data([byte]), count: count, received: total) { piece, _, _ in
                record.call { $0.content.append(piece.data) }
            } relieve: {
                record.change { $0.isHeld = false }
            }
            if isFull { record.change { $0.isHeld = true } }
        }
    }

    private final class Record: Sendable {
        private let log = Mutex(Log())
        let onCall = Mutex<(@Sendable () -> Void)?>(nil)

        @discardableResult
        func change<Result: Sendable>(_ body: (inout Log) -> Result) -> Result { log.withLock { body(&$0) } }

        func call(_ body: (inout Log) -> Void) {
            change { log in
                body(&log)
                if log.completions > 0 { log.callsAfterEnd += 1 }
            }
            let next = onCall.withLock { action in
                defer { action = nil }
                return action
            }
            next?()
        }

        var fault: String? {
            let log = change { $0 }
            let due = log.due ?? (log.sentNames.count, log.sentContent.count, log.sentBytes)
            if log.completions != (log.due == nil ? 0 : 1) { return "\(log.completions) completions" }
            if log.callsAfterEnd > 0 { return "a call after the completion" }
            if !log.sentNames.starts(with: log.names) { return "calls out of order" }
            if log.names.count < due.names { return "a lost call" }
            if !log.sentContent.starts(with: log.content) { return "other content" }
            if log.content.count < due.content { return "lost content" }
            if log.bytes < due.bytes || log.bytes > log.sentBytes { return "\(log.bytes) of \(due.bytes) sent bytes" }
            if log.due == nil, log.isHeld { return "a transfer that is held for ever" }
            return nil
        }
    }
}
