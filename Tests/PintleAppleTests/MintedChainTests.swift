import Foundation
import Pintle
import PintleApple
import Security
import TestKitOnApple
import Testing

/// Chains that CryptoKit has signed, and the verdicts of the system and of a policy.
@Suite("Apple: minted chains")
struct MintedChainTests {
    private static let curves: [KeyType] = [.p256, .p384, .p521]

    private static let server = "api.example.test"

    /// Returns an evaluator for a policy with a pin of the key and this authority as the only anchor.
    private static func evaluator(pin key: PrivateKey, _ authority: MintedCertificate) throws -> ServerTrustEvaluator {
        let rule = try PinnedHost(
            server, pins: [Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key.spkiDER)))],
            backup: .noneAccepted, anchors: .only([try Certificate(der: authority.der)]))
        return ServerTrustEvaluator(policy: try PinningPolicy(hosts: [rule]))
    }

    /// Returns the reason, with the path failure if there is one. Checks that it is the same for a chain and for a
    /// trust object.
    private static func verdict(_ evaluator: ServerTrustEvaluator, _ identity: Identity) throws -> String {
        let endpoint = ServerEndpoint(host: try ServerName(server))
        let presented = evaluator.evaluate(endpoint, presented: identity.chain, at: Date())
        let trust = try identity.serverTrust(for: server)
        let ofTrust = evaluator.evaluate(endpoint, trust, at: Date())
        #expect(presented.decision.reason == ofTrust.decision.reason)
        guard case .rejected(let rejection) = presented.decision, let failure = rejection.pathFailure else {
            return presented.decision.reason
        }
        return "\(presented.decision.reason) \(failure.code.rawValue)"
    }

    @Test(
        "A pinned key of each curve is trusted; another key, another authority and a damaged signature are refused",
        arguments: curves)
    func verdicts(_ kind: KeyType) throws {
        let root = try CertificateAuthority.root(keyType: kind)
        let intermediate = try root.intermediate(keyType: kind)
        let identity = try intermediate.issue(hosts: [Self.server], keyType: kind)
        let evaluator = try Self.evaluator(pin: identity.key, root.certificate)
        #expect(try Self.verdict(evaluator, identity) == "pin-matched")
        let other = try intermediate.issue(hosts: [Self.server], keyType: kind)
        #expect(try Self.verdict(evaluator, other) == "pin-mismatch")
        let foreign = try CertificateAuthority.root(keyType: kind).issue(hosts: [Self.server], key: identity.key)
        #expect(try Self.verdict(evaluator, foreign) == "invalid-path untrusted-root")
        let damaged = try intermediate.issue(hosts: [Self.server], key: identity.key) {
            $0.editSignature = { Array($0.dropLast()) + [($0.last ?? 0) ^ 1] }
        }
        #expect(try Self.verdict(evaluator, damaged) == "invalid-path untrusted-root")
        let expired = try intermediate.issue(hosts: [Self.server], key: identity.key) {
            $0.notBefore = .fromNow(days: -60)
            $0.notAfter = .fromNow(days: -30)
        }
        #expect(try Self.verdict(evaluator, expired) == "invalid-path expired")
        let elsewhere = try intermediate.issue(hosts: ["other.test"], key: identity.key)
        #expect(try Self.verdict(evaluator, elsewhere) == "invalid-path name-mismatch")
    }

    @Test("Pintle finds the minted key in each certificate", arguments: MintedKeyTests.kinds)
    func pins(_ kind: KeyType) throws {
        let identity = try CertificateAuthority.root().issue(hosts: [Self.server], keyType: kind)
        let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.key.spkiDER)
        #expect(try Certificate(der: identity.certificate.der).publicKeyPin == pin)
        #expect(identity.certificate.spkiDER == identity.key.spkiDER)
        let bundle = try CertificateBundle(pem: identity.certificate.pem)
        #expect(bundle.publicKeyPins() == [Pin(.publicKey(pin))])
    }

    @Test("Signatures over stronger digests are accepted, and those over SHA-1 are weak", arguments: curves)
    func digests(_ kind: KeyType) throws {
        let root = try CertificateAuthority.root(keyType: kind)
        let key = try PrivateKey(kind)
        let evaluator = try Self.evaluator(pin: key, root.certificate)
        for digest in [Digest.sha256, .sha384, .sha512, .sha1] {
            let identity = try root.issue(hosts: [Self.server], key: key) { $0.signatureAlgorithm = .ecdsa(digest) }
            let expected = digest == .sha1 ? "invalid-path weak-signature" : "pin-matched"
            #expect(try Self.verdict(evaluator, identity) == expected)
        }
    }

    /// Apple's published sources (Security 61901): the rules for TLS servers list lengths of RSA and elliptic-curve
    /// keys. A key of any other kind counts as too short.
    /// a key of a kind that is not in the list is too short.
    @Test(
        "The system's rules for servers refuse an Ed25519 key anywhere on the path",
        arguments: ["leaf", "issuer", "root"])
    func edwards(place: String) throws {
        for isEdwards in [true, false] {
            func kind(_ name: String) -> KeyType { isEdwards && place == name ? .ed25519 : .p256 }
            let root = try CertificateAuthority.root(keyType: kind("root"))
            let identity = try root.intermediate(keyType: kind("issuer"))
                .issue(hosts: [Self.server], keyType: kind("leaf"))
            let evaluator = try Self.evaluator(pin: identity.key, root.certificate)
            #expect(
                try Self.verdict(evaluator, identity) == (isEdwards ? "invalid-path weak-key" : "pin-matched"))
            let trust = try identity.serverTrust(for: Self.server)
            let evaluation = evaluator.evaluate(ServerEndpoint(host: try ServerName(Self.server)), trust, at: Date())
            guard case .rejected(let rejection) = evaluation.decision else { continue }
            #expect(rejection.pathFailure?.primary.platformCode == Int(errSecUnsupportedKeySize))
        }
    }

    @Test("The basic rules accept an Ed25519 certificate that is itself the anchor, but no other key for its name")
    func ownAnchor() throws {
        let identity = try Identity.selfSigned(hosts: [Self.server], keyType: .ed25519)
        let evaluator = try Self.evaluator(pin: identity.key, identity.certificate)
        #expect(try Self.verdict(evaluator, identity) == "pin-matched")
        let other = try Identity.selfSigned(hosts: [Self.server], keyType: .ed25519)
        #expect(try Self.verdict(evaluator, other).hasPrefix("invalid-path"))
    }

    @Test("The basic rules report keys as weak that are neither RSA, elliptic-curve nor Edwards keys")
    func agreementKey() throws {
        let root = try CertificateAuthority.root()
        func status(_ edit: (inout CertificateTemplate) -> Void) throws -> OSStatus {
            let identity = try root.issue(hosts: [Self.server], configure: edit)
            let trust = try identity.serverTrust(for: Self.server)
            let anchor = SecCertificateCreateWithData(nil, Data(root.certificate.der))
            #expect(SecTrustSetPolicies(trust, [SecPolicyCreateBasicX509()]) == errSecSuccess)
            #expect(SecTrustSetAnchorCertificates(trust, [try #require(anchor)]) == errSecSuccess)
            var error: CFError?
            return SecTrustEvaluateWithError(trust, &error) ? errSecSuccess : OSStatus(CFErrorGetCode(error))
        }
        #expect(try status { _ in } == errSecSuccess)
        // X25519 (RFC 8410).
        let key = SubjectPublicKeyInfo.encode(algorithm: [1, 3, 101, 110], key: [UInt8](repeating: 9, count: 32))
        #expect(try status { $0.subjectPublicKeyInfo = key } == errSecUnsupportedKeySize)
    }

    @Test("A certificate with a weak RSA key is refused as weak; minting it needs no private key")
    func weakKey() throws {
        let root = try CertificateAuthority.root()
        for (bits, expected) in [(1_024, "invalid-path weak-key"), (2_048, "pin-mismatch")] {
            let identity = try root.issue(hosts: [Self.server]) {
                $0.subjectPublicKeyInfo = SubjectPublicKeyInfo.rsa(modulusBits: bits)
            }
            #expect(try Self.verdict(Self.evaluator(pin: identity.key, root.certificate), identity) == expected)
        }
    }

    @Test("The system by itself refuses the trust object, and a chain that it cannot read is an error")
    func trustObject() throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue(hosts: [Self.server])
        let trust = try identity.serverTrust(for: Self.server)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        let anchor = try #require(SecCertificateCreateWithData(nil, Data(root.certificate.der)))
        #expect(SecTrustSetAnchorCertificates(trust, [anchor]) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        let broken = try root.issue(hosts: [Self.server]) { $0.editSignedPart = { Array($0.dropLast(5)) } }
        #expect(throws: MintingError.self) { try broken.serverTrust(for: Self.server) }
    }

    @Test("Dates after 2038 and more than a century away can be minted")
    func farDates() throws {
        let root = try CertificateAuthority.root { $0.notAfter = .fromNow(days: 60_000) }
        let identity = try root.issue(hosts: [Self.server]) {
            $0.notBefore = .date(Date(timeIntervalSince1970: 4_102_444_800))
            $0.notAfter = .date(Date(timeIntervalSince1970: 4_102_444_800 + 7 * 86_400))
        }
        let validity = try Certificate(der: identity.certificate.der).validity
        #expect(validity.notBefore == Date(timeIntervalSince1970: 4_102_444_800))
        let evaluator = try Self.evaluator(pin: identity.key, root.certificate)
        #expect(try Self.verdict(evaluator, identity) == "invalid-path not-yet-valid")
        let endpoint = ServerEndpoint(host: try ServerName(Self.server))
        let then = Date(timeIntervalSince1970: 4_102_444_800 + 86_400)
        #expect(evaluator.evaluate(endpoint, presented: identity.chain, at: then).decision.reason == "pin-matched")
    }
}
