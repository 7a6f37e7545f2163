import Testing

@testable import Pintle

@Suite("Distinguished names")
struct DistinguishedNameTests {
    typealias D = DERBytes

    private static func name(_ subject: [UInt8]) throws -> DistinguishedName {
        var certificate = UnsignedCertificate()
        certificate.subject = subject
        return try certificate.read().subject
    }

    private static func commonName(_ value: [UInt8]) throws -> DistinguishedName {
        try name(D.sequence(UnsignedCertificate.attribute(value)))
    }

    private static func pair(_ type: [UInt8], _ text: String) -> [UInt8] { D.sequence(type, D.utf8(text)) }

    static let country = D.oid(2, 5, 4, 6)
    static let organization = D.oid(2, 5, 4, 10)
    static let common = D.oid(2, 5, 4, 3)

    @Test("The most specific attribute comes first (RFC 4514 section 2.1)")
    func order() throws {
        let subject = D.sequence(
            D.set(Self.pair(Self.country, "NL")), D.set(Self.pair(Self.organization, "Gate & Sons")),
            D.set(Self.pair(Self.common, "Root R1")))
        let name = try Self.name(subject)
        #expect(name.description == "CN=Root R1, O=Gate & Sons, C=NL")
        #expect(name.commonName == "Root R1")
        #expect(name.attributes.map(\.type) == ["2.5.4.6", "2.5.4.10", "2.5.4.3"])
    }

    @Test("Attributes of one SET are joined by a plus sign")
    func multiValued() throws {
        let subject = D.sequence(
            D.set(Self.pair(Self.country, "NL")),
            D.set(Self.pair(Self.common, "a"), Self.pair(Self.organization, "b"), Self.pair(Self.country, "c")))
        #expect(try Self.name(subject).description == "CN=a+O=b+C=c, C=NL")
    }

    @Test("A name without attributes is empty and has no common name")
    func empty() throws {
        let name = try Self.name(D.sequence())
        #expect(name.isEmpty)
        #expect(name.commonName == nil)
        #expect(name.description == "")
    }

    @Test("An attribute without a short name is written by its identifier, and a value that is not text in hexadecimal")
    func otherTypes() throws {
        #expect(try Self.name(D.sequence(D.set(Self.pair(D.oid(1, 3, 9), "x")))).description == "1.3.9=x")
        let odd = try Self.commonName(D.octetString([0xAB, 0x01]))
        #expect(odd.description == "CN=#0402AB01")
        #expect(odd.commonName == nil)
    }

    @Test(
        "Every string type is decoded",
        arguments: [
            (D.utf8("Zoë"), "Zoë"), (D.element(0x13, Array("Zoe".utf8)), "Zoe"), (D.element(0x16, [0x61]), "a"),
            (D.element(0x12, [0x31]), "1"), (D.element(0x1A, [0x7E]), "~"), (D.element(0x14, [0x5A, 0xEB]), "Zë"),
            (D.element(0x1E, [0x00, 0x5A, 0x20, 0xAC]), "Z€"), (D.element(0x1C, [0, 1, 0xF5, 0x11]), "🔑"),
            (D.utf8(""), ""),
        ] as [([UInt8], String)])
    func stringTypes(_ value: [UInt8], _ text: String) throws {
        #expect(try Self.commonName(value).commonName == text)
    }

    @Test(
        "Octets that are invalid for their string type are not text, but are still shown",
        arguments: [
            D.element(0x0C, [0xC3]), D.element(0x0C, [0xC0, 0x80]), D.element(0x0C, [0xED, 0xA0, 0x80]),
            D.element(0x13, [0x80]), D.element(0x1E, [0x00]), D.element(0x1E, [0xD8, 0x00]),
            D.element(0x1C, [0, 0x11, 0, 0]), D.element(0x1C, [0, 0, 1]), D.element(0x1C, [0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [[UInt8]])
    func noText(_ value: [UInt8]) throws {
        let name = try Self.commonName(value)
        #expect(name.commonName == nil)
        let octets = Hex.encode(value, upperCase: true)
        #expect(name.description == "CN=#" + octets)
    }

    @Test(
        "Characters with a meaning in the notation are escaped",
        arguments: [
            ("a,b", "a\\,b"), ("a+b", "a\\+b"), ("\"q\"", "\\\"q\\\""), ("a\\b", "a\\\\b"), ("<a;b>", "\\<a\\;b\\>"),
            ("#1", "\\#1"), ("a#1", "a#1"), (" a b ", "\\ a b\\ "), (" ", "\\ "), ("a=b", "a=b"),
        ])
    func escapes(_ text: String, _ shown: String) throws {
        #expect(try Self.commonName(D.utf8(text)).description == "CN=" + shown)
    }

    @Test(
        "Characters that control a display are escaped",
        arguments: [
            ("a\u{0}b", "a\\00b"), ("a\nCN=b", "a\\0ACN=b"), ("\u{1B}[2J", "\\1B[2J"), ("a\u{7F}", "a\\7F"),
            ("a\u{9B}2J", "a\\C2\\9B2J"), ("\u{202E}moc", "\\E2\\80\\AEmoc"), ("a\u{2066}b", "a\\E2\\81\\A6b"),
            ("a\u{200B}b", "a\\E2\\80\\8Bb"), ("a\u{2028}b", "a\\E2\\80\\A8b"), ("a\u{FEFF}b", "a\\EF\\BB\\BFb"),
            ("a\u{A0}b", "a\\C2\\A0b"), ("a\u{301}", "a\\CC\\81"), ("a\u{E000}", "a\\EE\\80\\80"),
            ("\u{3164}", "\\E3\\85\\A4"), ("\u{E0041}", "\\F3\\A0\\81\\81"), ("a\r\nb", "a\\0D\\0Ab"),
        ])
    func invisible(_ text: String, _ shown: String) throws {
        let name = try Self.commonName(D.utf8(text))
        #expect(name.description == "CN=" + shown)
        #expect(name.commonName == text)
    }

    @Test(
        "A malformed name is refused",
        arguments: [
            D.set(), D.sequence(D.set()), D.sequence(D.sequence()), D.sequence(D.set(D.null)),
            D.sequence(D.set(D.sequence(common))), D.sequence(D.set(D.sequence(common, D.utf8("a"), D.null))),
            D.sequence(D.set(D.sequence(D.utf8("a"), D.utf8("a")))), D.sequence(D.null),
            D.sequence(D.set(D.sequence([0x06, 0x01, 0x80], D.null))),
        ] as [[UInt8]])
    func refused(_ subject: [UInt8]) {
        var certificate = UnsignedCertificate()
        certificate.subject = subject
        let der = certificate.der
        #expect(DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) } != nil)
    }
}
