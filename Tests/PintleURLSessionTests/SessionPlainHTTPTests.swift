import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// What goes without TLS, and what must not.
@Suite("Pinned sessions: plain http")
struct SessionPlainHTTPTests {
    @Test("Plain http goes only to hosts that the policy has nothing to say about")
    func plainHTTP() async throws {
        let stage = try Stage()
        let server = try LoopbackTCPServer { connection in
            _ = try? connection.read(upTo: 4_096)
            try? connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
        }
        let session = URLSession.pinned(to: try stage.policy())
        let error = await #expect(throws: URLError.self) {
            try await session.data(from: try #require(URL(string: "http://localhost:\(server.port)/")))
        }
        #expect(error?.refusal == .plainHTTP)
        let (data, response) = try await session.data(
            from: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
        #expect(data == Data("ok".utf8))
        #expect(response.trustReceipt == nil)
    }
}
