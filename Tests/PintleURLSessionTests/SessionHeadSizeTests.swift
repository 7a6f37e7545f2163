import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// The length of a request's head.
@Suite("Pinned sessions: long requests")
struct SessionHeadSizeTests {
    /// The place of the bytes that make a head long.
    enum Place: CaseIterable {
        case field, cookies, query, session
    }

    @Test(
        "A head above 128 KiB over TLS is refused before a connection, and one just below is sent",
        arguments: Place.allCases, ["GET", "POST"])
    func limit(place: Place, method: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server(stream: { Self.answer($0) })
        for (size, isSent) in [((127 << 10) - 100, true), (128 << 10, false)] {
            let long = String(repeating: "x", count: size)
            let configuration = URLSessionConfiguration.ephemeral
            if place == .session { configuration.httpAdditionalHeaders = ["X-Long": long] }
            var request = URLRequest(url: try server.address(place == .query ? "?\(long)" : ""), timeoutInterval: 20)
            request.httpMethod = method
            if place == .field { request.setValue(long, forHTTPHeaderField: "X-Long") }
            if place == .cookies { request.setValue(long, forHTTPHeaderField: "Cookie") }
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            let before = server.connectionCount
            let result = await Task { [request] in try await session.data(for: request) }.result
            #expect(server.connectionCount == before + (isSent ? 1 : 0))
            if isSent {
                #expect((try? result.get().0) == Data("ok".utf8), "\(result)")
            } else {
                let error = #expect(throws: URLError.self) { try result.get() }
                #expect(error?.refusal == .invalidRequest && error?.code == .badURL)
            }
        }
    }

    @Test("A longer head is sent over plain HTTP")
    func plain() async throws {
        let server = try LoopbackTCPServer { Self.answer($0) }
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
        request.setValue(String(repeating: "x", count: 600 << 10), forHTTPHeaderField: "X-Long")
        let session = URLSession.pinned(to: try SessionFixture().policy(), configuration: .ephemeral)
        #expect(try await session.data(for: request).0 == Data("ok".utf8))
    }

    private static func answer(_ stream: any ByteStream) {
        var end: [UInt8] = []
        while let piece = try? stream.read(upTo: 1 << 16), !piece.isEmpty {
            end = (end + piece).suffix(4)
            if end == [0x0D, 0x0A, 0x0D, 0x0A] { break }
        }
        try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".utf8))
    }
}
