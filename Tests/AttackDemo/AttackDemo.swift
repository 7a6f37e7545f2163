internal import Foundation
internal import PintleAttacks
internal import PintleStorage
internal import PintleTestKit
internal import PintleURLSession

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// The attacks on a session of `URLSession.pinned(to:)`, the same for both adapters.
///
/// With the stand-ins for Apple's modules this target is compiled against the session over Apple's trust evaluation, on
/// Linux against the one over OpenSSL.
public struct AttackDemo: Sendable {
    private let isStored: Bool

    /// - Parameter isStored: `true` attacks a session that is stored as a `URLSession`. On Apple's systems that is
    ///   another type.
    public init(isStored: Bool = false) {
        self.isStored = isStored
    }

    public func run() async throws -> [AttackResult] {
        let attacks = try DemoAttacks()
        var results: [AttackResult] = []
        for attack in try attacks.attacks() { results.append(try await run(attack)) }
        results.append(try await plainRedirect(attacks))
        results.append(try await unauthorized(attacks))
        results.append(try await changedPolicy(attacks))
        results += try await approvals()
        return results
    }

    private func address(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return url
    }

    private func makeSession(_ source: some PolicySource) -> DemoSession {
        if isStored {
            let session: URLSession = .pinned(to: source)
            return DemoSession(session)
        }
        return DemoSession(pinned: URLSession.pinned(to: source))
    }

    /// Sends a request. Returns `trusted`, `not about trust`, or the reason of the refusal with the path failure.
    private func see(_ session: DemoSession, _ url: URL, comparesFailure: Bool = true) async -> String {
        do {
            _ = try await session.data(url)
            return "trusted"
        } catch {
            guard let rejection = TrustRejection(underlying: session.explain(error)) else { return "not about trust" }
            guard comparesFailure, let failure = rejection.pathFailure else { return rejection.reason }
            return "\(rejection.reason) \(failure.code.rawValue)"
        }
    }

    /// Ends the session, and waits until the server has accepted the connections and they have ended.
    private func end(_ session: DemoSession, _ server: LoopbackTLSServer, connections: Int = 1) {
        session.finish()
        _ = server.waitUntilClosed(connections: connections)
    }

    private func end(_ session: DemoSession, _ server: Server) {
        session.finish()
        server.waitUntilAnswered()
    }

    private func run(_ demo: DemoAttack) async throws -> AttackResult {
        let server = try demo.scenario.start()
        let session = makeSession(demo.policy)
        let seen = await see(session, try address(server.url), comparesFailure: demo.comparesFailure)
        session.finish()
        // Bytes can arrive after the caller got the refusal.
        if seen != "trusted" { server.waitUntilAnswered() }
        return AttackResult(
            name: demo.name, expected: demo.expected, seen: seen, bytes: server.observation().exposedByteCount)
    }

    /// One adapter ends the task with an error, the other with the redirect. So the result depends only on the sent
    /// bytes.
    private func plainRedirect(_ attacks: DemoAttacks) async throws -> AttackResult {
        let server = try attacks.scenario("redirect-to-http").start()
        let session = makeSession(try attacks.policy())
        _ = await see(session, try address(server.url))
        end(session, server)
        let observation = server.observation()
        let isInTheClear = observation.exposedByteCount > 0
        return AttackResult(
            name: "redirect-to-http", expected: "nothing in the clear",
            seen: !observation.wasTried(server.scenario)
                ? "not tried" : isInTheClear ? "sent in the clear" : "nothing in the clear",
            bytes: observation.exposedByteCount)
    }

    private func unauthorized(_ attacks: DemoAttacks) async throws -> AttackResult {
        let server = try attacks.scenario("retry-after-401").start()
        let session = makeSession(try attacks.policy())
        let (_, response) = try await session.data(try address(server.url))
        end(session, server)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let observation = server.observation()
        return AttackResult(
            name: "retry-after-401", expected: "answered 401, and nothing to the other",
            seen: "answered \(status), and "
                + (observation.exposedByteCount == 0 ? "nothing to the other" : "more to the other"),
            bytes: observation.exposedByteCount)
    }

    private func changedPolicy(_ attacks: DemoAttacks) async throws -> AttackResult {
        // This server keeps its connections open.
        let server = try LoopbackTLSServer(attacks.catalogue.certificates.otherAuthority.issue(hosts: ["localhost"]))
        let policy = LivePolicy(try attacks.policy(enforcement: .reportOnly))
        let session = makeSession(policy)
        let url = try address(server.url())
        let first = await see(session, url)
        let before = server.requestByteCount
        policy.replace(with: try attacks.policy())
        let second = await see(session, url)
        end(session, server, connections: 2)
        return AttackResult(
            name: "a policy that became stricter", expected: "pin-mismatch", seen: first == "trusted" ? second : first,
            bytes: server.requestByteCount - before)
    }

    /// Approves a server, connects, and connects again after the server's key has changed.
    private func approvals() async throws -> [AttackResult] {
        let identity = try Identity.selfSigned(hosts: ["localhost"])
        let server = try LoopbackTLSServer(identity)
        let url = try address(server.url())
        let store = TrustApprovalStore()
        let session = makeSession(
            ApprovedPolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store))
        let leaf = try Certificate(der: identity.certificate.der)
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
        try store.approve(try TrustApproval(.certificate(leaf.fingerprint), for: endpoint, at: Date()))
        let first = AttackResult(
            name: "a server that the user has approved", expected: "trusted", seen: await see(session, url),
            bytes: server.requestByteCount)
        try server.replaceIdentity(.selfSigned(hosts: ["localhost"]))
        try store.approve(
            try TrustApproval(
                .certificate(leaf.fingerprint), for: ServerEndpoint(host: endpoint.host, port: 1), at: Date()))
        let before = server.requestByteCount
        let seen = await see(session, url)
        end(session, server, connections: 2)
        let second = AttackResult(
            name: "an approved server whose key changed", expected: "pin-mismatch", seen: seen,
            bytes: server.requestByteCount - before)
        return [first, second]
    }

    /// Returns a line of text for each attack.
    public static func table(_ results: [AttackResult]) -> String {
        results.map { result in
            let name = result.name.padding(toLength: 50, withPad: " ", startingAt: 0)
            return "\(result.isAsExpected ? "ok " : "BAD") \(name) \(result.seen)"
        }.joined(separator: "\n")
    }
}

/// The result of an attack.
public struct AttackResult: Sendable {
    public let name: String
    public let expected: String
    public let seen: String
    /// The number of decrypted bytes that the attacker received.
    public let bytes: Int

    /// A Boolean value that indicates whether the result is as expected, and bytes were sent only to a trusted server.
    public var isAsExpected: Bool { seen == expected && (bytes > 0) == seen.hasPrefix("trusted") }
}

/// A session of either type. On Linux one type is a subclass of the other; on Apple's systems they are unrelated.
struct DemoSession: Sendable {
    let data: @Sendable (URL) async throws -> (Data, URLResponse)
    let explain: @Sendable (any Error) -> any Error
    let finish: @Sendable () -> Void

    init(_ session: URLSession) {
        data = { try await session.data(from: $0) }
        explain = { session.explain($0) }
        finish = { session.finishTasksAndInvalidate() }
    }

    init(pinned session: PinnedURLSession) {
        data = { try await session.data(from: $0) }
        explain = { session.explain($0) }
        finish = { session.finishTasksAndInvalidate() }
    }
}
