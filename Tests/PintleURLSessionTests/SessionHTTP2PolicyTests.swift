import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleURLSession

/// Where many requests share a connection: each has its own turn at the gate, and each name its own connection.
@Suite("Pinned sessions: another policy over HTTP/2")
struct SessionHTTP2PolicyTests {
    /// Half a second and more for `slow`, at once for `quick`.
    private func nginx(_ identity: Identity) throws -> NginxServer {
        let nginx = try NginxServer(
            identity, listening: "http2",
            directives: """
                location /slow { limit_rate 400k; }
                location /quick { }
                """)
        try nginx.files.write(String(repeating: "x", count: 600_000), to: "slow")
        try nginx.files.write("ok", to: "quick")
        return nginx
    }

    @Test(
        "What runs on a shared connection ends normally; what comes to the gate on it is decided anew",
        arguments: [true, false])
    func sharedConnection(staysRight: Bool) async throws {
        let stage = try Stage()
        let nginx = try nginx(stage.identity)
        // The fifth question is the first request's gate, the ninth the second's, on the same connection.
        let policy = ObservedPolicy(try stage.policy(), from: 9, then: try stage.policy(rightPin: staysRight))
        let session = URLSession.pinned(to: policy)
        let (slow, quick) = (try nginx.address("slow"), try nginx.address("quick"))
        async let running = session.data(from: slow)
        #expect(await policy.isAsked(5))
        if staysRight {
            let (data, response) = try await session.data(from: quick)
            #expect(data.count == 2)
            #expect(response.trustReceipt?.generation == 2)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: quick) }
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
        }
        let (data, response) = try await running
        #expect(data.count == 600_000)
        #expect(response.trustReceipt?.generation == 1)
        // Anew: transport, queue, start, handshake; and the gate where it gets there.
        #expect(policy.questionCount == (staysRight ? 14 : 13))
        let lines = try await nginx.requests(atLeast: staysRight ? 2 : 1)
        #expect(lines.count == (staysRight ? 2 : 1))
        // A connection for each generation, and none in between: the second request was on the first one's.
        let serials = lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.sorted()
        #expect(serials.last == serials.first.map { $0 + (staysRight ? 1 : 0) })
    }

    @Test("Names that share an HTTP/2 server have connections and verdicts of their own", arguments: [true, false])
    func names(rightPin: Bool) async throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue(hosts: ["one.example", "two.example"])
        let nginx = try nginx(identity)
        let options = CurlTransport.Options(
            addresses: ["one.example:\(nginx.port):127.0.0.1", "two.example:\(nginx.port):127.0.0.1"])
        let session = URLSession.pinned(to: try twoNames(root, identity, rightPin: rightPin), options: options)
        let (one, two) = (
            try #require(URL(string: "https://one.example:\(nginx.port)/quick")),
            try #require(URL(string: "https://two.example:\(nginx.port)/quick"))
        )
        for _ in 0..<2 { #expect(try await session.data(from: one).0.count == 2) }
        if rightPin {
            #expect(try await session.data(from: two).1.trustReceipt?.endpoint.host.description == "two.example")
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: two) }
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
        }
        let lines = try await nginx.requests(atLeast: rightPin ? 3 : 2)
        #expect(lines.count == (rightPin ? 3 : 2))
        #expect(lines.allSatisfy { $0.hasPrefix("HTTP/2.0 ") })
        #expect(Set(lines).count == (rightPin ? 2 : 1), "one connection for each name")
    }
}
