internal import Foundation
internal import PintleTestKit
internal import PintleURLSession

#if PINTLE_APPLE
internal import Security
#else
internal import FoundationNetworking
#endif

/// One program for both adapters: it attacks a session of `URLSession.pinned(to:)` and says what came of it.
///
/// It knows of no platform: on Apple's systems and with the stand-ins for their modules it is compiled against the
/// session over Apple's trust evaluation, on Linux against the one over OpenSSL.
public enum AttackDemo {
    public static func run() async throws -> [AttackResult] {
        let catalogue = try AttackCatalogue()
        var results: [AttackResult] = []
        for attack in try catalogue.attacks() { results.append(try await run(attack)) }
        results.append(try await redirect(catalogue))
        results.append(try await plainRedirect(catalogue))
        results.append(try await unauthorized(catalogue))
        results.append(try await changedPolicy(catalogue))
        results.append(try await oldTLS(catalogue))
        results += try await approvals()
        return results
    }

    private static func address(_ port: UInt16, host: String = "localhost", scheme: String = "https") throws -> URL {
        guard let url = URL(string: "\(scheme)://\(host):\(port)/") else { throw URLError(.badURL) }
        return url
    }

    /// What a caller sees of a request.
    private static func see(_ session: PinnedURLSession, _ url: URL, comparesFailure: Bool = true) async -> String {
        do {
            _ = try await session.data(from: url)
            return "trusted"
        } catch {
            guard let rejection = TrustRejection(underlying: error) else { return "not about trust" }
            guard comparesFailure, let failure = rejection.pathFailure else { return rejection.reason }
            return "\(rejection.reason) \(failure.code.rawValue)"
        }
    }

    /// What a server got, once nothing more can come: bytes after a refusal may arrive after the caller heard of it.
    private static func bytes(of server: LoopbackTLSServer, _ seen: String) -> Int {
        if seen != "trusted" { _ = server.waitUntilClosed() }
        return server.requestByteCount
    }

    private static func run(_ attack: Attack) async throws -> AttackResult {
        let server = try LoopbackTLSServer(TLSServerConfiguration(attack.credential))
        let session = URLSession.pinned(to: attack.policy)
        let seen = await see(session, try address(server.port), comparesFailure: attack.comparesFailure)
        session.finishTasksAndInvalidate()
        return AttackResult(
            name: attack.name, expected: attack.expected, seen: seen, bytes: bytes(of: server, seen))
    }

    private static func redirect(_ catalogue: AttackCatalogue) async throws -> AttackResult {
        let target = try LoopbackTLSServer(catalogue.publicAuthority.issue(hosts: ["127.0.0.1"]))
        let away = try address(target.port, host: "127.0.0.1").absoluteString
        let server = try LoopbackTLSServer(catalogue.genuine, handler: { _ in .redirect(to: away) })
        let seen = await see(URLSession.pinned(to: try catalogue.policy()), try address(server.port))
        return AttackResult(
            name: "redirect to a host without a rule", expected: "host-not-allowed", seen: seen,
            bytes: bytes(of: target, seen))
    }

    /// One adapter ends the task with an error, the other with the redirect: what counts is what goes out.
    private static func plainRedirect(_ catalogue: AttackCatalogue) async throws -> AttackResult {
        let plain = try LoopbackTCPServer.http()
        let away = try address(plain.port, scheme: "http").absoluteString
        let server = try LoopbackTLSServer(catalogue.genuine, handler: { _ in .redirect(to: away) })
        _ = await see(URLSession.pinned(to: try catalogue.policy()), try address(server.port))
        return AttackResult(
            name: "redirect from https to http", expected: "nothing in the clear",
            seen: plain.connectionCount == 0 ? "nothing in the clear" : "sent in the clear", bytes: 0)
    }

    private static func unauthorized(_ catalogue: AttackCatalogue) async throws -> AttackResult {
        let server = try LoopbackTLSServer(catalogue.genuine, handler: { _ in .unauthorized() })
        let (_, response) = try await URLSession.pinned(to: try catalogue.policy()).data(
            from: try address(server.port))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return AttackResult(
            name: "a password is asked for, and there is none", expected: "trusted 401, 1 request",
            seen: "trusted \(status), \(server.requests.count) request", bytes: server.requestByteCount)
    }

    private static func changedPolicy(_ catalogue: AttackCatalogue) async throws -> AttackResult {
        let server = try LoopbackTLSServer(catalogue.publicAuthority.issue(hosts: ["localhost"]))
        let policy = LivePolicy(try catalogue.policy(enforcement: .reportOnly))
        let session = URLSession.pinned(to: policy)
        let first = await see(session, try address(server.port))
        let before = server.requestByteCount
        policy.replace(with: try catalogue.policy())
        let second = await see(session, try address(server.port))
        return AttackResult(
            name: "a policy that became stricter", expected: "pin-mismatch", seen: first == "trusted" ? second : first,
            bytes: server.requestByteCount - before)
    }

    private static func oldTLS(_ catalogue: AttackCatalogue) async throws -> AttackResult {
        let server = try LoopbackTLSServer(catalogue.genuine, configure: { $0.versions = .tls10 ... .tls11 })
        let seen = await see(URLSession.pinned(to: try catalogue.policy()), try address(server.port))
        return AttackResult(
            name: "TLS 1.1 at most", expected: "not about trust", seen: seen, bytes: bytes(of: server, seen))
    }

    /// The loop of asking a person, and a key that changes afterwards.
    private static func approvals() async throws -> [AttackResult] {
        let identity = try Identity.selfSigned(hosts: ["localhost"])
        let server = try LoopbackTLSServer(identity)
        let url = try address(server.port)
        let store = TrustDecisionStore()
        let session = URLSession.pinned(to: try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store)
        let leaf = try Certificate(der: identity.certificate.der)
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
        try store.approve(try TrustApproval(.certificate(leaf.fingerprint), for: endpoint, at: Date()))
        let first = AttackResult(
            name: "a server that a person has approved", expected: "trusted", seen: await see(session, url),
            bytes: server.requestByteCount)
        try server.replaceCredential(.init(try Identity.selfSigned(hosts: ["localhost"])))
        try store.approve(
            try TrustApproval(
                .certificate(leaf.fingerprint), for: ServerEndpoint(host: endpoint.host, port: 1), at: Date()))
        let before = server.requestByteCount
        let second = AttackResult(
            name: "an approved server whose key changed", expected: "pin-mismatch", seen: await see(session, url),
            bytes: server.requestByteCount - before)
        return [first, second]
    }

    /// A line for each attack.
    public static func table(_ results: [AttackResult]) -> String {
        results.map { result in
            let name = result.name.padding(toLength: 50, withPad: " ", startingAt: 0)
            return "\(result.isAsExpected ? "ok " : "BAD") \(name) \(result.seen)"
        }.joined(separator: "\n")
    }
}
