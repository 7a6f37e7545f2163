import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Each request uses exactly the connection that the policy has accepted.
@Suite("Pinned sessions: connections")
struct SessionConnectionTests {
    /// A server that closes each connection after one response.
    private func server(
        _ fixture: SessionFixture, versions: ClosedRange<LoopbackTLSServer.Version> = .tls12 ... .tls13
    ) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(fixture.identity) {
            $0.versions = versions
            $0.application = .http { _ in
                var response = HTTPResponse.ok
                response.closesConnection = true
                return response
            }
        }
    }

    @Test(
        "A refusal ends the handshake; with the right pin the server sees it complete",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func refusalInsideHandshake(version: LoopbackTLSServer.Version) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, versions: version...version)
        let bad = URLSession.pinned(to: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await bad.data(from: try server.address()) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        #expect(server.waitUntilClosed())
        // The verdict ended the handshake, not the second gate: with VERIFYPEER off libcurl would have completed it.
        #expect(server.completedHandshakeCount == 0)
        #expect(server.alertsReceived.map(\.code) == [46])
        #expect(server.requestByteCount == 0)
        let good = URLSession.pinned(to: try fixture.policy())
        #expect(try await good.data(from: try server.address()).0.count == 3)
        #expect(await server.hasCompletedHandshakes(1))
    }

    @Test(
        "No TLS session is resumed, neither under one policy nor under the next",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func resumption(version: LoopbackTLSServer.Version) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, versions: version...version)
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy)
        for _ in 0..<3 { _ = try await session.data(from: try server.address()) }
        policy.replace(with: try fixture.policy(rightPin: false))
        let before = server.requestByteCount
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
        #expect(server.waitUntilClosed(connections: 4))
        #expect(server.connections.allSatisfy { !$0.isResumed })
        #expect(server.requestByteCount == before)

        // Control: a client that keeps TLS sessions can resume them with this server.
        let files = try TemporaryDirectory()
        for option in ["-sess_out", "-sess_in"] {
            let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            _ = try runProcess(
                [
                    "openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-ign_eof", option,
                    files.path(of: "session"),
                ], input: request)
        }
        #expect(server.waitUntilClosed(connections: 6))
        #expect(server.connections.map(\.isResumed) == [false, false, false, false, false, true])
    }

    @Test("The policy checks a server again that changes its key between connections", arguments: [true, false])
    func changedKey(keepsKey: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture)
        let session = URLSession.pinned(to: try fixture.policy())
        let first = try await session.data(from: try server.address()).1.trustReceipt
        let renewed = keepsKey ? try fixture.root.issue(key: fixture.identity.key) : try fixture.root.issue()
        try server.replaceCredential(.init(renewed))
        let before = server.requestByteCount
        if keepsKey {
            let second = try await session.data(from: try server.address()).1.trustReceipt
            #expect(second?.matchedPin == first?.matchedPin)
            #expect(second?.path.certificates.first == renewed.certificate.der)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
            #expect(server.requestByteCount == before)
        }
    }

    @Test("A task's delegate overrides the session's, but not the policy", arguments: [true, false])
    func taskDelegate(rightPin: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in request.target == "/end" ? .ok : .redirect(to: "/end") }
        let (ofSession, ofTask) = (Recorder(), Recorder())
        let session = URLSession.pinned(
            to: try fixture.policy(rightPin: rightPin), configuration: .ephemeral, delegate: ofSession)
        let task = session.dataTask(with: try server.address())
        task.delegate = ofTask
        await ofTask.run(task)
        #expect(ofSession.events.isEmpty)
        let (events, error) = (ofTask.events, ofTask.log.withLock { $0.error })
        if rightPin {
            #expect(events == ["redirect 302", "response 200", "data", "complete"])
        } else {
            #expect(events == ["complete"])
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
            #expect(server.requestByteCount == 0)
        }
    }

    @Test("Two names for one address have separate connections and verdicts", arguments: [true, false])
    func names(rightPin: Bool) async throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue(hosts: ["one.example", "two.example"])
        let server = try LoopbackTLSServer(identity)
        let policy = try twoNames(root, identity, rightPin: rightPin)
        let options = CurlTransport.Options(
            addresses: StringList(["one.example:\(server.port):127.0.0.1", "two.example:\(server.port):127.0.0.1"]))
        let session = URLSession.pinned(to: policy, options: options)
        for _ in 0..<2 { _ = try await session.data(from: try server.address(host: "one.example")) }
        #expect(server.completedHandshakeCount == 1)
        let before = server.requestByteCount
        if rightPin {
            let receipt = try await session.data(from: try server.address(host: "two.example")).1.trustReceipt
            #expect(receipt?.endpoint.host.description == "two.example")
            #expect(await server.hasCompletedHandshakes(2))
        } else {
            let error = await #expect(throws: URLError.self) {
                try await session.data(from: try server.address(host: "two.example"))
            }
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
            #expect(server.requestByteCount == before)
        }
        #expect(server.serverNames == ["one.example", "two.example"])
    }

    @Test("A request has nothing of the requests that were sent before it")
    func options() async throws {
        let fixture = try SessionFixture()
        let policy = try fixture.policy()
        let server = try LoopbackTLSServer(fixture.identity)
        func request(_ method: String, _ fields: [String: String] = [:], content: String? = nil) throws -> URLRequest {
            var request = URLRequest(url: try server.address("/\(method)"))
            request.httpMethod = method
            request.httpBody = content.map { Data($0.utf8) }
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }
        let requests = [
            try request("GET"), try request("HEAD"), try request("GET", ["Range": "bytes=0-1", "Cookie": "a=b"]),
            try request("POST", content: "content"), try request("GET"), try request("DELETE"),
            try request("PUT", ["Content-Type": "text/plain"], content: "other"), try request("HEAD"),
            try request("GET"), try request("OPTIONS", ["Authorization": "Bearer x"]), try request("GET"),
        ]
        let shared = URLSession.pinned(to: policy, configuration: .ephemeral)
        for request in requests {
            // The first request of a session has nothing before it.
            let alone = try await URLSession.pinned(to: policy, configuration: .ephemeral).data(for: request)
            let expected = server.requests.last
            let result = try await shared.data(for: request)
            #expect(server.requests.last == expected)
            #expect(result.0 == alone.0)
        }
    }
}

/// Rules for `one.example`, with the identity's pin, and for `two.example`.
func twoNames(_ root: CertificateAuthority, _ identity: Identity, rightPin: Bool) throws -> PinningPolicy {
    let key = identity.certificate.spkiDER
    let keys = ["one.example": key, "two.example": rightPin ? key : try PrivateKey().spkiDER]
    return try PinningPolicy(
        hosts: keys.map { name, key in
            try PinnedHost(
                name, pins: [Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))], backup: .noneAccepted,
                anchors: .only([try Certificate(der: root.certificate.der)]))
        })
}
