import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Web sockets are Foundation's own tasks, so the guard has to stop them.
@Suite("Pinned sessions: web sockets")
struct SessionWebSocketTests {
    /// A client that takes the place of Foundation's loader and records its calls.
    private final class Listener: NSObject, URLProtocolClient, Sendable {
        let error = Mutex<(any Error)?>(nil)
        let others = Mutex(0)

        func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
            self.error.withLock { $0 = error }
        }

        func urlProtocol(
            _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
        ) { others.withLock { $0 += 1 } }
        func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
            others.withLock { $0 += 1 }
        }
        func urlProtocol(
            _ protocol: URLProtocol, didReceive response: URLResponse,
            cacheStoragePolicy policy: URLCache.StoragePolicy
        ) { others.withLock { $0 += 1 } }
        func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { others.withLock { $0 += 1 } }
        func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { others.withLock { $0 += 1 } }
        func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
            others.withLock { $0 += 1 }
        }
        func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
            others.withLock { $0 += 1 }
        }
    }

    // If libcurl has no web sockets, Foundation refuses them itself before it asks the guard, with its own error text.
    @Test("A web socket fails without a connection to the server; a data task beside it works")
    func task() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = Recorder()
        let session: URLSession = .pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let socket = session.webSocketTask(with: try #require(URL(string: "wss://localhost:\(server.port)/")))
        await recorder.run(socket)
        #expect(recorder.events == ["complete"])
        #expect((recorder.log.withLock { $0.error } as? URLError)?.code == .unsupportedURL)
        await #expect(throws: (any Error).self) { try await socket.send(.string("secret")) }
        await #expect(throws: (any Error).self) { try await socket.receive() }
        #expect(server.connectionCount == 0)
        #expect(try await session.data(from: try server.address()).0.count == 3)
    }

    @Test("A web socket that was not resumed refuses to send and to receive, and names the way out")
    func unresumed() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session: URLSession = .pinned(to: try fixture.policy(), configuration: .ephemeral)
        let url = try #require(URL(string: "wss://localhost:\(server.port)/"))
        for socket in [
            session.webSocketTask(with: url), session.webSocketTask(with: url, protocols: ["chat"]),
            session.webSocketTask(with: URLRequest(url: url)),
        ] {
            let sent = await #expect(throws: URLError.self) { try await socket.send(.string("secret")) }
            #expect(sent?.refusal == .unsupportedFeature && sent?.localizedDescription.contains("PintleNIO") == true)
            let received = await #expect(throws: URLError.self) { try await socket.receive() }
            #expect(received?.refusal == .unsupportedFeature)
        }
        #expect(server.connectionCount == 0)
    }

    @Test("A data task with the scheme of a web socket names a way out that pins", arguments: ["ws", "wss"])
    func scheme(_ scheme: String) async throws {
        let session = URLSession.pinned(to: try SessionFixture().policy(), configuration: .ephemeral)
        let url = try #require(URL(string: "\(scheme)://localhost/"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.refusal == .unsupportedScheme)
        #expect(error?.localizedDescription.contains("PintleNIO") == true)
    }

    @Test(
        "The guard is the first protocol class, accepts every request and fails it",
        arguments: ["wss", "ws", "https", "http", "x"])
    func guardTakesAll(scheme: String) throws {
        let session = URLSession.pinned(to: try SessionFixture().policy())
        #expect(session.configuration.protocolClasses?.first == PinningURLProtocol.self)
        let request = URLRequest(url: try #require(URL(string: "\(scheme)://localhost:1/")))
        #expect(PinningURLProtocol.canInit(with: request))
        let listener = Listener()
        PinningURLProtocol(request: request, cachedResponse: nil, client: listener).startLoading()
        let error = try #require(listener.error.withLock { $0 })
        #expect(SessionError.Code(in: error) == (scheme.hasPrefix("ws") ? .unsupportedFeature : .stockLoader))
        #expect(error.localizedDescription.contains("web socket") == scheme.hasPrefix("ws"))
        #expect(listener.others.withLock { $0 } == 0)
    }
}
