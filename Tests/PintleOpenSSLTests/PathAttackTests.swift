import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Chains that must fail with a given reason, each beside a valid chain that differs in one point.
@Suite("Path attacks")
struct PathAttackTests {
    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority

    init() throws {
        root = try .root()
        intermediate = try root.intermediate()
    }

    private func verdict(
        _ identity: Identity, host: String = Validation.host, at instant: Date = Date()
    ) throws -> String {
        try Validation.decide(identity.chain, anchors: [root.certificate], host: host, at: instant).summary
    }

    /// Checks that the changed leaf fails with this reason, and that the unchanged one passes.
    private func attack(
        _ expected: String, sourceLocation: SourceLocation = #_sourceLocation,
        configure: (inout CertificateTemplate) -> Void
    ) throws {
        let bad = try intermediate.issue(hosts: [Validation.host], configure: configure)
        #expect(try verdict(bad) == "invalid-path \(expected)", sourceLocation: sourceLocation)
        let good = try intermediate.issue(hosts: [Validation.host])
        #expect(try verdict(good) == "host-not-pinned", sourceLocation: sourceLocation)
    }

    @Test("A leaf is expired after its end date")
    func expired() throws {
        try attack("expired") { $0.notAfter = .fromNow(seconds: -1) }
    }

    @Test("A leaf is valid in its last second and not in the next")
    func lastSecond() throws {
        let end = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 86_400).rounded(.down))
        let identity = try intermediate.issue(hosts: [Validation.host]) { $0.notAfter = .date(end) }
        #expect(try verdict(identity, at: end) == "host-not-pinned")
        #expect(try verdict(identity, at: end + 0.9) == "host-not-pinned")
        #expect(try verdict(identity, at: end + 1) == "invalid-path expired")
    }

    @Test("A leaf before its start date is not yet valid")
    func notYetValid() throws {
        try attack("not-yet-valid") { $0.notBefore = .fromNow(seconds: 3_600) }
    }

    @Test("A leaf for another host does not match")
    func wrongHost() throws {
        try attack("name-mismatch") { $0.subjectAltNames = [.dns("other.example.test")] }
    }

    @Test("A common name is not a host name")
    func commonNameOnly() throws {
        try attack("name-mismatch") { $0.subjectAltNames = [] }
    }

    @Test("A leaf without serverAuth has an unsuitable purpose")
    func missingServerAuth() throws {
        try attack("unsuitable-purpose") { $0.extendedKeyUsage = [.clientAuth] }
    }

    @Test("A leaf with the CA bit is refused as a server's certificate")
    func leafIsAuthority() throws {
        try attack("unsuitable-purpose") { $0.basicConstraints = .init(isCA: true) }
    }

    @Test("An unknown critical extension is refused")
    func criticalExtension() throws {
        try attack("unhandled-critical-extension") {
            $0.extraExtensions = [CertificateExtension([2, 999, 1], critical: true) { $0.null() }]
        }
    }

    @Test("A key of 1,024 bits is weak")
    func weakKey() throws {
        let bad = try intermediate.issue(hosts: [Validation.host], keyType: .rsa(bits: 1_024))
        #expect(try verdict(bad) == "invalid-path weak-key")
        let good = try intermediate.issue(hosts: [Validation.host], keyType: .rsa(bits: 2_048))
        #expect(try verdict(good) == "host-not-pinned")
    }

    @Test("A curve that is not on the list is weak", arguments: [KeyType.p192, .p224, .secp256k1])
    func weakCurve(_ type: KeyType) throws {
        let bad = try intermediate.issue(hosts: [Validation.host], keyType: type)
        #expect(try verdict(bad) == "invalid-path weak-key")
    }

    @Test("Every strong kind of key is valid", arguments: [KeyType.rsa2048, .p256, .p384, .p521, .ed25519, .ed448])
    func strongKeys(_ type: KeyType) throws {
        #expect(try verdict(intermediate.issue(hosts: [Validation.host], keyType: type)) == "host-not-pinned")
    }

    @Test("SHA-1 below the root is a weak signature")
    func sha1() throws {
        try attack("weak-signature") { $0.signatureAlgorithm = .ecdsa(.sha1) }
    }

    @Test("A forged signature is invalid")
    func forgedSignature() throws {
        try attack("invalid-signature") {
            $0.editSignature = { signature in signature.dropLast() + [(signature.last ?? 0) ^ 1] }
        }
    }

    @Test("A self-signed leaf whose signature is forged has an invalid one first")
    func forgedSelfSignature() throws {
        func verdict(_ configure: (inout CertificateTemplate) -> Void) throws -> String {
            let identity = try Identity.selfSigned(hosts: [Validation.host], configure: configure)
            return try Validation.decide(identity.chain, anchors: [root.certificate]).summary
        }
        let forged = try verdict {
            $0.editSignature = { signature in signature.dropLast() + [(signature.last ?? 0) ^ 1] }
        }
        #expect(forged == "invalid-path invalid-signature")
        #expect(try verdict { _ in } == "invalid-path self-signed")
    }

    @Test("A key off its curve and an unknown kind of key are weak")
    func unreadableKeys() throws {
        let key = try PrivateKey(.p256).spkiDER
        try attack("weak-key") { $0.subjectPublicKeyInfo = key.dropLast() + [(key.last ?? 0) ^ 1] }
        try attack("weak-key") {
            $0.subjectPublicKeyInfo = DERWriter.encode { der in
                der.sequence { der in
                    der.sequence { der in der.oid([1, 3, 6, 1, 4, 1, 99_999, 1]) }
                    der.bitString([1, 2, 3])
                }
            }
        }
    }

    @Test("Different signature algorithms inside and outside the signed part are refused")
    func mismatchedAlgorithms() throws {
        try attack("invalid-signature") {
            $0.innerAlgorithmIdentifier = SignatureAlgorithm.ecdsa(.sha384).identifierDER
        }
    }

    @Test("A leaf cannot sign another leaf")
    func leafAsAuthority() throws {
        let leaf = try intermediate.issue(hosts: ["attacker.example.test"])
        let forged = try leaf.misusedAsAuthority().issue(hosts: [Validation.host])
        #expect(try verdict(forged) == "invalid-path not-a-ca")
        #expect(try verdict(leaf, host: "attacker.example.test") == "host-not-pinned")
    }

    @Test("An intermediate without the CA bit cannot sign")
    func intermediateWithoutBit() throws {
        let bad = try root.intermediate { $0.basicConstraints = .init(isCA: false) }
        #expect(try verdict(bad.issue(hosts: [Validation.host])) == "invalid-path not-a-ca")
        let withoutExtension = try root.intermediate { $0.basicConstraints = nil }
        #expect(try verdict(withoutExtension.issue(hosts: [Validation.host])) == "invalid-path not-a-ca")
        let good = try root.intermediate { $0.basicConstraints = .init(isCA: true) }
        #expect(try verdict(good.issue(hosts: [Validation.host])) == "host-not-pinned")
    }

    @Test("A path that is longer than an authority allows is refused")
    func pathLength() throws {
        let limited = try root.intermediate(name: "Limited", pathLength: 0)
        let below = try limited.intermediate(name: "Below")
        #expect(try verdict(below.issue(hosts: [Validation.host])) == "invalid-path path-length-exceeded")
        #expect(try verdict(limited.issue(hosts: [Validation.host])) == "host-not-pinned")
    }

    @Test("Names outside an authority's constraints are refused")
    func nameConstraints() throws {
        let constrained = try root.intermediate {
            $0.nameConstraints = .nameConstraints(permitted: [.dns("example.test")])
        }
        let outside = try constrained.issue(hosts: ["server.example.org"])
        #expect(try verdict(outside, host: "server.example.org") == "invalid-path name-constraint-violation")
        #expect(try verdict(constrained.issue(hosts: [Validation.host])) == "host-not-pinned")
    }

    @Test("A wildcard that may match an excluded name is refused")
    func wildcardAgainstExclusion() throws {
        let constrained = try root.intermediate {
            $0.nameConstraints = .nameConstraints(excluded: [.dns("secret.example.test")])
        }
        let wild = try constrained.issue(hosts: ["*.example.test"])
        #expect(try verdict(wild) == "invalid-path name-constraint-violation")
        let deeper = try root.intermediate {
            $0.nameConstraints = .nameConstraints(excluded: [.dns("very.secret.example.test")])
        }
        #expect(try verdict(deeper.issue(hosts: ["*.example.test"])) == "host-not-pinned")
    }

    @Test("A chain to an untrusted root is refused")
    func untrustedRoot() throws {
        let stranger = try CertificateAuthority.root(name: "Stranger")
        let identity = try stranger.issue(hosts: [Validation.host])
        #expect(try verdict(identity) == "invalid-path untrusted-root")
        let sent = try Validation.decide(identity.chainWithRoot, anchors: [root.certificate])
        #expect(sent.summary == "invalid-path untrusted-root")
    }

    @Test("An impostor root with another key identifier is not taken for the root of the same name")
    func sameNameOtherKey() throws {
        let impostor = try CertificateAuthority.root()
        #expect(impostor.certificate.subject == root.certificate.subject)
        #expect(try rootVerdict(impostor, .automatic) == "invalid-path untrusted-root")
        #expect(try rootVerdict(root, .automatic) == "host-not-pinned")
    }

    @Test("An impostor root that copies the key identifier fails the signature check")
    func sameNameAndIdentifier() throws {
        let identifier = try #require(root.certificate.subjectKeyIdentifier)
        let impostor = try CertificateAuthority.root { $0.subjectKeyIdentifier = .octets(identifier) }
        #expect(try rootVerdict(impostor, .octets(identifier)) == "invalid-path invalid-signature")
        #expect(try rootVerdict(root, .octets(identifier)) == "host-not-pinned")
    }

    @Test("Without key identifiers an impostor root fails the signature check first")
    func sameNameWithoutIdentifier() throws {
        let impostor = try CertificateAuthority.root()
        #expect(try rootVerdict(impostor, .absent) == "invalid-path invalid-signature")
        // RFC 5280 section 4.2.1.1 requires an identifier, so there is no valid counterpart. The root's own lacks only
        // that.
        #expect(try rootVerdict(root, .absent) == "invalid-path other")
        #expect(try rootVerdict(root, .automatic) == "host-not-pinned")
    }

    /// Returns the verdict on a leaf that this authority has signed with this key identifier, sent with its root.
    private func rootVerdict(
        _ authority: CertificateAuthority, _ identifier: CertificateTemplate.KeyIdentifier
    ) throws -> String {
        let leaf = try authority.issue(hosts: [Validation.host]) { $0.authorityKeyIdentifier = identifier }
        return try Validation.decide(leaf.chainWithRoot, anchors: [root.certificate]).summary
    }

    @Test("A self-signed leaf has its own reason, and the most fundamental failure comes first")
    func selfSigned() throws {
        let identity = try Identity.selfSigned(hosts: ["other.example.test"]) { $0.notAfter = .fromNow(seconds: -1) }
        let decision = try Validation.decide(identity.chain, anchors: [root.certificate])
        #expect(decision.summary == "invalid-path self-signed")
        guard case .rejected(.invalidPath(let failure)) = decision else { return }
        let rest = failure.detail.map(\.code)
        #expect(rest.contains(.expired) && rest.contains(.nameMismatch))
    }
}
