// A test of an app that pins, with real servers on loopback. It runs in Tests/AppTests.

#if canImport(Testing) && canImport(PintleTestKit) && canImport(PintleURLSession)
// Servers are in the Linux half of PintleTestKit.
#if canImport(PintleOpenSSL)
// snippet.recorder
import Foundation
import PintleTestKit
import PintleURLSession
import Testing

@Test("An interceptor gets no request byte, and the mismatch is recorded")
func interceptor() async throws {
    let authority = try CertificateAuthority.root()
    let identity = try authority.issue(hosts: ["localhost"])
    let policy = try PinningPolicy {
        try PinnedHost(
            "localhost", pins: CertificateBundle(pem: identity.certificate.pem).publicKeyPins(),
            backup: .noneAccepted, anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
    }
    let recorder = TrustEventRecorder()
    let session = URLSession.pinned(to: policy, observer: recorder)

    let server = try LoopbackTLSServer(identity)
    _ = try await session.data(from: try #require(URL(string: server.url())))

    let interceptor = try LoopbackTLSServer(authority.issue(hosts: ["localhost"]))
    let url = try #require(URL(string: interceptor.url()))
    await #expect(throws: URLError.self) { try await session.data(from: url) }
    await recorder.waitForEvents()
    #expect(recorder.verdicts.map(\.decision.reason) == ["pin-mismatch"])
    #expect(interceptor.requestByteCount == 0)
}
// snippet.end
#endif
#endif
