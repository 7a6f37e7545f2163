import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// The number of signatures that a chain makes the validator verify.
///
///     leaf <- 1 <- 2 <- ... <- 127 (<- root)      a line, as long as a chain may be
///     leaf <- S, and each of S, S, ... signs all   an endless number of paths
@Suite("The work of signatures")
struct SignatureWorkTests {
    /// The work of a signature by a key of 16,384 bits with the usual exponent, the most expensive one that is
    /// verified.
    private static let largestWork = 16_384 * 16_384 * 17

    /// Keys with the highest work that is verified, and keys just above it.
    struct Key: Sendable, CustomTestStringConvertible {
        let bits: Int
        let exponent: [UInt8]
        var isVerified = true
        var testDescription: String { "\(bits) bits, exponent of \(exponent.count) bytes" }
    }

    static let keys = [
        Key(bits: 16_384, exponent: [1, 0, 1]), Key(bits: 8_192, exponent: [UInt8](repeating: 0xFF, count: 8)),
        Key(bits: 16_384, exponent: [3, 0, 1], isVerified: false),
        Key(bits: 8_256, exponent: [UInt8](repeating: 0xFF, count: 8) + [1], isVerified: false),
    ]

    /// Returns a line of presented certificates, leaf first, below a root. The authorities have `key`, for which no
    /// private key exists: OpenSSL builds the path by names and verifies each signature afterwards.
    private func line(_ count: Int, _ key: Key) throws -> (root: CertificateAuthority, chain: [[UInt8]]) {
        let root = try CertificateAuthority.root()
        var authority = root
        let identifier = SignatureAlgorithm.rsaPKCS1(.sha256).identifierDER
        // As long as the modulus, but smaller.
        let signature = [0] + [UInt8](repeating: 0x55, count: key.bits / 8 - 1)
        func forge(_ template: inout CertificateTemplate) {
            template.innerAlgorithmIdentifier = identifier
            template.outerAlgorithmIdentifier = identifier
            template.editSignature = { _ in signature }
        }
        for level in 1..<count {
            let modulus = [0xC1] + [UInt8](repeating: UInt8(truncatingIfNeeded: level) | 1, count: key.bits / 8 - 1)
            authority = try authority.intermediate(name: "Level \(level)") {
                $0.subjectPublicKeyInfo = Self.spki(modulus: modulus, exponent: key.exponent)
                if level > 1 { forge(&$0) }
            }
        }
        let leaf = try authority.issue(hosts: [Validation.host]) { forge(&$0) }
        return (root, leaf.chain)
    }

    private static func spki(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        let key = DERWriter.encode { der in
            der.sequence { der in
                der.integer(magnitude: modulus)
                der.integer(magnitude: exponent)
            }
        }
        return SubjectPublicKeyInfo.encode(
            algorithm: [1, 2, 840, 113_549, 1, 1, 1], parameters: [0x05, 0x00], key: key)
    }

    @Test("The longest chain costs a signature for each certificate of a single path", arguments: keys)
    func longest(key: Key) throws {
        let limit = PresentedChain.Limits().count
        let (root, chain) = try line(limit, key)
        #expect(chain.count == limit)
        for anchors in [[root.certificate], []] {
            var decision: TrustDecision?
            let work = try SignatureWork.measure { decision = try Validation.decide(chain, anchors: anchors) }
            print("\(key.testDescription), \(anchors.count) anchors: \(work); \(decision?.summary ?? "")")
            #expect(decision?.reason == "invalid-path")
            if key.isVerified {
                // The path has the leaf, the maximum of intermediates, and the certificate in the anchor's position.
                #expect((90...PathBudget().maximumIntermediates + 2).contains(work.signatures))
                #expect(work.most <= Self.largestWork)
            } else {
                #expect(work.signatures == 0)
            }
        }
    }

    /// Returns the same line with real keys and signatures.
    private func goodLine(_ count: Int, _ key: PrivateKey) throws -> (root: CertificateAuthority, chain: [[UInt8]]) {
        let root = try CertificateAuthority.root(key: key)
        var authority = root
        for level in 1..<count {
            let certificate = try CertificateTemplate.forAuthority("Level \(level)").minted(for: key, by: authority)
            authority = CertificateAuthority(
                certificate: certificate, key: key, issuers: [authority.certificate] + authority.issuers)
        }
        return (root, try authority.issue(hosts: [Validation.host], key: key).chain)
    }

    @Test("A valid chain of 100 intermediates is accepted for one signature each, and one with 101 is refused")
    func good() throws {
        let key = try PrivateKey(.rsa2048)
        let most = PathBudget().maximumIntermediates
        for (count, expected) in [(most + 1, "host-not-pinned"), (most + 2, "invalid-path limits-exceeded")] {
            let (root, chain) = try goodLine(count, key)
            var decision: TrustDecision?
            let work = try SignatureWork.measure {
                decision = try Validation.decide(chain, anchors: [root.certificate])
            }
            print("\(count) certificates with keys of 2,048 bits: \(work)")
            #expect(decision?.summary == expected)
            #expect((most...most + 20).contains(work.signatures))
        }
    }

    @Test(
        "Certificates that all sign one another cost no more than the budget, and a fifth with stronger keys",
        arguments: [(bits: 2_048, count: PresentedChain.Limits().count, slowness: 1), (4_096, 50, 5)])
    func search(bits: Int, count: Int, slowness: Int) throws {
        let key = try PrivateKey(.rsa(bits: bits))
        let expired = try CertificateAuthority.root(name: "Same", key: key) { $0.notAfter = .fromNow(days: -1) }
        let template = CertificateTemplate.forAuthority("Same")
        let leaf = try expired.issue(hosts: [Validation.host], key: key)
        let others = try (1..<count).map { _ in
            var other = template
            other.serialNumber = CertificateTemplate.randomSerialNumber()
            return try other.minted(for: key, by: expired).der
        }
        let chain = [leaf.certificate.der] + others
        // The signatures of the search, plus those of the few paths that it completes.
        let most = 200 / slowness + 20
        for anchors in [[expired.certificate], []] {
            var decision: TrustDecision?
            let work = try SignatureWork.measure { decision = try Validation.decide(chain, anchors: anchors) }
            print("\(count) certificates with keys of \(bits) bits, \(anchors.count) anchors: \(work)")
            #expect(decision?.summary == "invalid-path limits-exceeded")
            #expect((200 / slowness...most).contains(work.signatures))
        }
        // Counter-check: the same certificates are no problem with a valid anchor.
        let good = try CertificateAuthority.root(name: "Same", key: key)
        var decision: TrustDecision?
        let work = try SignatureWork.measure { decision = try Validation.decide(chain, anchors: [good.certificate]) }
        #expect(decision?.summary == "host-not-pinned")
        #expect(work.signatures <= PathBudget().maximumIntermediates + 2)
    }
}
