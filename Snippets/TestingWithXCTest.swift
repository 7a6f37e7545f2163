// The same tests as in TestingYourPolicy.swift, for XCTest. They run in Tests/AppTests.

#if canImport(XCTest) && canImport(PintleTestKit)
import Foundation
import PintleTestKit
import XCTest

#if canImport(PintleApple)
import PintleApple
#else
import PintleOpenSSL
#endif

final class PolicyTests: XCTestCase {
    func testVerdicts() throws {
        let authority = try CertificateAuthority.root()
        let server = try authority.issue(hosts: ["api.example.com"])
        let policy = try PinningPolicy {
            try PinnedHost(
                "api.example.com", pins: CertificateBundle(pem: server.certificate.pem).publicKeyPins(),
                backup: .noneAccepted, anchors: .only(CertificateBundle(pem: authority.certificate.pem)))
        }
        let evaluator = ServerTrustEvaluator(policy: policy)
        let endpoint = ServerEndpoint(host: try ServerName("api.example.com"))
        func code(_ identity: Identity) -> TrustDecision.Reason {
            evaluator.evaluate(endpoint, presented: identity.chain, at: Date()).decision.code
        }

        XCTAssertEqual(code(server), .pinMatched)
        let otherKey = try authority.issue(hosts: ["api.example.com"])
        XCTAssertEqual(code(otherKey), .pinMismatch)
        let foreign = try CertificateAuthority.root().issue(hosts: ["api.example.com"], key: server.key)
        XCTAssertEqual(code(foreign), .invalidPath)
    }
}
#endif
