// Tests of a policy with certificates that the test mints. They run in Tests/AppTests.

#if canImport(Testing) && canImport(PintleTestKit)
// snippet.testing
import Foundation
import PintleTestKit
import Testing

#if canImport(PintleApple)
import PintleApple
#else
import PintleOpenSSL
#endif

@Suite("Policy")
struct PolicySuite {
    private let authority: CertificateAuthority
    private let server: Identity
    private let evaluator: ServerTrustEvaluator

    init() throws {
        authority = try .root()
        server = try authority.issue(hosts: ["api.example.com"])
        let rule = try PinnedHost(
            "api.example.com", pins: CertificateBundle(pem: server.certificate.pem).publicKeyPins(),
            backup: .noneAccepted, anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
        evaluator = ServerTrustEvaluator(policy: try PinningPolicy(hosts: [rule]))
    }

    private func decision(_ identity: Identity) throws -> TrustDecision {
        let endpoint = ServerEndpoint(host: try ServerName("api.example.com"))
        return evaluator.evaluate(endpoint, presented: identity.chain, at: Date()).decision
    }

    @Test("A renewed certificate with the pinned key is trusted, and another key is not")
    func renewal() throws {
        #expect(try decision(server.renewed(by: authority)).code == .pinMatched)
        #expect(try decision(authority.issue(hosts: ["api.example.com"])).code == .pinMismatch)
    }

    @Test("The pinned key does not make up for an expired certificate")
    func expired() throws {
        let expired = try authority.issue(hosts: ["api.example.com"], key: server.key) {
            $0.notBefore = .fromNow(days: -60)
            $0.notAfter = .fromNow(days: -30)
        }
        guard case .rejected(let rejection) = try decision(expired) else {
            Issue.record("an expired certificate is trusted")
            return
        }
        #expect(rejection.code == .invalidPath && rejection.pathFailure?.code == .expired)
    }
}
// snippet.end
#endif
