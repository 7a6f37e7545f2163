import Foundation
import HTTPClient
import PintleNIO
import PintleTestKit
import Testing

@Suite("The exchange of the example's client")
struct ExchangeTests {
    @Test("A response that ends in time is complete")
    func inTime() async throws {
        let fixture = try Self.fixture(bytes: 10)
        let client = PinnedHTTP(try PinnedTLS(policy: fixture.policy), limit: .seconds(30))
        #expect(try await client.get("/", from: fixture.endpoint).body.count == 10)
    }

    @Test("A response that comes byte by byte ends at the time limit, and so does its connection")
    func late() async throws {
        let fixture = try Self.fixture(bytes: 1_000)
        let client = PinnedHTTP(try PinnedTLS(policy: fixture.policy), limit: .seconds(1))
        await #expect(throws: PinnedHTTP.TimedOut.self) { try await client.get("/", from: fixture.endpoint) }
        // NIOSSL waits five seconds for the server's close_notify. The server writes for twenty.
        #expect(fixture.server.waitUntilClosed(seconds: 12))
    }

    /// Returns a server that pauses less between two bytes than a client could forbid.
    private static func fixture(bytes count: Int) throws -> Fixture {
        try Fixture {
            $0.serve { stream in
                _ = try? stream.read(exactly: 1)
                try? stream.write(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8))
                for _ in 0..<count {
                    guard (try? stream.write([0x2E])) != nil else { return }
                    usleep(20_000)
                }
            }
        }
    }
}
