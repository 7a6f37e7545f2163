import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import PintleURLSession
import Testing

/// nginx with HTTP/2, which most servers speak.
@Suite("Pinned sessions: HTTP/2")
struct SessionHTTP2Tests {
    @Test("Many requests share one HTTP/2 connection, and with a wrong pin none is sent")
    func multiplexing() async throws {
        let fixture = try SessionFixture()
        let nginx = try NginxServer(fixture.identity, listening: "http2", directives: "")
        try nginx.files.write(String(repeating: "x", count: 1_000_000), to: "index.html")
        let session = URLSession.pinned(to: try fixture.policy())
        _ = try await session.data(from: try nginx.address())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<32 {
                group.addTask { try await session.data(from: try nginx.address()).0.count }
            }
            for try await count in group { #expect(count == 1_000_000) }
        }
        let lines = try await nginx.requests(atLeast: 33)
        #expect(lines.count == 33)
        #expect(lines.allSatisfy { $0.hasPrefix("HTTP/2.0 ") })
        #expect(Set(lines).count == 1, "one connection")

        let bad = URLSession.pinned(to: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await bad.data(from: try nginx.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(try await nginx.requests(atLeast: 33).count == 33)
    }
}
