import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// The path that validation finds, and the certificates with which pins are compared.
@Suite("Path finding")
struct PathFindingTests {
    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority
    private let identity: Identity

    init() throws {
        root = try .root()
        intermediate = try root.intermediate()
        identity = try intermediate.issue(hosts: [Validation.host])
    }

    @Test("The path ends in an anchor that the server did not send, and the anchor's pin matches")
    func anchorNotSent() throws {
        let evaluation = try Validation.evaluate(
            identity.chain, anchors: [root.certificate], pins: [try Validation.pin(root.certificate)])
        #expect(evaluation.path?.certificates == identity.chainWithRoot)
        guard case .trusted(.pinMatched(let match)) = evaluation.decision else {
            Issue.record("\(evaluation.decision)")
            return
        }
        #expect(match.depth == 2)
    }

    /// ```
    ///  sent:       leaf (attacker's)   genuine intermediate (pinned)
    ///                 |
    ///  validated:  leaf -> attacker's root, which the machine trusts
    /// ```
    @Test("A pinned certificate that is sent but not on the path does not match")
    func appendedCertificate() throws {
        let attacker = try CertificateAuthority.root(name: "Interceptor")
        let forged = try attacker.issue(hosts: [Validation.host])
        let pin = try Validation.pin(intermediate.certificate)
        let anchors = [root.certificate, attacker.certificate]
        for chain in [
            forged.chain + [intermediate.certificate.der],
            forged.chain + [identity.certificate.der, intermediate.certificate.der, root.certificate.der],
        ] {
            let decision = try Validation.decide(chain, anchors: anchors, pins: [pin])
            #expect(decision.summary == "pin-mismatch")
            guard case .rejected(.pinMismatch(let mismatch)) = decision else { continue }
            #expect(mismatch.slip == .pinnedCertificateNotOnPath(pin))
        }
        #expect(try Validation.decide(identity.chain, anchors: anchors, pins: [pin]).summary == "pin-matched")
    }

    @Test("A matching pin does not make an invalid path acceptable")
    func pinOnInvalidPath() throws {
        let pin = try Validation.pin(identity.certificate)
        let untrusted = try Validation.decide(identity.chain, anchors: [], pins: [pin])
        #expect(untrusted.summary == "invalid-path untrusted-root")
        let trusted = try Validation.decide(identity.chain, anchors: [root.certificate], pins: [pin])
        #expect(trusted.summary == "pin-matched")
    }

    /// ```
    ///            leaf -> intermediate -> root
    ///                        |
    ///                        +--------> other root   (cross-signed: same name, same key)
    /// ```
    @Test("The pinned root is found on the other path of a cross-signed authority")
    func crossSigning() throws {
        let other = try CertificateAuthority.root(name: "Other Root")
        let crossed = try intermediate.crossSigned(by: other)
        let chain = identity.chain + [crossed.certificate.der]
        let anchors = [root.certificate, other.certificate]
        for pinned in [root.certificate, other.certificate] {
            let decision = try Validation.decide(chain, anchors: anchors, pins: [try Validation.pin(pinned)])
            #expect(decision.summary == "pin-matched")
        }
        let stranger = try CertificateAuthority.root(name: "Stranger")
        let decision = try Validation.decide(
            chain, anchors: anchors, pins: [try Validation.pin(stranger.certificate)])
        #expect(decision.summary == "pin-mismatch")
    }

    /// The anchor file holds the whole chain, so the shortest path ends in the intermediate.
    @Test("A pinned root is found above an intermediate that is also an anchor", arguments: [true, false])
    func anchorInTheMiddle(isSent: Bool) throws {
        let chain = isSent ? identity.chain : [identity.certificate.der]
        let pins = [try Validation.pin(root.certificate)]
        let both = [intermediate.certificate, root.certificate]
        #expect(try Validation.evaluate(chain, anchors: both, pins: pins).path?.certificates == identity.chainWithRoot)
        #expect(try Validation.decide(chain, anchors: both, pins: pins).summary == "pin-matched")
        #expect(
            try Validation.decide(chain, anchors: [intermediate.certificate], pins: pins).summary == "pin-mismatch")
    }

    @Test("A valid path is found in spite of an expired one")
    func expiredCrossSign() throws {
        let other = try CertificateAuthority.root(name: "Other Root")
        let expired = try intermediate.crossSigned(by: other) { $0.notAfter = .fromNow(seconds: -1) }
        let anchors = [other.certificate, root.certificate]
        let chain = [identity.certificate.der, expired.certificate.der, intermediate.certificate.der]
        #expect(try Validation.decide(chain, anchors: anchors).summary == "host-not-pinned")
        #expect(
            try Validation.decide([identity.certificate.der, expired.certificate.der], anchors: anchors).summary
                == "invalid-path expired")
    }

    @Test("Certificates may follow the leaf in any order, with unrelated ones among them")
    func shuffled() throws {
        let below = try intermediate.intermediate(name: "Below")
        let leaf = try below.issue(hosts: [Validation.host])
        let stranger = try CertificateAuthority.root(name: "Stranger")
        let chain = [
            leaf.certificate.der, stranger.certificate.der, root.certificate.der, intermediate.certificate.der,
            below.certificate.der,
        ]
        #expect(try Validation.decide(chain, anchors: [root.certificate]).summary == "host-not-pinned")
    }

    @Test("An intermediate may be the anchor")
    func intermediateAsAnchor() throws {
        let evaluation = try Validation.evaluate(identity.chain, anchors: [intermediate.certificate])
        #expect(evaluation.decision.summary == "host-not-pinned")
        #expect(evaluation.path?.certificates.count == 2)
    }

    @Test("A self-signed leaf can be its own anchor if name and dates are valid")
    func selfSignedAnchor() throws {
        let home = try Identity.selfSigned(hosts: [Validation.host])
        #expect(try Validation.decide(home.chain, anchors: [home.certificate]).summary == "host-not-pinned")
        #expect(
            try Validation.decide(home.chain, anchors: [home.certificate], host: "other.example.test").summary
                == "invalid-path name-mismatch")
        #expect(
            try Validation.decide(home.chain, anchors: [home.certificate], at: Date() + 91 * 86_400).summary
                == "invalid-path expired")
        #expect(
            try Validation.decide(home.chain, anchors: [root.certificate]).summary == "invalid-path self-signed")
        let weak = try Identity.selfSigned(hosts: [Validation.host], keyType: .rsa(bits: 1_024))
        #expect(
            try Validation.decide(weak.chain, anchors: [weak.certificate]).summary == "invalid-path weak-key")
    }

    @Test("Private anchors replace or extend the system's roots, per rule")
    func privateAnchors() throws {
        let home = try CertificateAuthority.root(name: "Home")
        let homeIdentity = try home.issue(hosts: ["nas.example.test"])
        let system = SystemAnchors(replacedBy: [try Certificate(der: root.certificate.der)])
        let validator = PathValidator(system: system)
        let homeRoot = try Certificate(der: home.certificate.der)
        func decide(_ identity: Identity, host: String, anchors: TrustAnchors) throws -> String {
            let policy = try PinningPolicy(hosts: [
                PinnedHost(host, pins: [Pin](), anchors: anchors)
            ])
            return policy.evaluate(
                ServerEndpoint(host: try ServerName(host)), presented: identity.chain, at: Date(),
                validate: validator.validate
            ).decision.summary
        }
        let both = TrustAnchors([homeRoot], includesSystem: true)
        #expect(try decide(homeIdentity, host: "nas.example.test", anchors: .only([homeRoot])) == "host-not-pinned")
        #expect(try decide(homeIdentity, host: "nas.example.test", anchors: both) == "host-not-pinned")
        #expect(
            try decide(homeIdentity, host: "nas.example.test", anchors: .system) == "invalid-path untrusted-root")
        #expect(try decide(identity, host: Validation.host, anchors: both) == "host-not-pinned")
        #expect(
            try decide(identity, host: Validation.host, anchors: .only([homeRoot])) == "invalid-path untrusted-root")
    }

    @Test("A search through a circular chain ends and finds the valid path")
    func circle() throws {
        let one = try CertificateAuthority.root(name: "One")
        let two = try CertificateAuthority.root(name: "Two")
        let oneByTwo = try one.crossSigned(by: two)
        let twoByOne = try two.crossSigned(by: one)
        let leaf = try one.issue(hosts: [Validation.host])
        let chain = [leaf.certificate.der, oneByTwo.certificate.der, twoByOne.certificate.der]
        #expect(try Validation.decide(chain, anchors: [root.certificate]).summary == "invalid-path untrusted-root")
        let twoByRoot = try two.crossSigned(by: root)
        #expect(
            try Validation.decide(chain + [twoByRoot.certificate.der], anchors: [root.certificate]).summary
                == "host-not-pinned")
    }

    @Test("A search with too many paths ends quickly with limits-exceeded")
    func budget() throws {
        // Eight authorities with the same name, each with a certificate from each: an endless number of paths.
        let authorities = try (0..<8).map { _ in try CertificateAuthority.root(name: "Same") }
        var chain: [[UInt8]] = []
        for authority in authorities {
            for other in authorities {
                chain.append(
                    try authority.crossSigned(by: other) { $0.authorityKeyIdentifier = .absent }.certificate.der)
            }
        }
        let leaf = try #require(authorities.first).issue(hosts: [Validation.host]) {
            $0.authorityKeyIdentifier = .absent
        }
        let clock = ContinuousClock()
        var decision: TrustDecision?
        let time = try clock.measure {
            decision = try Validation.decide([leaf.certificate.der] + chain, anchors: [root.certificate])
        }
        #expect(decision?.summary == "invalid-path limits-exceeded")
        #expect(time < .seconds(2))
    }

    @Test("Thousands of wildcards and exclusions are compared quickly and correctly")
    func manyConstraints() throws {
        func chain(excluding name: String) throws -> Identity {
            let names = (0..<9_000).map { "n\($0).example.org" } + [name]
            let constrained = try root.intermediate {
                $0.nameConstraints = .nameConstraints(excluded: names.map { .dns($0) })
            }
            return try constrained.issue(hosts: (0..<9_000).map { "*.h\($0).example.net" } + ["*.example.test"])
        }
        let clock = ContinuousClock()
        for (name, expected) in [
            ("server.example.test", "name-constraint-violation"), ("other.example.com", "limits-exceeded"),
        ] {
            let identity = try chain(excluding: name)
            var decision: TrustDecision?
            let time = try clock.measure {
                decision = try Validation.decide(identity.chain, anchors: [root.certificate])
            }
            // OpenSSL gives up after about a million comparisons, whatever our own look-up finds.
            guard case .rejected(.invalidPath(let failure)) = decision else {
                Issue.record("accepted")
                continue
            }
            #expect(([failure.primary] + failure.detail).contains { $0.code.rawValue == expected })
            #expect(time < .seconds(60))
        }
    }

    @Test("A long path without a fork is refused for its real failure, not for its length")
    func longPath() throws {
        var authority = root
        for index in 0..<20 { authority = try authority.intermediate(name: "Level \(index)") }
        let leaf = try authority.issue(hosts: [Validation.host])
        #expect(try Validation.decide(leaf.chain, anchors: [root.certificate]).summary == "host-not-pinned")
        #expect(try Validation.decide(leaf.chain, anchors: []).summary == "invalid-path untrusted-root")
    }

    @Test("A key whose signatures are a hundred times slower is not followed")
    func slowKeys() throws {
        // The key in the certificate has not signed. It must not even be tried.
        func summary(_ algorithm: DERWriter.OID, parameters: [UInt8], key: [UInt8]) throws -> String {
            let slow = try root.intermediate(name: "Slow") {
                $0.subjectPublicKeyInfo = SubjectPublicKeyInfo.encode(
                    algorithm: algorithm, parameters: parameters, key: key)
            }
            let identifier = SignatureAlgorithm.rsaPKCS1(.sha256).identifierDER
            let chain = try slow.issue(hosts: [Validation.host]) {
                $0.innerAlgorithmIdentifier = identifier
                $0.outerAlgorithmIdentifier = identifier
            }.chain
            return try Validation.decide(chain, anchors: [root.certificate]).summary
        }
        func rsa(bits: Int, exponent: [UInt8]) throws -> String {
            let key = DERWriter.encode { der in
                der.sequence { der in
                    der.integer(magnitude: [UInt8](repeating: 0xC1, count: bits / 8))
                    der.integer(magnitude: exponent)
                }
            }
            return try summary([1, 2, 840, 113_549, 1, 1, 1], parameters: [0x05, 0x00], key: key)
        }
        let (tried, notTried) = ("invalid-path invalid-signature", "invalid-path untrusted-root")
        #expect(try rsa(bits: 3_072, exponent: [1, 0, 1]) == tried)
        #expect(try rsa(bits: 3_072, exponent: [UInt8](repeating: 0x7F, count: 383)) == notTried)
        #expect(try rsa(bits: 16_384, exponent: [1, 0, 1]) == tried)
        #expect(try rsa(bits: 16_384, exponent: [UInt8](repeating: 0xFF, count: 8)) == notTried)
        #expect(try rsa(bits: 4_096, exponent: [UInt8](repeating: 0xFF, count: 8)) == tried)

        // A DSA key chooses its own modulus, group and generator (RFC 3279 section 2.3.2).
        func dsa(bits: Int) throws -> String {
            let numbers = DERWriter.encode { der in
                der.sequence { der in
                    der.integer(magnitude: [UInt8](repeating: 0xC1, count: bits / 8))
                    der.integer(magnitude: [UInt8](repeating: 0xC1, count: 32))
                    der.integer(magnitude: [2])
                }
            }
            let key = DERWriter.encode { der in der.integer(magnitude: [3]) }
            return try summary([1, 2, 840, 10_040, 4, 1], parameters: numbers, key: key)
        }
        #expect(try dsa(bits: 10_000) == notTried)
        #expect(try dsa(bits: 2_048) == notTried)
    }

    @Test("The owner of a certificate cannot make an endless number of paths with it")
    func manyPathsThroughALeaf() throws {
        let key = try PrivateKey()
        let owned = try (0..<40).map { _ in
            try intermediate.issue(hosts: ["attacker.example.test"], key: key) {
                $0.keyUsage = nil
                $0.subject = .commonName("Owned")
            }
        }
        let forged = try #require(owned.first).misusedAsAuthority().issue(hosts: [Validation.host]) {
            $0.authorityKeyIdentifier = .absent
        }
        let chain =
            [forged.certificate.der, intermediate.certificate.der] + owned.map(\.certificate.der)
        #expect(try Validation.decide(chain, anchors: [root.certificate]).summary == "invalid-path not-a-ca")
        let good = [identity.certificate.der, intermediate.certificate.der] + owned.map(\.certificate.der)
        #expect(try Validation.decide(good, anchors: [root.certificate]).summary == "host-not-pinned")
    }

    @Test("An anchor that OpenSSL cannot parse is an error with its name, not left out")
    func unusableAnchor() throws {
        let odd = try CertificateAuthority.root(name: "Odd") {
            // A BMPString of three bytes.
            $0.editSignedPart = { signed in
                let name: [UInt8] = [0x0C, 0x03] + Array("Odd".utf8)
                guard let place = signed.indices.first(where: { signed[$0...].starts(with: name) }) else {
                    return signed
                }
                var edited = signed
                edited[place] = 0x1E
                return edited
            }
        }
        let decision = try Validation.decide(identity.chain, anchors: [root.certificate, odd.certificate])
        #expect(decision.summary == "invalid-path other")
        #expect(try Validation.decide(identity.chain, anchors: [root.certificate]).summary == "host-not-pinned")
    }

    @Test("A time that OpenSSL cannot represent is refused", arguments: [Double.nan, .infinity, 1e300, -1e300])
    func oddInstants(seconds: Double) throws {
        let instant = Date(timeIntervalSince1970: seconds)
        let decision = try Validation.decide(identity.chain, anchors: [root.certificate], at: instant)
        #expect(decision.summary == "invalid-path other")
        #expect(
            try Validation.decide(identity.chain, anchors: [root.certificate], at: Date()).summary
                == "host-not-pinned")
    }
}
