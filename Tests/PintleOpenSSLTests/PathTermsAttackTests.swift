import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// An interceptor whose root the machine trusts, against a rule's path terms.
///
/// ```
///  genuine:      leaf -> intermediate -> root
///  interceptor:  leaf (same name) -> interceptor's root
/// ```
@Suite("Attacks on path terms")
struct PathTermsAttackTests {
    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority
    private let identity: Identity
    private let interceptor: CertificateAuthority
    private let direct: Identity

    init() throws {
        root = try .root()
        intermediate = try root.intermediate()
        identity = try intermediate.issue(hosts: [Validation.host])
        interceptor = try .root(name: "Interceptor")
        direct = try interceptor.issue(hosts: [Validation.host])
    }

    private func key(_ certificate: MintedCertificate) throws -> PublicKeyPin {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER)
    }

    private func evaluate(
        _ chain: [[UInt8]], length: Int? = nil, issuer: PublicKeyPin? = nil, pins: [Pin] = [],
        enforcement: Enforcement = .enforce, anchors: [MintedCertificate]? = nil
    ) throws -> TrustEvaluation {
        let system = try (anchors ?? [root.certificate, interceptor.certificate]).map { try Certificate(der: $0.der) }
        let rule = try PinnedHost(
            Validation.host, pins: pins, backup: .noneAccepted, enforcement: enforcement, minimumPathLength: length,
            issuerKey: issuer)
        return try PinningPolicy(hosts: [rule]).evaluate(
            ServerEndpoint(host: try ServerName(Validation.host)), presented: chain, at: Date(),
            validate: PathValidator(system: SystemAnchors(replacedBy: system)).validate)
    }

    @Test("A minimum path length refuses an interceptor that signs directly with its root")
    func signedByRoot() throws {
        #expect(try evaluate(direct.chain, length: 3).decision.summary == "invalid-path other")
        #expect(
            try evaluate(direct.chain + [intermediate.certificate.der, root.certificate.der], length: 3)
                .decision.summary == "invalid-path other")
        #expect(try evaluate(direct.chain, length: 2).decision.summary == "host-not-pinned")
        #expect(try evaluate(identity.chain, length: 3).decision.summary == "host-not-pinned")
    }

    @Test("Another issuer is refused, even with the same name")
    func otherIssuer() throws {
        let issuer = try key(intermediate.certificate)
        let namesake = try interceptor.intermediate(name: "Test Intermediate")
        let forged = try namesake.issue(hosts: [Validation.host])
        #expect(try evaluate(forged.chain, issuer: issuer).decision.summary == "invalid-path other")
        #expect(
            try evaluate(forged.chain + [intermediate.certificate.der], issuer: issuer).decision.summary
                == "invalid-path other")
        #expect(
            try evaluate(forged.chain, issuer: try key(namesake.certificate)).decision.summary == "host-not-pinned")
        #expect(try evaluate(identity.chain, issuer: issuer).decision.summary == "host-not-pinned")
    }

    @Test(
        "A report-only rule refuses a path that breaks its terms, and only reports a wrong key on one that does not"
    )
    func reportOnly() throws {
        let pin = try Validation.pin(try PrivateKeyCertificate.stranger())
        let refused = try evaluate(direct.chain, length: 3, pins: [pin], enforcement: .reportOnly)
        #expect(refused.decision.summary == "invalid-path other")
        let reported = try evaluate(identity.chain, length: 3, pins: [pin], enforcement: .reportOnly)
        #expect(reported.decision.summary == "mismatch-reported-only")
    }

    /// ```
    ///   leaf -> intermediate (an anchor by itself) -> root
    /// ```
    @Test("A longer valid path is found besides a short one, with and without matching pins")
    func longerPath() throws {
        let anchors = [intermediate.certificate, root.certificate]
        let leaf = try Validation.pin(identity.certificate)
        #expect(try evaluate(identity.chain, length: 3, anchors: anchors).decision.summary == "host-not-pinned")
        #expect(
            try evaluate(identity.chain, length: 3, pins: [leaf], anchors: anchors).decision.summary == "pin-matched")
        let wrong = [try Validation.pin(try PrivateKeyCertificate.stranger())]
        #expect(
            try evaluate(identity.chain, length: 3, pins: wrong, enforcement: .reportOnly, anchors: anchors)
                .decision.summary == "mismatch-reported-only")
        #expect(
            try evaluate(identity.chain, length: 3, anchors: [intermediate.certificate]).decision.summary
                == "invalid-path other")
    }

    /// ```
    ///   leaf -> intermediate -> root
    ///               +---------> other intermediate -> other root     (cross-signed: same name, same key)
    /// ```
    @Test("The longer one of two cross-signed paths is found, in any order of sending")
    func crossSigning() throws {
        let other = try CertificateAuthority.root(name: "Other Root")
        let above = try other.intermediate(name: "Other Intermediate")
        let crossed = try intermediate.crossSigned(by: above)
        let anchors = [root.certificate, other.certificate]
        let extra = [crossed.certificate.der, above.certificate.der]
        for chain in [identity.chain + extra, [identity.certificate.der] + extra + [intermediate.certificate.der]] {
            let found = try evaluate(chain, length: 4, anchors: anchors)
            #expect(found.decision.summary == "host-not-pinned")
            #expect(found.path?.certificates.count == 4)
            #expect(try evaluate(chain, length: 5, anchors: anchors).decision.summary == "invalid-path other")
        }
        #expect(try evaluate(identity.chain, length: 4, anchors: anchors).decision.summary == "invalid-path other")
    }

    @Test("Path terms do not make an untrusted interceptor's path valid")
    func untrusted() throws {
        let issuer = try key(interceptor.certificate)
        let anchors = [root.certificate]
        #expect(
            try evaluate(direct.chain, length: 2, issuer: issuer, anchors: anchors).decision.summary
                == "invalid-path untrusted-root")
        #expect(try evaluate(direct.chain, length: 2, issuer: issuer).decision.summary == "host-not-pinned")
    }
}

private enum PrivateKeyCertificate {
    /// Returns a certificate whose key is on no path here.
    static func stranger() throws -> MintedCertificate { try CertificateAuthority.root(name: "Stranger").certificate }
}
