import Testing

@testable import Pintle

@Suite("Certificate extensions")
struct CertificateExtensionTests {
    typealias D = DERBytes
    static let subjectAltName = D.oid(2, 5, 29, 17)
    static let basicConstraints = D.oid(2, 5, 29, 19)
    static let keyUsage = D.oid(2, 5, 29, 15)
    static let extendedKeyUsage = D.oid(2, 5, 29, 37)
    static let nameConstraints = D.oid(2, 5, 29, 30)

    private static func read(_ extensions: [UInt8]...) throws -> Certificate {
        var certificate = UnsignedCertificate()
        certificate.extensions = extensions
        return try certificate.read()
    }

    private static func refusal(_ extensions: [UInt8]...) -> DERError? {
        var certificate = UnsignedCertificate()
        certificate.extensions = extensions
        let der = certificate.der
        return DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) }
    }

    private static func field(_ identifier: [UInt8], critical: [UInt8] = [], _ value: [UInt8]) -> [UInt8] {
        UnsignedCertificate.extensionField(identifier, critical: critical, value)
    }

    @Test("A certificate without extensions has no names, constraints or usages")
    func none() throws {
        let certificate = try UnsignedCertificate().read()
        #expect(certificate.subjectAlternativeNames == nil)
        #expect(certificate.basicConstraints == nil)
        #expect(certificate.keyUsage == nil)
        #expect(certificate.extendedKeyUsage == nil)
        #expect(certificate.nameConstraints == nil)
        #expect(!certificate.isCA)
    }

    @Test("An empty list of extensions is refused, and an unknown extension is accepted")
    func emptyList() throws {
        #expect(Self.refusal()?.field.description == "extensions")
        #expect(try Self.read(Self.field(D.oid(1, 3, 9), critical: D.yes, [0xFF])).extensions[0].isCritical)
    }

    @Test("The same extension twice is refused, and two whose identifiers differ in the last arc are accepted")
    func duplicates() throws {
        let one = Self.field(D.oid(1, 3, 9), D.null)
        let other = Self.field(D.oid(1, 3, 10), D.null)
        #expect(Self.refusal(one, other) == nil)
        #expect(Self.refusal(one, other, one)?.reason == .duplicate)
    }

    @Test("A certificate may have 128 extensions, but not 129")
    func count() {
        let fields = (0..<129).map { Self.field(D.oid(1, 3, 9, UInt64($0)), D.null) }
        func refusal(_ extensions: ArraySlice<[UInt8]>) -> DERError? {
            var certificate = UnsignedCertificate()
            certificate.extensions = Array(extensions)
            let der = certificate.der
            return DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) }
        }
        #expect(refusal(fields[..<128]) == nil)
        #expect(refusal(fields[...])?.reason == .tooLarge)
    }

    @Test("A certificate may have 10,000 alternative names and constraints together, but not 10,001")
    func nameCount() throws {
        func read(_ alternative: Int, _ permitted: Int, _ excluded: Int) throws(DERError) -> Certificate {
            let subtree = D.sequence(D.element(0x82))
            func subtrees(_ tag: UInt8, _ count: Int) -> [UInt8] {
                count == 0 ? [] : D.element(tag, [[UInt8]](repeating: subtree, count: count).flatMap(\.self))
            }
            let names = [[UInt8]](repeating: D.element(0x82), count: alternative).flatMap(\.self)
            var certificate = UnsignedCertificate()
            certificate.extensions = [
                Self.field(D.oid(2, 5, 29, 17), D.sequence(names)),
                Self.field(D.oid(2, 5, 29, 30), D.sequence(subtrees(0xA0, permitted) + subtrees(0xA1, excluded))),
            ]
            return try certificate.read()
        }
        #expect(try read(9_998, 1, 1).subjectAlternativeNames?.count == 9_998)
        #expect(try read(1, 4_999, 5_000).nameConstraints?.excluded.count == 5_000)
        for (alternative, permitted, excluded) in [(10_000, 1, 0), (9_999, 1, 1), (1, 5_000, 5_000)] {
            let error = DERError.thrown { () throws(DERError) in _ = try read(alternative, permitted, excluded) }
            #expect(error?.reason == .tooLarge)
        }
    }

    @Test("A certificate may have 128 extended key usages, but not 129")
    func purposeCount() {
        func refusal(_ count: Int) -> DERError? {
            let purposes = (0..<count).map { D.oid(1, 3, 9, UInt64($0)) }.flatMap(\.self)
            return Self.refusal(Self.field(D.oid(2, 5, 29, 37), D.sequence(purposes)))
        }
        #expect(refusal(128) == nil)
        #expect(refusal(129)?.reason == .tooLarge)
    }

    @Test("FALSE may be written out, TRUE must be FF, and nothing may follow the value")
    func critical() throws {
        let value = D.sequence()
        #expect(try Self.read(Self.field(Self.basicConstraints, value)).basicConstraints?.isCritical == false)
        #expect(
            try Self.read(Self.field(Self.basicConstraints, critical: D.no, value)).basicConstraints?.isCritical
                == false)
        #expect(
            try Self.read(Self.field(Self.basicConstraints, critical: D.yes, value)).basicConstraints?.isCritical
                == true)
        #expect(
            Self.refusal(Self.field(Self.basicConstraints, critical: [1, 1, 1], value))?.field.description
                == "critical")
        let trailing = D.sequence(Self.basicConstraints, D.octetString(value), D.null)
        #expect(Self.refusal(trailing)?.reason == .trailingData)
        let bits = D.sequence(Self.basicConstraints, D.bitString(value))
        #expect(Self.refusal(bits)?.field.description == "extnValue")
    }

    @Test("Basic constraints hold the CA flag and the path length")
    func basicConstraints() throws {
        let read = { (value: [UInt8]) in try Self.read(Self.field(Self.basicConstraints, value)) }
        #expect(try !read(D.sequence()).isCA)
        #expect(try !read(D.sequence(D.no)).isCA)
        #expect(try read(D.sequence(D.yes)).isCA)
        #expect(try read(D.sequence(D.yes)).basicConstraints?.pathLength == nil)
        #expect(try read(D.sequence(D.yes, D.integer(0))).basicConstraints?.pathLength == 0)
        #expect(try read(D.sequence(D.yes, D.integer(0x00, 0xFF))).basicConstraints?.pathLength == 255)
        #expect(try read(D.sequence(D.integer(3))).basicConstraints?.pathLength == 3)
    }

    @Test(
        "Malformed basic constraints are refused",
        arguments: [
            [], D.null, D.sequence([1, 1, 1]), D.sequence(D.yes, D.integer(0xFF)), D.sequence(D.yes, D.integer(0, 1)),
            D.sequence(D.yes, D.integer(1, 0, 0, 0, 0)), D.sequence(D.integer(1), D.yes),
            D.sequence(D.yes, D.integer(1), D.null), D.sequence(D.yes) + D.null, D.sequence(D.yes, D.yes),
        ] as [[UInt8]])
    func wrongBasicConstraints(_ value: [UInt8]) {
        #expect(Self.refusal(Self.field(Self.basicConstraints, value)) != nil)
    }

    @Test("Key usage counts its bits from the most significant")
    func keyUsage() throws {
        let read = { (value: [UInt8]) in try Self.read(Self.field(Self.keyUsage, value)).keyUsage }
        #expect(try read(D.bitString([0x80], unused: 7)) == .digitalSignature)
        #expect(try read(D.bitString([0x06], unused: 1)) == [.keyCertSign, .cRLSign])
        #expect(try read(D.bitString([0xA0], unused: 5)) == [.digitalSignature, .keyEncipherment])
        #expect(try read(D.bitString([0x08, 0x80], unused: 7)) == [.keyAgreement, KeyUsage(rawValue: 0x0080)])
        #expect(try read(D.bitString([])) == [])
        for wrong in [D.bitString([0x81], unused: 7), D.octetString([0x80]), D.bitString([0x80]) + D.null] {
            #expect(Self.refusal(Self.field(Self.keyUsage, wrong)) != nil, "\(wrong)")
        }
    }

    @Test("Extended key usage lists at least one purpose")
    func extendedKeyUsage() throws {
        let server = D.oid(1, 3, 6, 1, 5, 5, 7, 3, 1)
        let client = D.oid(1, 3, 6, 1, 5, 5, 7, 3, 2)
        let read = { (value: [UInt8]) in
            try Self.read(Self.field(Self.extendedKeyUsage, value)).extendedKeyUsage
        }
        let both = try read(D.sequence(client, server))
        #expect(both?.allowsServerAuthentication == true)
        #expect(both?.purposes.map(\.description) == ["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"])
        #expect(try read(D.sequence(client))?.allowsServerAuthentication == false)
        let any = try read(D.sequence(D.oid(2, 5, 29, 37, 0)))
        #expect(any?.allowsAny == true)
        #expect(any?.allowsServerAuthentication == false)
        for wrong in [D.sequence(), server, D.sequence(D.null), D.sequence(server) + D.null] {
            #expect(Self.refusal(Self.field(Self.extendedKeyUsage, wrong)) != nil, "\(wrong)")
        }
    }

    @Test("Alternative names of every type keep their octets")
    func alternativeNames() throws {
        let directory = UnsignedCertificate.commonName("dir")
        let names: [[UInt8]] = [
            D.element(0x82, Array("A.example".utf8)), D.element(0x87, [192, 0, 2, 1]),
            D.element(0x87, [UInt8](repeating: 0, count: 15) + [1]), D.element(0x81, Array("a@b".utf8)),
            D.element(0x86, Array("https://u/".utf8)), D.element(0xA4, directory),
            D.element(0xA0, D.oid(1, 3, 9), D.element(0xA0, D.null)), D.element(0xA3), D.element(0xA5),
            D.element(0x88, [0x29]), D.element(0x82, Array("a\0b".utf8)), D.element(0x82, []),
        ]
        let read = try Self.read(Self.field(Self.subjectAltName, D.sequence(names.flatMap(\.self))))
            .subjectAlternativeNames
        #expect(
            read?.map(\.description) == [
                "A.example", "192.0.2.1", "::1", "email:a@b", "URI:https://u/", "directoryName", "[0]", "[3]", "[5]",
                "[8]", "a\\00b", "",
            ])
        guard case .directoryName(let octets) = read?[5] else { return #expect(Bool(false), "no directory name") }
        #expect(Array(octets) == directory)
        guard case .dns(let host) = read?[0] else { return #expect(Bool(false), "no DNS name") }
        #expect(Array(host) == Array("A.example".utf8))
    }

    @Test(
        "Malformed alternative names are refused",
        arguments: [
            D.sequence(), D.null, D.sequence(D.utf8("a.example")), D.sequence(D.element(0x82, [0xC3, 0xA9])),
            D.sequence(D.element(0x89, [1])), D.sequence(D.element(0xA2, [1])), D.sequence(D.element(0xA4, D.null)),
            D.sequence(D.element(0xA4, D.sequence(), D.sequence())), D.sequence(D.element(0x82, [0x61])) + D.null,
            D.sequence([0x82, 0x05, 0x61]),
        ] as [[UInt8]])
    func wrongAlternativeNames(_ value: [UInt8]) {
        #expect(Self.refusal(Self.field(Self.subjectAltName, value)) != nil)
    }

    @Test("The text of a name cannot control a terminal")
    func printableNames() throws {
        let name = GeneralName.dns([0x61, 0x1B, 0x5B, 0x5C, 0x7F][...])
        #expect(name.description == "a\\1B[\\5C\\7F")
        #expect(GeneralName.ipAddress([1, 2, 3][...]).description == "IP:#3 octets")
    }

    @Test("Name constraints list permitted and excluded subtrees")
    func nameConstraints() throws {
        let dns = { (text: String) in D.sequence(D.element(0x82, Array(text.utf8))) }
        let network = D.sequence(D.element(0x87, [10, 0, 0, 0, 255, 0, 0, 0]))
        let both = D.sequence(D.element(0xA0, dns("a"), network), D.element(0xA1, dns(".b")))
        let read = try Self.read(Self.field(Self.nameConstraints, critical: D.yes, both)).nameConstraints
        #expect(
            read?.permitted == [.dns(Array("a".utf8)[...]), .ipAddress([10, 0, 0, 0, 255, 0, 0, 0][...])])
        #expect(read?.excluded == [.dns(Array(".b".utf8)[...])])
        let minimum = D.sequence(D.element(0x82, [0x61]), D.element(0x80, [0]))
        for wrong in [
            D.sequence(), D.sequence(D.element(0xA0)), D.sequence(D.element(0xA1)),
            D.sequence(D.element(0xA1, dns("a")), D.element(0xA0, dns("a"))), D.sequence(D.element(0xA2, dns("a"))),
            D.sequence(D.element(0xA0, minimum)), D.sequence(D.element(0xA0, dns("a"))) + D.null,
        ] {
            #expect(Self.refusal(Self.field(Self.nameConstraints, wrong)) != nil, "\(wrong)")
        }
    }
}
