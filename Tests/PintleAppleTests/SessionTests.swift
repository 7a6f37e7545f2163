import Foundation
import PintleApple
import PintleEvents
import PintleStorage
import PintleTestKit
import PintleURLSession
import Testing

/// Real servers, and the session that `URLSession.pinned(to:)` makes.
@Suite("Apple: pinned sessions")
struct SessionTests {
    @Test(
        "The right pin gets the response; a wrong pin gets nothing, and the server gets no byte",
        arguments: [true, false])
    func pin(isSystem: Bool) async throws {
        let fixture = try SessionFixture(isSystem: isSystem)
        let anchors: TrustAnchors? = isSystem ? .system : nil
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy(anchors: anchors))
        #expect(try await session.data(from: try server.address()).0 == Data("ok\n".utf8))

        let interceptor = try fixture.server()
        let refusing = URLSession.pinned(to: try fixture.policy(rightPin: false, anchors: anchors))
        let error = await #expect(throws: URLError.self) {
            try await refusing.data(from: try interceptor.address())
        }
        #expect(error?.code == .serverCertificateUntrusted)
        guard case .pinMismatch(let mismatch) = TrustRejection(underlying: try #require(error)) else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(mismatch.endpoint.port == interceptor.port)
        #expect(error?.localizedDescription.contains("add one of the served pins") == true)
        #expect(interceptor.waitUntilClosed())
        #expect(interceptor.requestByteCount == 0)
    }

    @Test("An address that leads past the rules for this machine gets no request, with TLS or without")
    func alias() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let identity = try fixture.root.issue(hosts: ["127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "::"])
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let plain = try LoopbackTCPServer.http()
        let session = URLSession.pinned(to: try PinningPolicy(hosts: []))
        for host in ["0.0.0.0", "[::]", "[::ffff:127.0.0.1]"] {
            for text in ["https://\(host):\(server.port)/", "http://\(host):\(plain.port)/"] {
                let url = try #require(URL(string: text))
                let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                #expect(error?.code == .badURL)
                #expect((error?.userInfo[NSUnderlyingErrorKey] as? SessionError)?.code == .invalidRequest, "\(text)")
            }
        }
        #expect(server.connectionCount == 0 && plain.connectionCount == 0)
        for text in ["https://127.0.0.1:\(server.port)/", "http://127.0.0.1:\(plain.port)/"] {
            let url = try #require(URL(string: text))
            #expect((try await session.data(from: url).1 as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    @Test("An untrusted path is refused before any pin, with the failure as the reason")
    func path() async throws {
        let fixture = try SessionFixture()
        let session = URLSession.pinned(to: try fixture.policy())
        let stranger = try SessionFixture().server()
        let error = await #expect(throws: URLError.self) { try await session.data(from: try stranger.address()) }
        #expect(error?.code == .serverCertificateHasUnknownRoot)
        #expect(TrustRejection(underlying: try #require(error))?.pathFailure?.code == .untrustedRoot)
        let own = try fixture.server()
        #expect(try await session.data(from: try own.address()).0.count == 3)
    }

    @Test("An error that is not about trust has no rejection")
    func otherErrors() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let url = try server.address()
        server.close()
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try fixture.policy()).data(from: url)
        }
        #expect(TrustRejection(underlying: try #require(error)) == nil)
    }

    @Test("Another policy applies at once, in another system session")
    func replaced() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy)
        let first = session.current
        _ = try await session.data(from: try server.address())
        #expect(session.current === first)
        policy.replace(with: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(session.current !== first)
        policy.replace(with: try fixture.policy())
        #expect(try await session.data(from: try server.address()).0.count == 3)
    }

    @Test("A request fails, the user approves, and the next request succeeds")
    func loop() async throws {
        let identity = try Identity.selfSigned()
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let store = TrustApprovalStore()
        let session = URLSession.pinned(
            to: ApprovedPolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store))
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        guard case .unknownHost(let host) = TrustRejection(underlying: try #require(error)) else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
        try store.approve(host)
        #expect(try await session.data(from: try server.address()).0.count == 3)
        try store.revoke(host.endpoint)
        let again = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(again))?.reason == "unknown-host")
    }

    @Test("An observer gets a refusal, but not a trusted connection")
    func observed() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for (isRight, reasons) in [(true, []), (false, ["pin-mismatch"])] {
            let observer = Observer()
            let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight), observer: observer)
            _ = try? await session.data(from: try server.address())
            for _ in 0..<500 where observer.reasons != reasons { try await Task.sleep(for: .milliseconds(10)) }
            #expect(observer.reasons == reasons)
        }
    }
}

private final class Observer: TrustEventObserver {
    private let state = Locked<[String]>([])

    var reasons: [String] { state.withLock { $0 } }

    func observe(_ event: TrustEvent) {
        guard case .verdict(let failure) = event else { return }
        state.withLock { $0.append(failure.decision.reason) }
    }
}
