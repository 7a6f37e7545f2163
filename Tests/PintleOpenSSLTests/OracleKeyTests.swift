import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

/// Compares pins with the usual openssl recipe, a pipeline of five commands.
@Suite("Oracle: openssl's recipe for pins")
struct OracleKeyTests {
    /// The kinds of keys, as arguments of `openssl genpkey` in openssl 3.0.
    static let keys = [
        "-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "-algorithm RSA -pkeyopt rsa_keygen_bits:1024",
        "-algorithm RSA -pkeyopt rsa_keygen_bits:3072 -pkeyopt rsa_keygen_pubexp:3",
        "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048",
        "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_pss_keygen_md:sha256 "
            + "-pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:32",
        "-algorithm EC -pkeyopt ec_paramgen_curve:P-224", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        "-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "-algorithm EC -pkeyopt ec_paramgen_curve:P-521",
        "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
        "-algorithm EC -pkeyopt ec_paramgen_curve:brainpoolP384r1",
        "-algorithm EC -pkeyopt ec_paramgen_curve:sect283k1",
        "-algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit", "-algorithm SM2",
        "-algorithm ED25519", "-algorithm ED448", "-algorithm X25519", "-algorithm X448",
        "-algorithm DH -pkeyopt group:ffdhe2048", "-algorithm DHX -pkeyopt dh_rfc5114:2",
    ]

    static let recipe = """
        openssl x509 -in "$1" -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
        """

    private static func recipePin(of certificate: MintedCertificate) throws -> String {
        let files = try TemporaryDirectory()
        let path = try files.write(certificate.pem, to: "certificate.pem")
        let result = try runProcess(["bash", "-o", "pipefail", "-c", recipe, "recipe", path])
        #expect(result.status == 0, "\(result.errorOutput)")
        return "sha256/" + result.output.filter { $0 != "\n" }
    }

    /// Compares the pin of a certificate with this key with the recipe, and its size with openssl's output.
    private static func check(_ spki: [UInt8]) throws -> Pintle.PublicKeyDescription {
        let minted = try CertificateAuthority.root().issue { $0.subjectPublicKeyInfo = spki }.certificate
        let certificate = try Certificate(der: minted.der)
        let pin = try recipePin(of: minted)
        #expect(certificate.publicKeyPin.description == pin)
        #expect(try PublicKeyPin(subjectPublicKeyInfo: spki) == certificate.publicKeyPin)
        let text = try runProcess(
            ["openssl", "pkey", "-pubin", "-inform", "DER", "-noout", "-text"], input: spki
        ).output
        if let bits = certificate.publicKey.bits {
            let named = text.contains("(\(bits) bit)") || text.hasPrefix(certificate.publicKey.type.uppercased())
            #expect(named, "\(certificate.publicKey) and \(text.prefix(60))")
        }
        return certificate.publicKey
    }

    @Test("A pin equals the recipe for every kind of key that openssl makes", arguments: keys)
    func generated(_ arguments: String) throws {
        let key = try runProcess(
            ["bash", "-o", "pipefail", "-c", "openssl genpkey \(arguments) | openssl pkey -pubout -outform DER"],
            timeout: 120)
        try #require(key.status == 0, "\(key.errorOutput)")
        _ = try Self.check(key.stdout)
    }

    @Test("A pin equals the recipe for RSA of every size and exponent, and for DSA")
    func sizes() throws {
        for (bits, exponent) in [(512, 3), (2048, 65_537), (4096, 17), (8192, 65_537), (16_384, 3)] {
            let key = try Self.check(SubjectPublicKeyInfo.rsa(modulusBits: bits, exponent: exponent))
            #expect(key.description == "RSA \(bits)")
        }
        let dsa = try Self.check(try PrivateKey(.dsa(bits: 1024)).spkiDER)
        #expect(dsa.description == "DSA 1024")
    }

    @Test("A pin is the hash of the bytes in the certificate, where the recipe encodes the key again")
    func reencoded() throws {
        let key = try PrivateKey(.rsa2048).spkiDER
        let rsa: DERWriter.OID = [1, 2, 840, 113_549, 1, 1, 1]
        let pss: DERWriter.OID = [1, 2, 840, 113_549, 1, 1, 10]
        // AlgorithmIdentifier and BIT STRING. The BIT STRING of an RSA key of 2,048 bits has 275 bytes.
        func encoded(_ identifier: DERWriter.OID, _ parameters: (inout DERWriter) -> Void) -> [UInt8] {
            DERWriter.encode { der in
                der.sequence { der in
                    der.sequence { der in
                        der.oid(identifier)
                        parameters(&der)
                    }
                    der.raw(key.suffix(275))
                }
            }
        }
        func pins(_ spki: [UInt8]) throws -> (own: String, recipe: String) {
            let minted = try CertificateAuthority.root().issue { $0.subjectPublicKeyInfo = spki }.certificate
            let certificate = try Certificate(der: minted.der)
            #expect(try PublicKeyPin(subjectPublicKeyInfo: spki) == certificate.publicKeyPin)
            return (certificate.publicKeyPin.description, try Self.recipePin(of: minted))
        }
        #expect(encoded(rsa) { $0.null() } == key)
        let usual = try pins(key)
        #expect(usual.own == usual.recipe)
        let withoutNull = try pins(encoded(rsa) { _ in })
        #expect(withoutNull.own != usual.own && withoutNull.recipe == usual.recipe)
        // A salt of 20 octets is the default and written out, which DER does not allow.
        let salted = try pins(encoded(pss) { der in der.sequence { $0.context(2) { $0.integer(20) } } })
        let plain = try pins(encoded(pss) { $0.sequence { _ in } })
        #expect(plain.own == plain.recipe)
        #expect(salted.own != plain.own && salted.recipe != salted.own)
    }

    @Test(
        "curl accepts the printed pin and refuses any other",
        arguments: [
            KeyType.rsa2048, .p256, .p384, .p521, .ed25519, .rsaPSS(bits: 2048), .rsa(bits: 2048, exponent: 3),
        ])
    func curl(_ type: KeyType) throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue(keyType: type)
        let server = try SServer(identity)
        let anchors = try TemporaryDirectory()
        let bundle = try anchors.write(root.certificate.pem, to: "root.pem")
        func status(_ pin: PublicKeyPin) throws -> Int32 {
            // curl's notation begins with `sha256//`.
            let pinned = "sha256//" + pin.description.dropFirst(7)
            return try runProcess([
                "curl", "--silent", "--output", "/dev/null", "--noproxy", "*", "--max-time", "20", "--cacert", bundle,
                "--pinnedpubkey", pinned, "https://127.0.0.1:\(server.port)/",
            ]).status
        }
        let own = try Certificate(der: identity.certificate.der).publicKeyPin
        #expect(try status(own) == 0)
        let other = try Certificate(der: root.certificate.der).publicKeyPin
        #expect(try status(other) == 90)
    }
}
