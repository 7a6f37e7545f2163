import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// An interceptor whose root was added to the device, and rules with terms about the path. Each test has a control.
@Suite("Apple: terms of a rule about the path")
struct PathTermsTests {
    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority
    private let identity: Identity
    private let direct: Identity

    init() throws {
        root = try .root()
        intermediate = try root.intermediate()
        identity = try intermediate.issue(hosts: ["localhost"])
        let interceptor = try CertificateAuthority.root(name: "Interceptor")
        direct = try interceptor.issue(hosts: ["localhost"])
        StandIn.addSystemAnchor(root.certificate.der)
        StandIn.addSystemAnchor(interceptor.certificate.der)
    }

    private func answer(
        _ identity: Identity, length: Int? = nil, issuer: MintedCertificate? = nil
    ) throws -> ChallengeAnswer {
        let key = try issuer.map { try PublicKeyPin(subjectPublicKeyInfo: $0.spkiDER) }
        let policy = try PinningPolicy {
            try PinnedHost("localhost", anchors: .system, minimumPathLength: length, issuerKey: key)
        }
        return ServerTrustEvaluator(policy: policy).evaluate(try SessionFixture.challenge(identity.chain))
    }

    @Test("An interceptor that signs directly with its root is refused by length, the genuine server is accepted")
    func length() throws {
        let refused = try answer(direct, length: 3)
        #expect(refused.disposition == .cancelAuthenticationChallenge && refused.credential == nil)
        #expect(refused.rejection?.pathFailure?.code == .other)
        #expect(refused.rejection?.pathFailure?.primary.text.hasPrefix("minimumPathLength is 3") == true)
        for twin in [try answer(direct, length: 2), try answer(identity, length: 3)] {
            #expect(twin.disposition == .performDefaultHandling && twin.rejection == nil)
            #expect(twin.evaluation?.decision.reason == "host-not-pinned")
        }
    }

    @Test("Another issuer is refused, the genuine one is accepted")
    func issuer() throws {
        let refused = try answer(direct, issuer: intermediate.certificate)
        #expect(refused.disposition == .cancelAuthenticationChallenge)
        #expect(refused.rejection?.pathFailure?.primary.text.hasPrefix("issuerKey is ") == true)
        #expect(try answer(identity, issuer: root.certificate).rejection?.reason == "invalid-path")
        let genuine = try answer(identity, issuer: intermediate.certificate)
        #expect(genuine.disposition == .performDefaultHandling && genuine.rejection == nil)
    }

    @Test("If the leaf is one of several anchors, the path that meets the terms counts, pinned or not")
    func severalAnchors() throws {
        let leaf = try Certificate(der: identity.certificate.der)
        let own = try Certificate(der: root.certificate.der)
        func answer(_ length: Int, pins: [PublicKeyPin]) throws -> ChallengeAnswer {
            let policy = try PinningPolicy {
                try PinnedHost(
                    "localhost", pins: pins.map(\.description), backup: .noneAccepted,
                    enforcement: .reportOnly, anchors: .only([leaf, own]), minimumPathLength: length)
            }
            return ServerTrustEvaluator(policy: policy).evaluate(try SessionFixture.challenge(identity.chain))
        }
        let other = try PublicKeyPin(subjectPublicKeyInfo: direct.certificate.spkiDER)
        let wrong = try answer(2, pins: [other])
        #expect(wrong.evaluation?.decision.reason == "mismatch-reported-only")
        #expect(wrong.evaluation?.path?.certificates.count == 3)
        #expect(try answer(2, pins: [leaf.publicKeyPin]).evaluation?.decision.reason == "pin-matched")
        #expect(try answer(4, pins: [leaf.publicKeyPin]).rejection?.reason == "invalid-path")
    }

    @Test("An app's own delegate can check the evaluation of a challenge a second time")
    func secondLook() throws {
        let key = try PublicKeyPin(subjectPublicKeyInfo: intermediate.certificate.spkiDER)
        let genuine = try #require(try answer(identity).evaluation)
        try genuine.require(minimumPathLength: 3, issuerKey: key)
        let intercepted = try #require(try answer(direct).evaluation)
        #expect(throws: TrustRejection.unmet(.pathTooShort(2, minimum: 3))) {
            try intercepted.require(minimumPathLength: 3)
        }
        let refused = try #require(try answer(direct, length: 3).evaluation)
        guard case .rejected(let rejection) = refused.decision else {
            Issue.record("\(refused.decision)")
            return
        }
        #expect(throws: rejection) { try refused.require(minimumPathLength: 1) }
    }
}
