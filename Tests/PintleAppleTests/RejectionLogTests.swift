import Foundation
import Pintle
import Testing

@testable import PintleApple

@Suite("Apple: reasons that wait for their task")
struct RejectionLogTests {
    private static func server(_ number: Int) throws -> (ServerEndpoint, URL) {
        let url = try #require(URL(string: "https://\(number).example.com/"))
        return (ServerEndpoint(host: try ServerName("\(number).example.com")), url)
    }

    private static func reason(_ log: RejectionLog, _ url: URL, since mark: Int) -> String? {
        let error = URLError(.cancelled, userInfo: [NSURLErrorFailingURLErrorKey: url])
        let explained = log.explain(error, url: url, since: mark) as? URLError
        return (explained?.userInfo[NSUnderlyingErrorKey] as? TrustRejection)?.reason
    }

    @Test("A full log removes only the reasons of the oldest servers")
    func bounded() throws {
        let log = RejectionLog(capacity: 8)
        let rejection = TrustRejection.invalidPath(PathFailure(.emptyChain, text: "none"))
        for number in 0..<100 { log.record(rejection, of: try Self.server(number).0) }
        for number in 0..<100 {
            #expect((Self.reason(log, try Self.server(number).1, since: 0) != nil) == (number >= 92))
        }
        // Repeats of a known server need no more room, and a server that is trusted again makes room.
        for _ in 0..<50 { log.record(rejection, of: try Self.server(99).0) }
        log.record(nil, of: try Self.server(95).0)
        log.record(rejection, of: try Self.server(200).0)
        for number in [92, 93, 94, 96, 97, 98, 99, 200] {
            #expect(Self.reason(log, try Self.server(number).1, since: 0) == "invalid-path", "\(number)")
        }
        #expect(Self.reason(log, try Self.server(95).1, since: 0) == nil)
        #expect(Self.reason(log, try Self.server(200).1, since: log.mark) == nil)
    }

    @Test("A web socket over TLS gets the reason of its server; other schemes get none")
    func webSocket() throws {
        let log = RejectionLog()
        log.record(.invalidPath(PathFailure(.emptyChain, text: "none")), of: try Self.server(1).0)
        for (scheme, reason) in [("wss", "invalid-path"), ("https", "invalid-path"), ("ws", nil), ("ftp", nil)] {
            let url = try #require(URL(string: "\(scheme)://1.example.com/"))
            #expect(Self.reason(log, url, since: 0) == reason, "\(scheme)")
        }
    }

    @Test("The recorded reason why a task is not sent is not overwritten by nil, and is for that task only")
    func refusal() throws {
        let log = RejectionLog()
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "http://localhost/"))
        let (refused, other) = (session.dataTask(with: url), session.dataTask(with: url))
        log.recordStart(of: refused, at: 0, refusal: URLError(.badURL))
        for task in [refused, other] { log.recordStart(of: task, at: 0, refusal: nil) }
        #expect(log.start(of: refused).refusal?.code == .badURL)
        #expect(log.start(of: other).refusal == nil)
        session.invalidateAndCancel()
    }

    @Test("Starts of tasks whose end is never reported are removed, oldest first")
    func starts() throws {
        let log = RejectionLog(capacity: 4)
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "https://localhost/"))
        let tasks = (0..<10).map { _ in session.dataTask(with: url) }
        for task in tasks { log.recordStart(of: task, at: 0, refusal: URLError(.badURL)) }
        #expect(
            tasks.map { log.start(of: $0).refusal != nil } == [Bool](repeating: false, count: 6) + [
                true, true, true, true,
            ])
        session.invalidateAndCancel()
    }

    private final class Marked: Sendable {}

    @Test("An object at the address of a freed one does not get its value")
    func reusedAddress() {
        var table = WeakTable<Marked, Int>(capacity: 8)
        var reused = 0
        for number in 0..<1_000 {
            var first: Marked? = Marked()
            let address = first.map { ObjectIdentifier($0) }
            if let first { table[first] = number }
            #expect(first.flatMap { table[$0] } == number)
            first = nil
            // The allocator reuses freed memory, mostly at once.
            let second = Marked()
            if ObjectIdentifier(second) == address { reused += 1 }
            #expect(table[second] == nil && table.removeValue(for: second) == nil)
            table[second] = -1
            #expect(table.removeValue(for: second) == -1 && table.removeValue(for: second) == nil)
        }
        #expect(reused > 0)
    }

    @Test("The newest living objects stay in the table; up to an eighth more may stay until it shrinks")
    func capacity() {
        var table = WeakTable<Marked, Int>(capacity: 64)
        let objects = (0..<1_000).map { _ in Marked() }
        for (number, object) in objects.enumerated() {
            table[object] = number
            let places = objects[...number].suffix(80).map { table[$0] != nil }
            #expect(places.suffix(64).allSatisfy { $0 })
            #expect(places.count { $0 } <= 72)
        }
    }

    @Test("Freed objects take no room from living ones")
    func freed() {
        var table = WeakTable<Marked, Int>(capacity: 4)
        let living = (0..<3).map { _ in Marked() }
        for (number, object) in living.enumerated() {
            table[object] = number
            for _ in 0..<10 { table[Marked()] = -1 }
        }
        #expect(living.map { table[$0] } == [0, 1, 2])
    }
}
