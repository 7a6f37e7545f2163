import PintleTestKit
import Testing

@Suite("Malformed certificates")
struct MalformedTests {
    let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority.root()
    }

    func opensslReads(_ der: [UInt8]) throws -> Bool {
        try MintingTests.text(der).status == 0
    }

    @Test("openssl refuses a truncated certificate and reads the whole one")
    func truncated() throws {
        let der = try root.issue().certificate.der
        #expect(try opensslReads(der))
        #expect(try !opensslReads(Array(der.dropLast())))
    }

    @Test("openssl refuses garbage in the signed part, although the signature is valid")
    func garbageUnderGoodSignature() throws {
        let identity = try root.issue { template in
            template.editSignedPart = { Array($0.dropLast(40)) + [UInt8](repeating: 0xFF, count: 40) }
        }
        #expect(try !opensslReads(identity.certificate.der))
    }

    @Test("openssl refuses a time with trailing garbage and accepts it without")
    func junkInTime() throws {
        let good = try root.issue { $0.notAfter = .utcTime("491231235959Z") }
        let bad = try root.issue { $0.notAfter = .utcTime("491231235959Zjunk") }
        #expect(try MintingTests.verify(good).status == 0)
        #expect(try MintingTests.verify(bad).status != 0)
    }

    @Test("openssl refuses a certificate whose inner and outer algorithms differ")
    func algorithmMismatch() throws {
        let other = SignatureAlgorithm.ecdsa(.sha384).identifierDER
        let same = SignatureAlgorithm.ecdsa(.sha256).identifierDER
        #expect(try MintingTests.verify(root.issue { $0.innerAlgorithmIdentifier = same }).status == 0)
        #expect(try MintingTests.verify(root.issue { $0.innerAlgorithmIdentifier = other }).status != 0)
        #expect(try MintingTests.verify(root.issue { $0.outerAlgorithmIdentifier = other }).status != 0)
    }

    @Test("openssl refuses a forged signature in a genuine issuer's name")
    func forgery() throws {
        let forger = try CertificateAuthority.root()
        let key = try PrivateKey()
        let template = CertificateTemplate.forServer(hosts: ["a.test"])
        let forged = try template.minted(for: key, by: root.certificate, signingKey: forger.key)
        let genuine = try template.minted(for: key, by: root)
        for (certificate, isGood) in [(forged, false), (genuine, true)] {
            let identity = Identity(certificate: certificate, key: key, issuers: [root.certificate])
            #expect(try (MintingTests.verify(identity).status == 0) == isGood)
        }
    }

    @Test("Lengths can have leading zeros or be indefinite")
    func lengths() {
        #expect(DERWriter.encode { $0.element(tag: 0x04, content: [1]) } == [0x04, 0x01, 0x01])
        let padded = DERWriter.encode { $0.element(tag: 0x04, length: .long(octets: 3), content: [1]) }
        #expect(padded == [0x04, 0x83, 0x00, 0x00, 0x01, 0x01])
        #expect(DERWriter.encode { $0.element(tag: 0x24, length: .indefinite, content: []) } == [0x24, 0x80, 0, 0])
        let long = DERWriter.encode { $0.octetString([UInt8](repeating: 7, count: 300)) }
        #expect(long.starts(with: [0x04, 0x82, 0x01, 0x2C]))
    }

    @Test(
        "An integer has as few octets as its sign allows",
        arguments: [
            (0, [0x00]), (127, [0x7F]), (128, [0x00, 0x80]), (-1, [0xFF]), (-128, [0x80]), (-129, [0xFF, 0x7F]),
            (65_537, [0x01, 0x00, 0x01]), (Int.min, [0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] as [(Int, [UInt8])])
    func integers(_ value: Int, _ content: [UInt8]) {
        #expect(DERWriter.encode { $0.integer(value) } == [0x02, UInt8(content.count)] + content)
    }
}
