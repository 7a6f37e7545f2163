import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleURLSession

/// mitmproxy between a session and a server, on a machine that trusts mitmproxy's authority. Every test counts the
/// bytes that the proxy decrypts, and has a control without pins that gets through.
@Suite(
    "Pinned sessions: a real interceptor",
    .enabled(if: Mitmproxy.program != nil, "skipped: mitmproxy is not installed; make test installs it"))
struct SessionInterceptorTests {
    private let fixture: SessionFixture
    private let server: LoopbackTLSServer

    init() throws {
        fixture = try SessionFixture()
        server = try fixture.server { .text("\($0.method) \($0.body.count)") }
    }

    private func start(_ mode: Mitmproxy.Mode) async throws -> Mitmproxy {
        try await aside { [server, fixture] in
            try Mitmproxy(mode, before: server.port, trusting: fixture.root.certificate.pem)
        }
    }

    private func traffic(_ proxy: Mitmproxy, after refusals: Int) async throws -> Mitmproxy.Traffic {
        try await aside { proxy.traffic(after: refusals) }
    }

    /// Returns a policy that trusts both authorities, with the server's pin or without pins.
    private func policy(_ proxy: Mitmproxy, isPinned: Bool) throws -> PinningPolicy {
        let authorities = try CertificateBundle(Array((fixture.root.certificate.pem + proxy.authority()).utf8))
        let anchors = TrustAnchors.only(authorities.certificates)
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: fixture.identity.certificate.spkiDER)))
        return try PinningPolicy(
            hosts: ["localhost", "127.0.0.1"].map {
                try PinnedHost($0, pins: isPinned ? [pin] : [], backup: .noneAccepted, anchors: anchors)
            })
    }

    private func session(_ policy: some PolicySource, through proxy: UInt16? = nil) -> PinnedURLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary =
            proxy.map { ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int($0)] } ?? [:]
        return .pinned(to: policy, configuration: configuration)
    }

    private func expectMismatch(_ body: () async throws -> Data) async throws {
        let error = await #expect(throws: URLError.self) { try await body() }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
    }

    @Test("The interceptor gets no byte of a pinned request, in no style of task", arguments: Mitmproxy.Mode.allCases)
    func styles(mode: Mitmproxy.Mode) async throws {
        let proxy = try await start(mode)
        let way = mode == .regular ? proxy.port : nil
        let port = mode == .regular ? server.port : proxy.port
        var request = URLRequest(url: try #require(URL(string: "https://localhost:\(port)/")))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("session=secret", forHTTPHeaderField: "Cookie")

        let pinned = session(LivePolicy(try policy(proxy, isPinned: true)), through: way)
        for (count, style) in TaskStyle.allCases.enumerated() {
            try await expectMismatch { try await style.run(on: pinned, request) }
            #expect(try await traffic(proxy, after: count + 1) == .init(refusals: count + 1), "\(style)")
        }
        #expect(server.requestByteCount == 0)

        let open = session(LivePolicy(try policy(proxy, isPinned: false)), through: way)
        for style in TaskStyle.allCases {
            let answer = style.isUpload ? "PUT \(TaskStyle.content.count)" : "GET 0"
            #expect(try await style.run(on: open, request) == Data(answer.utf8), "\(style)")
        }
        let traffic = proxy.traffic()
        #expect(traffic.requests.count == TaskStyle.allCases.count)
        #expect(traffic.bytes > 1_000)
    }

    @Test(
        "A redirect to the interceptor is refused before any byte is sent",
        arguments: [TaskStyle.dataAsync, .uploadDataCompletion, .downloadDelegate])
    func redirect(style: TaskStyle) async throws {
        let proxy = try await start(.reverse)
        let genuine = try fixture.server { [proxy] _ in .redirect(to: "https://localhost:\(proxy.port)/", status: 307) }
        let request = URLRequest(url: try genuine.address(host: "127.0.0.1"))

        try await expectMismatch {
            try await style.run(on: session(LivePolicy(try policy(proxy, isPinned: true))), request)
        }
        #expect(genuine.requests.count == 1)
        #expect(try await traffic(proxy, after: 1) == .init(refusals: 1))

        _ = try await style.run(on: session(LivePolicy(try policy(proxy, isPinned: false))), request)
        #expect(genuine.requests.count == 2)
        #expect(proxy.traffic().requests.count == 1)
    }

    @Test(
        "An interceptor that replaces the server after its 401 does not get the credentials", arguments: [true, false])
    func unauthorized(isPinned: Bool) async throws {
        let proxy = try await start(.reverse)
        let target = Target()
        let genuine = try fixture.server { [target, proxy] _ in
            target.port.withLock { $0 = proxy.port }
            var response = HTTPResponse.unauthorized()
            response.closesConnection = true
            return response
        }
        target.port.withLock { $0 = genuine.port }
        let crossroads = try LoopbackProxy(.httpConnect) { [target] _, _ in target.port.withLock { $0 } }
        let session = session(LivePolicy(try policy(proxy, isPinned: isPinned)), through: crossroads.port)
        let url = try #require(URL(string: "https://localhost/"))
        let delegate = RecordingDelegate(answer: { _ in
            (.useCredential, URLCredential(user: "me", password: "secret", persistence: .none))
        })
        if isPinned {
            try await expectMismatch { try await session.data(from: url, delegate: delegate).0 }
            #expect(try await traffic(proxy, after: 1) == .init(refusals: 1))
        } else {
            #expect(try await session.data(from: url, delegate: delegate).0 == Data("GET 0".utf8))
            #expect(proxy.traffic().requests == ["GET /"])
            #expect(server.requests.first?["authorization"] == "Basic bWU6c2VjcmV0")
        }
        #expect(genuine.requests.count == 1)
        #expect(genuine.requests.first?["authorization"] == nil)
        #expect(delegate.events.first == "challenge 0")
    }

    /// The changing destination of a proxy.
    private final class Target: Sendable {
        let port = Mutex<UInt16>(0)
    }

    @Test("A policy that refuses the interceptor applies from the next request on, also to kept connections")
    func policyChange() async throws {
        let proxy = try await start(.reverse)
        let live = LivePolicy(try policy(proxy, isPinned: false))
        let session = session(live)
        let url = try #require(URL(string: "https://localhost:\(proxy.port)/"))
        for _ in 0..<2 { _ = try await session.data(from: url) }
        let before = proxy.traffic()
        #expect(before.requests.count == 2)

        live.replace(with: try policy(proxy, isPinned: true))
        for _ in 0..<2 { try await expectMismatch { try await session.data(from: url).0 } }
        let after = try await traffic(proxy, after: 2)
        #expect(after.refusals == 2)
        #expect(after.bytes == before.bytes)
        #expect(after.requests == before.requests)
    }
}
