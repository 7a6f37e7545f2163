import Foundation
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

@testable import PintleURLSession

/// A task that ignores what happens to its transfer.
final class NoEvents: TransferEvents {
    func transfer(_ transfer: Transfer, didSend count: Int) {}
    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold { [] }
    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold? { [] }
    func transfer(_ transfer: Transfer, didComplete failure: TransferError?) {}
}

/// The queue of a server that has refused a request over HTTP/2. The connections are made up.
@Suite("Pinned sessions: the queue of a server that refuses")
struct HostQueueTests {
    private let generation: PolicyGeneration
    private let url: CurlURL

    init() throws {
        let policy = try SessionFixture().policy()
        generation = PolicyGeneration(policy.current, of: policy, validator: PathValidator())
        url = try CurlURL("https://localhost/")
    }

    private func judge(hasAnswered: Bool, last: UInt32 = .max) -> HandshakeJudge {
        let judge = HandshakeJudge(
            of: url.endpoint, in: generation, receipts: .written,
            reading: ReadBudget(ReadLimits(), countedBy: TurnCounter()))
        (judge.hasAnswered, judge.lastStream) = (hasAnswered, last)
        return judge
    }

    private func connection(_ judge: HandshakeJudge, at start: Double? = nil) -> Transfer.Connection {
        Transfer.Connection(
            judge: judge, facts: nil, isStream: true, isKept: false, at: start ?? ProcessInfo.processInfo.systemUptime
        )
    }

    private func next(in queues: HostQueues) -> Transfer? {
        queues.hosts[url.endpoint].flatMap { queues.next(for: $0) }
    }

    private func transfer() -> Transfer {
        Transfer(
            TransferRequest(url: url), in: generation, options: CurlTransport.Options(), countedBy: TurnCounter(),
            events: NoEvents())
    }

    /// Returns a cautious queue with some running transfers, one for each connection, and one that waits. `nil` is a
    /// transfer that still connects.
    private func queue(_ connections: [Transfer.Connection?]) throws -> HostQueues {
        let queues = HostQueues(limit: 6)
        for connection in connections {
            let running = transfer()
            queues.add(running)
            #expect(next(in: queues) === running)
            running.state.phase = connection.map { .sent($0) } ?? .connecting(TunnelReader())
        }
        let waiting = transfer()
        queues.add(waiting)
        queues.noteRefusal(of: waiting)
        return queues
    }

    @Test(
        "A transfer that connects holds the next one back only if no connection has answered", arguments: [true, false])
    func connecting(hasOther: Bool) throws {
        let queues = try queue([nil] + (hasOther ? [connection(judge(hasAnswered: true))] : []))
        #expect((next(in: queues) != nil) == hasOther)
    }

    @Test("A connection that has announced its end is none for the next request", arguments: [1, .max] as [UInt32])
    func ending(last: UInt32) throws {
        let queues = try queue([nil, connection(judge(hasAnswered: true, last: last))])
        #expect((next(in: queues) != nil) == (last == .max))
    }

    @Test("A connection that has not answered holds the next request back for a second", arguments: [0, 1.5])
    func silent(seconds: Double) throws {
        let start = ProcessInfo.processInfo.systemUptime - seconds
        let queues = try queue([connection(judge(hasAnswered: false), at: start)])
        #expect((next(in: queues) != nil) == (seconds > 1))
    }

    @Test("Transfers that share a connection count once, until the last of them has left it", arguments: [1, 2])
    func sharedConnections(count: Int) throws {
        let queues = HostQueues(limit: 2)
        let judges = (0..<count).map { _ in judge(hasAnswered: true) }
        let running = (0..<2).map { _ in transfer() }
        for (index, transfer) in running.enumerated() {
            queues.add(transfer)
            #expect(next(in: queues) === transfer)
            let judge = judges[index % count]
            transfer.state.phase = .sent(connection(judge))
            transfer.host?.addStream(isOnly: judge.addTransfer())
        }
        // Each of these may need a connection of its own.
        let others = (0..<3).map { _ in transfer() }
        for other in others { queues.add(other) }
        #expect(next(in: queues) === others[0])
        #expect((next(in: queues) === others[1]) == (count == 1))
        // One shared connection does not count, so its end frees no place. Of two, one counts.
        for transfer in running {
            transfer.leaveConnection()
            queues.leave(transfer)
        }
        #expect((next(in: queues) === others[1]) == (count == 2))
        #expect(next(in: queues) == nil)
    }

    /// Ways in which a transfer that runs leaves the next one to itself, or does not.
    enum Other: CaseIterable {
        case none, sent, connecting, silent, answered
    }

    @Test(
        "A request that would fail with another refusal is sent while no other one waits for its response",
        arguments: Other.allCases, [Transfer.refusalLimit, Transfer.refusalLimit - 1])
    func lastAttempt(other: Other, refusals: Int) throws {
        let queues = HostQueues(limit: 6)
        if other != .none {
            let running = transfer()
            queues.add(running)
            #expect(next(in: queues) === running)
            running.state.phase =
                other == .connecting ? .connecting(TunnelReader()) : .sent(connection(judge(hasAnswered: true)))
            if other == .silent {
                let start = ProcessInfo.processInfo.systemUptime - 1.5
                running.state.phase = .sent(connection(judge(hasAnswered: true), at: start))
            }
            if other == .answered { answer(running) }
            queues.noteRefusal(of: running)
        }
        let last = transfer()
        last.refusals = refusals
        queues.add(last, isFirst: true)
        let mayStart = other != .connecting && (other != .sent || refusals < Transfer.refusalLimit)
        #expect((next(in: queues) === last) == mayStart)
    }

    @Test(
        "While the last attempt of a request waits for its response, no other request is sent",
        arguments: [true, false], [Transfer.refusalLimit, Transfer.refusalLimit - 1])
    func behindLastAttempt(isAnswered: Bool, refusals: Int) throws {
        let queues = HostQueues(limit: 6)
        let last = transfer()
        last.refusals = refusals
        queues.add(last)
        #expect(next(in: queues) === last)
        last.state.phase = .sent(connection(judge(hasAnswered: true)))
        if isAnswered { answer(last) }
        queues.add(transfer())
        #expect((next(in: queues) != nil) == (isAnswered || refusals < Transfer.refusalLimit))
    }

    private func answer(_ transfer: Transfer) {
        for line in ["HTTP/2 200 \r\n", "\r\n"] {
            _ = Array(line.utf8).withUnsafeBytes { transfer.state.head.read($0, isStream: true) }
        }
    }

    @Test(
        "The caution ends with a response over a connection that has refused nothing",
        arguments: ["answered", "refused", "ending", "unfinished"])
    func end(kind: String) throws {
        let judge = judge(hasAnswered: true, last: kind == "ending" ? 1 : .max)
        judge.hasRefused = kind == "refused"
        let queues = HostQueues(limit: 6)
        let (answered, refused, connecting) = (transfer(), transfer(), transfer())
        for running in [answered, refused, connecting] {
            queues.add(running)
            #expect(next(in: queues) === running)
        }
        answered.state.phase = .sent(connection(judge))
        answer(answered)
        try #require(answered.hasHead)
        // A request that was refused once and has no response yet.
        refused.refusals = kind == "unfinished" ? 1 : 0
        queues.noteRefusal(of: refused)
        queues.add(transfer())
        #expect(queues.heldBack.contains { $0.endpoint == url.endpoint })
        queues.leave(answered)
        #expect(queues.heldBack.contains { $0.endpoint == url.endpoint } == (kind != "answered"))
        #expect((next(in: queues) != nil) == (kind == "answered"))
    }
}
