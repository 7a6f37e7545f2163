// Tests of an app that pins: without a network, and with real servers on loopback.

#if canImport(Testing) && canImport(PintleTestKit) && canImport(PintleURLSession)
import Foundation
import PintleTestKit
import PintleURLSession
import Testing

#if canImport(PintleOpenSSL)
import FoundationNetworking
import PintleOpenSSL
#endif

// snippet.policy
/// The app calls this with its own pins and `.system`, a test with what it has minted.
func appPolicy(host: String = "api.example.com", pins: [Pin], anchors: TrustAnchors) throws -> PinningPolicy {
    try PinningPolicy {
        try PinnedHost(host, pins: pins, backup: .noneAccepted, anchors: anchors)
    }
}

@Test("The app's rule refuses another key of the same authority")
func anotherKey() throws {
    let authority = try CertificateAuthority.root()
    let server = try authority.issue(hosts: ["api.example.com"])
    let interceptor = try authority.issue(hosts: ["api.example.com"])
    let policy = try appPolicy(
        pins: CertificateBundle(pem: server.certificate.pem).publicKeyPins(),
        anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
    let evaluator = ServerTrustEvaluator(policy: policy)
    let endpoint = ServerEndpoint(host: try ServerName("api.example.com"))

    #expect(evaluator.evaluate(endpoint, presented: server.chain, at: Date()).decision.reason == "pin-matched")
    #expect(evaluator.evaluate(endpoint, presented: interceptor.chain, at: Date()).decision.reason == "pin-mismatch")
}
// snippet.end

// Servers are in the Linux half of PintleTestKit.
#if canImport(PintleOpenSSL)
// snippet.recorder
@Test("An interceptor gets no request byte, and the mismatch is recorded")
func interceptor() async throws {
    let authority = try CertificateAuthority.root()
    let identity = try authority.issue(hosts: ["localhost"])
    let policy = try appPolicy(
        host: "localhost", pins: CertificateBundle(pem: identity.certificate.pem).publicKeyPins(),
        anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
    let recorder = TrustFailureRecorder()
    let session = URLSession.pinned(to: policy, observer: recorder)

    let server = try LoopbackTLSServer(identity)
    _ = try await session.data(from: try #require(URL(string: server.url())))

    let interceptor = try LoopbackTLSServer(authority.issue(hosts: ["localhost"]))
    let url = try #require(URL(string: interceptor.url()))
    await #expect(throws: URLError.self) { try await session.data(from: url) }
    await recorder.settle()
    #expect(recorder.reports.map(\.reason) == ["pin-mismatch"])
    #expect(interceptor.requestByteCount == 0)
}
// snippet.end
#endif
#endif
