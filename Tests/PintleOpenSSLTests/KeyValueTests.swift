import COpenSSL
import FoundationEssentials
import Pintle
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleOpenSSL

/// Values that are no keys, for most of which anyone can make signatures, in the certificates of a path.
@Suite("Values of keys")
struct KeyValueTests {
    private let root: CertificateAuthority

    init() throws {
        root = try .root()
    }

    private func verdict(_ chain: [[UInt8]], pins: [Pin] = []) throws -> (summary: String, text: String) {
        let decision = try Validation.decide(chain, anchors: [root.certificate], pins: pins)
        guard case .rejected(let rejection) = decision, let failure = rejection.pathFailure else {
            return (decision.summary, "")
        }
        return (decision.summary, failure.primary.text)
    }

    @Test("A leaf whose key is no key is refused with the reason, also by its own pin")
    func leaves() throws {
        for key in try FlawedKey.all() {
            let leaf = try root.issue(hosts: [Validation.host]) { $0.subjectPublicKeyInfo = key.spki }
            let (summary, text) = try verdict(leaf.chain)
            #expect(summary == (key.reason == nil ? "host-not-pinned" : "invalid-path weak-key"), "\(key.name)")
            #expect(text.contains(key.reason ?? ""), "\(key.name): \(text)")
            let pinned = try verdict(leaf.chain, pins: [Validation.pin(leaf.certificate)]).summary
            #expect(pinned == (key.reason == nil ? "pin-matched" : "invalid-path weak-key"), "\(key.name)")
        }
    }

    @Test("A pinned path of another platform is refused if a key below its anchor is none, and accepted otherwise")
    func otherPlatforms() throws {
        for key in try FlawedKey.all() {
            let leaf = try root.issue(hosts: [Validation.host]) { $0.subjectPublicKeyInfo = key.spki }
            let path = ValidatedPath(uncheckedLeafToAnchor: leaf.chain + [root.certificate.der])
            func failure(_ pins: [Pin]) throws -> PathFailure? {
                let rule = try PinnedHost(Validation.host, pins: pins, backup: .noneAccepted)
                var found: PathFailure?
                _ = try PinningPolicy(hosts: [rule]).evaluate(
                    ServerEndpoint(host: try ServerName(Validation.host)), presented: leaf.chain, at: Date()
                ) { request in
                    found = request.keyFailure(of: path)
                    return .valid(path)
                }
                return found
            }
            let found = try failure([Validation.pin(leaf.certificate)])
            #expect(found?.code == (key.reason == nil ? nil : .weakKey), "\(key.name)")
        }
    }

    @Test("A leaf that anyone can forge below an authority whose key is no key is refused")
    func forgeries() throws {
        for forgery in Forgery.all {
            let authority = try root.intermediate { $0.subjectPublicKeyInfo = forgery.key }
            let part = SignedPart()
            let leaf = try authority.issue(hosts: [Validation.host]) { template in
                let identifier = forgery.algorithm.identifierDER
                (template.innerAlgorithmIdentifier, template.outerAlgorithmIdentifier) = (identifier, identifier)
                template.editSignedPart = { part.keep($0) }
                template.editSignature = { _ in forgery.signature(part.bytes) }
            }
            let parsed = try #require(X509Reference(der: leaf.certificate.der))
            let issuer = try #require(X509Reference(der: authority.certificate.der))
            let isVerified = X509_verify(parsed.pointer, X509_get0_pubkey(issuer.pointer)) == 1
            ERR_clear_error()
            let (summary, text) = try verdict(leaf.chain)
            // Later versions of OpenSSL refuse some of the keys.
            let failure = isVerified ? "weak-key" : "invalid-signature"
            #expect(summary == "invalid-path \(failure)", "\(forgery.reason): \(text)")
            if isVerified { #expect(text.contains(forgery.reason), "\(text)") }
            if OpenSSL_version_num() < 0x3010_0000 { #expect(isVerified, "\(forgery.reason)") }
        }
        let good = try root.intermediate().issue(hosts: [Validation.host])
        #expect(try verdict(good.chain).summary == "host-not-pinned")
    }

    @Test("The key of an anchor is not judged by its value, while the same key of an intermediate is")
    func anchors() throws {
        let key = try PrivateKey(.p256)
        let hybrid = SubjectPublicKeyInfo.p256(key, form: .hybrid)
        func decide(_ anchor: CertificateAuthority, _ issuer: CertificateAuthority) throws -> String {
            let leaf = try issuer.issue(hosts: [Validation.host])
            return try Validation.decide(leaf.chain, anchors: [anchor.certificate]).summary
        }
        let anchor = try CertificateAuthority.root(key: key) { $0.subjectPublicKeyInfo = hybrid }
        #expect(try decide(anchor, anchor) == "host-not-pinned")
        var template = CertificateTemplate.forAuthority("Hybrid")
        template.subjectPublicKeyInfo = hybrid
        let intermediate = CertificateAuthority(
            certificate: try template.minted(for: key, by: root), key: key, issuers: [root.certificate])
        #expect(try decide(root, intermediate) == "invalid-path weak-key")
        #expect(try decide(root, root.intermediate()) == "host-not-pinned")
    }

    @Test("A self-signed leaf that is its own anchor needs a key that is one")
    func leafAsAnchor() throws {
        for form in [nil, SubjectPublicKeyInfo.PointForm.hybrid, .compressed] {
            let key = try PrivateKey(.p256)
            var template = CertificateTemplate.forServer(hosts: [Validation.host])
            template.subjectPublicKeyInfo = form.map { SubjectPublicKeyInfo.p256(key, form: $0) }
            let leaf = try template.selfSigned(with: key)
            let summary = try Validation.decide([leaf.der], anchors: [leaf]).summary
            #expect(summary == (form == .hybrid ? "invalid-path weak-key" : "host-not-pinned"))
        }
    }

    @Test("Every root of the system has a key that is one")
    func systemRoots() throws {
        let file = "/etc/ssl/certs/ca-certificates.crt"
        guard let bytes = FileManager.default.contents(atPath: file) else { return }
        let roots = try CertificateBundle(Array(bytes)).certificates
        #expect(roots.filter { $0.keyFlaw != nil }.map(\.subject.description) == [])
        print("\(roots.count) roots of the system were examined")
    }

    @Test("A client's certificate needs a key that is one, and a private half that belongs to it")
    func identities() throws {
        for form in [nil, SubjectPublicKeyInfo.PointForm.hybrid, .compressed] {
            let key = try PrivateKey(.p256)
            let client = try root.issue(hosts: [], key: key) { template in
                template.extendedKeyUsage = [.clientAuth]
                template.subjectPublicKeyInfo = form.map { SubjectPublicKeyInfo.p256(key, form: $0) }
            }
            let pem = Array(client.chainPEM.utf8)
            let read = { (key: [UInt8]) in try ClientIdentity(certificates: pem, key: key) }
            guard form != .hybrid else {
                let error = #expect(throws: ClientIdentityError.self) { try read(key.pkcs8DER) }
                #expect(error?.code == .unusable && error?.message.contains("hybrid form") == true)
                continue
            }
            #expect(throws: Never.self) { try read(key.pkcs8DER) }
            let foreign = try KeyFiles.joining(PrivateKey(.p256), publicHalf: key)
            let error = #expect(throws: ClientIdentityError.self) { try read(foreign) }
            #expect(error?.code == .unusable && error?.message.contains("private half") == true, "\(error as Any)")
        }
    }
}

/// Signatures that are made without a private key.
private struct Forgery: Sendable {
    let key: [UInt8]
    let algorithm: SignatureAlgorithm
    let reason: String
    let signature: @Sendable ([UInt8]) -> [UInt8]

    static let all = [
        // The signature to the power of 1 is itself.
        Forgery(
            key: SubjectPublicKeyInfo.rsa(modulusBits: 2_048, exponent: 1), algorithm: .rsaPKCS1(.sha256),
            reason: "exponent is 1"
        ) { part in
            let info: [UInt8] = [
                0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
                0x04, 0x20,
            ]
            return [0, 1] + [UInt8](repeating: 0xFF, count: 202) + [0] + info + sha256(part)
        },
        // With s equal to the hash, r is the base point's x coordinate.
        Forgery(key: SubjectPublicKeyInfo.p256(point: [0]), algorithm: .ecdsa(.sha256), reason: "infinity") { part in
            DERWriter.encode { der in
                der.sequence { der in
                    der.integer(magnitude: [
                        0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
                        0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
                    ])
                    der.integer(magnitude: sha256(part))
                }
            }
        },
        // R is the identity, and S is 0.
        Forgery(
            key: SubjectPublicKeyInfo.ed25519([1] + [UInt8](repeating: 0, count: 31)), algorithm: .ed25519,
            reason: "anyone can sign"
        ) { _ in [1] + [UInt8](repeating: 0, count: 63) },
    ]

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        pintle_sha256(bytes, bytes.count, &digest)
        return digest
    }
}

/// The part of a certificate that is signed, from the time at which it is minted.
private final class SignedPart: Sendable {
    private let part = Mutex<[UInt8]>([])

    var bytes: [UInt8] { part.withLock { $0 } }

    func keep(_ bytes: [UInt8]) -> [UInt8] {
        part.withLock { $0 = bytes }
        return bytes
    }
}
