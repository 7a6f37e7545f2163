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
