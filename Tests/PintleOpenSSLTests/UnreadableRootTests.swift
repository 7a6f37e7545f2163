import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL

@Suite("Roots of the system that only OpenSSL can parse")
struct UnreadableRootTests {
    @Test(
        "A path to a root with a BOOLEAN that is not DER is malformed, and the finding names the root",
        arguments: [true, false])
    func root(isOdd: Bool) throws {
        let root = try CertificateAuthority.root(name: "Root") {
            guard isOdd else { return }
            // OpenSSL takes any value but 0 for true (BER). DER has only 0xFF (X.690 section 11.1).
            $0.editSignedPart = { signed in
                let critical: [UInt8] = [0x01, 0x01, 0xFF]
                guard let place = signed.indices.first(where: { signed[$0...].starts(with: critical) }) else {
                    return signed
                }
                var edited = signed
                edited[place + 2] = 0x01
                return edited
            }
        }
        let identity = try root.issue(hosts: [Validation.host])
        let anchor = try #require(X509Reference(der: root.certificate.der))
        let store = try #require(AnchorStore([anchor]))
        let leaf = try #require(X509Reference(der: identity.certificate.der))
        let nothing = try #require(X509Stack([]))
        let server = ServerEndpoint(host: try ServerName(Validation.host))
        let policy = try PinningPolicy(hosts: [])
        let evaluation = policy.evaluate(server, presented: identity.chain, at: Date()) { request in
            var attempt = PathAttempt(
                request: request, others: [], store: store, profile: PathProfile { _ in false }, budget: PathBudget())
            attempt.tryPath { $0.run(leaf: leaf, untrusted: nothing, store: store) }
            return attempt.outcome
        }
        #expect(evaluation.decision.summary == (isOdd ? "invalid-path malformed-certificate" : "host-not-pinned"))
        if case .rejected(.invalidPath(let failure)) = evaluation.decision {
            #expect(failure.primary.depth == 1 && failure.detail.isEmpty, "\(failure.detail)")
        }
    }
}
