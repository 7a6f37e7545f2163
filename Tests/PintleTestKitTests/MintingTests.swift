import PintleTestKit
import Testing

@Suite("Minting")
struct MintingTests {
    static let signingKeys: [KeyType] =
        [
            .rsa2048, .rsa(bits: 512), .rsa(bits: 1_024, exponent: 3), .rsaPSS(bits: 1_024), .ed25519, .ed448,
            .dsa(bits: 1_024),
        ] + KeyType.Curve.allCases.map { .ellipticCurve($0) }
        + [KeyType.mlDSA44, .mlDSA65, .mlDSA87].filter(\.isAvailable)

    /// Runs `openssl verify` on a chain, at the lowest security level: these tests check encodings and signatures, not
    /// strength.
    static func verify(_ identity: Identity, options: [String] = []) throws -> ProcessResult {
        let directory = try TemporaryDirectory()
        let root = try directory.write(PEM.encode(identity.chainWithRoot.last ?? []), to: "root.pem")
        let intermediates = Array(identity.chain.dropFirst())
        let between = try directory.write(PEM.bundle(intermediates), to: "between.pem")
        let leaf = try directory.write(identity.certificate.pem, to: "leaf.pem")
        return try runProcess(
            ["openssl", "verify", "-auth_level", "0", "-purpose", "sslserver", "-CAfile", root]
                + (intermediates.isEmpty ? [] : ["-untrusted", between]) + options + [leaf])
    }

    static func text(_ der: [UInt8]) throws -> ProcessResult {
        try runProcess(["openssl", "x509", "-inform", "DER", "-noout", "-text"], input: der)
    }

    @Test("openssl verifies a chain signed by every kind of key, strictly", arguments: signingKeys)
    func chainOfEveryKeyType(_ type: KeyType) throws {
        let identity = try CertificateAuthority.root(keyType: type).intermediate(keyType: type)
            .issue(hosts: ["a.test", "127.0.0.1", "::1"], keyType: type)
        let result = try MintingTests.verify(identity, options: ["-x509_strict", "-verify_hostname", "a.test"])
        #expect(result.status == 0, "\(result.errorOutput)")
    }

    @Test("A damaged signature is refused, for every kind of key", arguments: signingKeys)
    func damagedSignature(_ type: KeyType) throws {
        let identity = try CertificateAuthority.root(keyType: type).issue {
            $0.editSignature = { signature in
                var damaged = signature
                damaged[damaged.count / 2] ^= 1
                return damaged
            }
        }
        let result = try MintingTests.verify(identity)
        #expect(result.errorOutput.contains("certificate signature failure"))
    }

    @Test("Every digest signs with RSA, in both paddings", arguments: Digest.allCases)
    func digests(_ digest: Digest) throws {
        let root = try CertificateAuthority.root(keyType: .rsa2048)
        for algorithm in [SignatureAlgorithm.rsaPKCS1(digest), .rsaPSS(digest)] {
            let identity = try root.issue { $0.signatureAlgorithm = algorithm }
            let result = try MintingTests.verify(identity)
            #expect(result.status == 0, "\(algorithm): \(result.errorOutput)")
        }
    }

    @Test("openssl computes the same SPKI, for every kind of key", arguments: signingKeys + [.x25519, .x448])
    func publicKey(_ type: KeyType) throws {
        let key = try PrivateKey(type)
        let result = try runProcess(["openssl", "pkey", "-pubout", "-outform", "DER"], input: Array(key.pem.utf8))
        #expect(result.stdout == key.spkiDER)
        #expect(try PrivateKey(pem: key.pem) == key)
        let read = try runProcess(["openssl", "pkey", "-pubin", "-noout"], input: Array(key.publicPEM.utf8))
        #expect(read.status == 0)
    }

    @Test("A certificate can carry an RSA key of 16,384 bits with exponent 3, without a private key")
    func publicKeyWithoutPrivateHalf() throws {
        let spki = SubjectPublicKeyInfo.rsa(modulusBits: 16_384, exponent: 3)
        let identity = try CertificateAuthority.root().issue { $0.subjectPublicKeyInfo = spki }
        let text = try MintingTests.text(identity.certificate.der).output
        #expect(text.contains("Public-Key: (16384 bit)"))
        #expect(text.contains("Exponent: 3 (0x3)"))
    }

    @Test("A certificate can carry a key that cannot sign, and cannot be signed with it")
    func keyAgreementKey() throws {
        let root = try CertificateAuthority.root()
        #expect(try MintingTests.verify(root.issue(keyType: .x25519)).status == 0)
        #expect(throws: MintingError.self) { try CertificateAuthority.root(keyType: .x25519) }
    }

    @Test("A self-signed leaf has the extensions that openssl req -x509 writes")
    func selfSignedLeaf() throws {
        let identity = try Identity.selfSigned(hosts: ["nas.test"])
        let text = try MintingTests.text(identity.certificate.der).output
        #expect(text.contains("CA:TRUE"))
        #expect(!text.contains("Key Usage"))
        #expect(try MintingTests.verify(identity).status == 0)
    }

    @Test("A leaf of a cross-signed authority has a path to each of two roots, and none with mixed issuers")
    func crossSigning() throws {
        let first = try CertificateAuthority.root(name: "First")
        let second = try CertificateAuthority.root(name: "Second")
        let intermediate = try first.intermediate()
        let crossed = try intermediate.crossSigned(by: second)
        let identity = try intermediate.issue()
        var other = identity
        other.issuers = [crossed.certificate, second.certificate]
        #expect(crossed.certificate.spkiDER == intermediate.certificate.spkiDER)
        #expect(try MintingTests.verify(identity).status == 0)
        #expect(try MintingTests.verify(other).status == 0)
        other.issuers = [crossed.certificate, first.certificate]
        #expect(try MintingTests.verify(other).status != 0)
    }

    @Test("A renewed certificate has the same key, another serial number and a new validity")
    func renewal() throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue { $0.notAfter = .fromNow(seconds: -60) }
        #expect(try MintingTests.verify(identity).errorOutput.contains("certificate has expired"))
        let renewed = try identity.renewed(by: root)
        #expect(try MintingTests.verify(renewed).status == 0)
        #expect(renewed.certificate.spkiDER == identity.certificate.spkiDER)
        #expect(renewed.certificate.template.serialNumber != identity.certificate.template.serialNumber)
    }

    @Test("openssl reads and verifies a signing request", arguments: signingKeys)
    func request(_ type: KeyType) throws {
        let key = try PrivateKey(type)
        let request = try CertificateSigningRequest(hosts: ["a.test", "127.0.0.1"], key: key)
        let result = try runProcess(["openssl", "req", "-verify", "-noout", "-text"], input: Array(request.pem.utf8))
        // In some releases of openssl the exit code does not depend on the signature.
        #expect(result.status == 0 && result.errorOutput.contains("verify OK"), "\(result.errorOutput)")
        #expect(result.output.contains("DNS:a.test, IP Address:127.0.0.1"))
    }
}
