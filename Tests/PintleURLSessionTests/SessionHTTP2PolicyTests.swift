import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleURLSession

/// Many requests on one connection: each request is checked at the gate, and each name has its own connection.
@Suite("Pinned sessions: another policy over HTTP/2")
struct SessionHTTP2PolicyTests {
    /// A server that takes at least half a second for `slow` and answers `quick` at once.
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
        "After a policy change, running streams end normally and new requests are checked again",
        arguments: [true, false])
    func sharedConnection(staysRight: Bool) async throws {
        let fixture = try SessionFixture()
        let nginx = try nginx(fixture.identity)
        // The fifth question is from the gate of the first request, the ninth from the second's, on the same
        // connection.
        let policy = ObservedPolicy(try fixture.policy(), from: 9, then: try fixture.policy(rightPin: staysRight))
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
        // After the change: transport, queue, start and handshake, and the gate if the request gets there.
        #expect(policy.questionCount == (staysRight ? 14 : 13))
        let lines = try await nginx.requests(atLeast: staysRight ? 2 : 1)
        #expect(lines.count == (staysRight ? 2 : 1))
        // One connection for each generation: the second request was first assigned to the first request's connection.
        let serials = lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.sorted()
        #expect(serials.last == serials.first.map { $0 + (staysRight ? 1 : 0) })
    }

    @Test("Names that share an HTTP/2 server have separate connections and verdicts", arguments: [true, false])
    func names(rightPin: Bool) async throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue(hosts: ["one.example", "two.example"])
        let nginx = try nginx(identity)
        let options = CurlTransport.Options(
            addresses: StringList(["one.example:\(nginx.port):127.0.0.1", "two.example:\(nginx.port):127.0.0.1"]))
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
