// The policy of an app and its unit test, which runs in Tests/AppTests.

#if canImport(Testing) && canImport(PintleTestKit)
// snippet.policy
/// The app passes its own pins. A test passes minted ones.
func makePolicy(pins: [Pin], backupPins: [Pin], anchors: TrustAnchors = .system) throws -> PinningPolicy {
    try PinningPolicy {
        try PinnedHost("api.example.com", pins: pins, backupPins: backupPins, anchors: anchors)
    }
}

func appPolicy() throws -> PinningPolicy {
    try makePolicy(
        pins: [.publicKey("sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=")],
        backupPins: [.publicKey("sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=")])
}
// snippet.end

import Foundation
import PintleTestKit
import Testing

#if canImport(PintleApple)
import PintleApple
#else
import PintleOpenSSL
#endif

@Test("The policy trusts the pinned key and the backup key, and refuses another key")
func policyTrustsPinnedKeysOnly() throws {
    let authority = try CertificateAuthority.root()
    let servers = try (0..<3).map { _ in try authority.issue(hosts: ["api.example.com"]) }
    let pins = try servers.map { try CertificateBundle(pem: $0.certificate.pem).publicKeyPins() }
    let policy = try makePolicy(
        pins: pins[0], backupPins: pins[1], anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
    let endpoint = ServerEndpoint(host: try ServerName("api.example.com"))
    let codes = servers.map { server in
        ServerTrustEvaluator(policy: policy).evaluate(endpoint, presented: server.chain, at: Date()).decision.code
    }
    #expect(codes == [.pinMatched, .pinMatched, .pinMismatch])
}
#endif
