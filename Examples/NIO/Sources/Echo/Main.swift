import Foundation
import NIOPosix
import Pintle
import PintleNIO
import PintleStorage
import PintleTestKit
import Synchronization

/// Calls an echo service as gRPC does: length-prefixed messages on a connection that is kept, and replaced when the
/// policy changes. Exits with 1 if a call ends differently than it must.
@main
struct Main {
    static func main() async throws {
        let authority = try CertificateAuthority.root()
        let identity = try authority.issue(hosts: ["localhost"])
        let right = try policy(pinning: identity, under: authority)
        let wrong = try policy(pinning: authority.issue(hosts: ["localhost"]), under: authority)
        let service = try await EchoService(identity)
        let server = ServerEndpoint(host: try ServerName("localhost"), port: service.port)

        let live = LivePolicy(right)
        let tls = try PinnedTLS(policy: live, timing: .init(check: .milliseconds(20)))
        try await tls.prepare()
        let client = EchoClient(tls, server)
        await expect("a call", "hello") { try await client.echo("hello") }
        await expect("a second call on the same connection", "again") { try await client.echo("again") }
        await expect("connections so far", "1") { String(await client.connectionCount) }

        live.replace(with: wrong)
        await expect("a call after a change of the policy", "pin-mismatch") { try await client.echo("secret") }
        live.replace(with: right)
        await expect("a call after the policy was put right", "back") { try await client.echo("back") }
        await expect("connections in the end", "3") { String(await client.connectionCount) }

        // A library that makes NIOSSL's handler itself gets the callback.
        let library = CallbackClient(tls, server)
        await expect("a call of a library with the callback", "hello") { try await library.echo("hello") }
        live.replace(with: wrong)
        await expect("the same with another policy", "refused") { try await library.echo("secret") }
        print("the service received: \(service.received.joined(separator: ", "))")
        if service.received.contains("secret") || failures.load(ordering: .relaxed) > 0 { exit(1) }
    }

    private static let failures = Atomic(0)

    /// Compares the text that a call returns, or the reason of its refusal.
    private static func expect(_ name: String, _ expected: String, _ call: @Sendable () async throws -> String) async {
        let result: String
        do {
            result = try await call()
        } catch let rejection as TrustRejection {
            result = rejection.reason
        } catch {
            result = "\(error)".contains("CERTIFICATE_VERIFY_FAILED") ? "refused" : "\(error)"
        }
        print(result == expected ? "  ok    " : "  WRONG ", "\(name): \(result)")
        if result != expected { failures.add(1, ordering: .relaxed) }
    }

    private static func policy(pinning identity: Identity, under authority: CertificateAuthority) throws
        -> PinningPolicy
    {
        try PinningPolicy {
            try PinnedHost(
                "localhost", pins: CertificateBundle(pem: identity.certificate.pem).publicKeyPins(),
                backup: .noneAccepted, anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
        }
    }
}
