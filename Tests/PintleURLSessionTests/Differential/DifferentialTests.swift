import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

/// The same requests through Foundation's own session and through a pinned one without a rule for the host.
@Suite("Pinned sessions: beside Foundation's", .serialized)
struct DifferentialTests {
    @Test(
        "Caller and server observe the same as with Foundation, except for the deliberate differences",
        arguments: Exchanges.all)
    func same(exchange: Exchange) async throws {
        let policy = try SessionFixture().unpinned(["unused.example"])
        let pinned = try await ExchangeRun(exchange: exchange) {
            URLSession.pinned(to: policy, configuration: $0, delegate: $1)
        }.observe().aspects
        let difference = DeliberateDifference.all[exchange.name]
        for (aspect, expected) in difference?.pinned ?? [:] {
            #expect(pinned[aspect] ?? "" == expected, "\(aspect): \(difference?.reason ?? "")")
        }
        guard difference?.stock ?? .answers == .answers else { return }
        let stock = try await ExchangeRun(exchange: exchange) {
            URLSession(configuration: $0, delegate: $1, delegateQueue: nil)
        }.observe().aspects
        for aspect in Set(pinned.keys).union(stock.keys).sorted() {
            let (ours, theirs) = (pinned[aspect] ?? "", stock[aspect] ?? "")
            let comment: Comment = "\(aspect)\nstock:  \(theirs)\npinned: \(ours)"
            // A difference that no longer exists has to leave the table too.
            #expect((ours != theirs) == (difference?.pinned[aspect] != nil), comment)
        }
    }

    @Test("Each deliberate difference belongs to an exchange")
    func table() {
        let names = Exchanges.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(DeliberateDifference.all.keys).subtracting(names).isEmpty)
    }
}
