import Testing

@testable import PintleAttacks
@testable import PintleTestKit

/// The connections of clients that the user starts.
@Suite("Attacks: devices")
struct DeviceTests {
    @Test("A client that is busy until a reachable server gives up has no verdict")
    func busyClient() throws {
        let scenario = try #require(try Catalogue(secondHost: nil)["name-constraint-bomb"])
        for isGivenUp in [false, true] {
            let log = ConnectionLog()
            var record = TLSConnectionRecord()
            record.hasBegunHandshake = true
            record.wasGivenUp = isGivenUp
            log.add(Server.Connection(record: record, role: .attack), to: scenario.id)
            #expect(log.outcome(of: scenario).verdict == (isGivenUp ? .inconclusive : .ended))
        }
    }

    @Test(
        "A connection that the end of the servers cut off is no refusal",
        arguments: ["expired", "name-constraint-bomb"])
    func cutOff(id: String) throws {
        let scenario = try #require(try Catalogue(secondHost: nil)[id])
        let log = ConnectionLog()
        log.end()
        var record = TLSConnectionRecord()
        record.hasBegunHandshake = true
        record.alertsReceived = [.init(isFatal: true, code: 45)]
        log.add(Server.Connection(record: record, role: .attack), to: id)
        let outcome = log.outcome(of: scenario)
        #expect(outcome.verdict == .inconclusive && outcome.remark == "a client was still waiting")
        #expect(log.removeEvents().events.isEmpty)
        // The twin: the client ended this connection itself.
        let earlier = ConnectionLog()
        earlier.add(Server.Connection(record: record, role: .attack), to: id)
        #expect(earlier.outcome(of: scenario).verdict == (id == "expired" ? .blocked : .ended))
        #expect(earlier.removeEvents().events.map(\.id) == [id])
    }

    @Test("A sequence brings an undecided attack again after the right server, at most twice")
    func repetitions() throws {
        let catalogue = try Catalogue(host: "api.example.com", secondHost: nil)
        for (undecided, expected) in [
            ([1], [0, 1, nil, 1, nil, 1, nil, nil]), ([], [0, 1, nil, nil, nil, nil, nil, nil]),
        ] {
            let order = ConnectionOrder(["expired", "wrong-host"].compactMap { catalogue[$0] }) {
                undecided.contains($0)
            }
            #expect(order.next() == nil)
            order.acceptControl()
            #expect((0..<8).map { _ in order.next() } == expected)
            #expect(!order.hasNext)
        }
    }

    @Test("A second connection decides only if no connection beside it stayed without an answer")
    func alone() throws {
        let scenario = try #require(try Catalogue(secondHost: nil)["trusted-interceptor"])
        let start = ContinuousClock.now
        func connection(_ begin: Int, _ end: Int, _ byteCount: Int = 0) -> Server.Connection {
            var record = TLSConnectionRecord()
            (record.hasBegunHandshake, record.isHandshakeComplete) = (true, true)
            (record.begin, record.end) = (start + .milliseconds(begin), start + .milliseconds(end))
            if byteCount > 0 { record.firstRequest = record.begin }
            record.requestByteCount = byteCount
            return Server.Connection(record: record, role: .attack)
        }
        for (others, verdict) in [
            ([], Outcome.Verdict.blocked), ([connection(5, 15)], .inconclusive),
            ([connection(5, 15, 80)], .blocked), ([connection(30, 40)], .blocked),
        ] {
            let traffic = Traffic()
            let (log, other) = (ConnectionLog(traffic), ConnectionLog(traffic))
            for connection in others { other.add(connection, to: "expired") }
            log.add(connection(0, 10), to: scenario.id)
            #expect(log.outcome(of: scenario).verdict == .inconclusive)
            log.add(connection(20, 29), to: scenario.id)
            #expect(log.outcome(of: scenario).verdict == verdict)
        }
    }

    @Test("A sequence gives a password request two connections, and other attacks one")
    func lengths() throws {
        let catalogue = try Catalogue(host: "api.example.com", secondHost: nil)
        let order = ConnectionOrder(["expired", "retry-after-401", "wrong-host"].compactMap { catalogue[$0] })
        #expect(order.next() == nil)
        order.acceptControl()
        #expect((0..<6).map { _ in order.next() } == [0, 1, 1, 2, nil, nil])
        #expect([0, 1, 2, 3].map { order.connection(of: $0) } == [2, 3, 5, nil])
    }
}
