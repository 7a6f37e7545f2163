import Testing

@testable import Pintle

@Suite("Hostile certificates")
struct CertificateHostileTests {
    typealias D = DERBytes

    /// A certificate with every field that Pintle parses.
    static let full: [UInt8] = {
        var certificate = UnsignedCertificate()
        certificate.subject = D.sequence(
            UnsignedCertificate.attribute(D.element(0x1E, [0x00, 0x5A])), UnsignedCertificate.attribute(D.utf8("ë, b")))
        certificate.notAfter = D.generalizedTime("20500101000000Z")
        let field = UnsignedCertificate.extensionField
        let dns = D.element(0x82, Array("a.example".utf8))
        certificate.extensions = [
            field(D.oid(2, 5, 29, 17), [], D.sequence(dns, D.element(0x87, [192, 0, 2, 1]))),
            field(D.oid(2, 5, 29, 19), D.yes, D.sequence(D.yes, D.integer(1))),
            field(D.oid(2, 5, 29, 15), D.yes, D.bitString([0x06], unused: 1)),
            field(D.oid(2, 5, 29, 37), [], D.sequence(D.oid(1, 3, 6, 1, 5, 5, 7, 3, 1))),
            field(D.oid(2, 5, 29, 30), D.yes, D.sequence(D.element(0xA0, D.sequence(dns)))),
        ]
        return certificate.der
    }()

    /// Parses the bytes as a certificate and formats all displayed fields. Returns whether parsing succeeded.
    @discardableResult
    private static func exercise(_ der: [UInt8]) -> Bool {
        let sliced = PublicKeyPin(sliceOf: der)
        guard let certificate = try? Certificate(der: der) else { return false }
        // If parsing succeeds, the fast path to the key must find the same key.
        #expect(sliced == certificate.publicKeyPin)
        let pin = try? PublicKeyPin(subjectPublicKeyInfo: Array(certificate.subjectPublicKeyInfo))
        #expect(pin == certificate.publicKeyPin)
        let shown = [
            certificate.subject.description, certificate.issuer.description, certificate.publicKey.description,
            certificate.subjectAlternativeNames?.map(\.description).joined() ?? "",
            certificate.nameConstraints?.permitted.map(\.description).joined() ?? "",
            certificate.extendedKeyUsage?.purposes.map(\.description).joined() ?? "",
        ].joined()
        #expect(!shown.unicodeScalars.contains { $0.isUnsafeToPrint })
        return true
    }

    @Test("No prefix of a certificate is a valid certificate")
    func truncations() {
        #expect(Self.exercise(Self.full))
        for count in 0..<Self.full.count { #expect(!Self.exercise(Array(Self.full[..<count])), "\(count) bytes") }
    }

    @Test("Changing any single bit or byte never makes the parser trap")
    func flips() {
        var readable = 0
        for index in Self.full.indices {
            let original = Self.full[index]
            for value in (0..<8).map({ original ^ 1 << UInt8($0) }) + [0x00, 0x7F, 0x80, 0xFF] {
                var der = Self.full
                der[index] = value
                if Self.exercise(der) { readable += 1 }
            }
        }
        // Most bytes of a certificate are payload, so many changes must still parse. Otherwise the test exercised
        // nothing.
        #expect(readable > Self.full.count)
    }

    @Test("Random bytes, and random cuts and insertions in a certificate, never make the parser trap", arguments: 0..<8)
    func garbage(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        for _ in 0..<400 {
            let noise = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            Self.exercise(noise)
            var der = Self.full
            let start = Int.random(in: 0..<der.count, using: &generator)
            let end = min(der.count, start + Int.random(in: 0...32, using: &generator))
            der.replaceSubrange(start..<end, with: noise)
            Self.exercise(der)
        }
    }

    @Test("A name of the maximum size is formatted in linear time")
    func longNames() throws {
        let seconds = try secondsTaken {
            for text in [String(repeating: "a", count: 250_000), String(repeating: ",\u{1}", count: 60_000)] {
                var certificate = UnsignedCertificate()
                certificate.subject = UnsignedCertificate.commonName(text)
                let shown = try certificate.read().subject.description
                #expect(shown.utf8.count >= 250_000)
            }
            var crowded = UnsignedCertificate()
            let pair = D.sequence(D.oid(2, 5, 4, 3), D.utf8("a"))
            crowded.subject = D.sequence(D.set([[UInt8]](repeating: pair, count: 20_000).flatMap(\.self)))
            let shown = try crowded.read().subject.description
            #expect(shown.utf8.count == 20_000 * 5 - 1)
        }
        // A quadratic algorithm would take minutes. 10 s suffice for a debug build on a busy machine.
        #expect(seconds < 10)
    }

    @Test("Deeply nested elements are skipped without recursion")
    func nesting() {
        var der: [UInt8] = []
        for _ in 0..<2_000 { der = D.sequence(der) }
        #expect(DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) } != nil)
        var certificate = UnsignedCertificate()
        certificate.extensions = [UnsignedCertificate.extensionField(D.oid(1, 3, 9), der)]
        #expect(Self.exercise(certificate.der))
    }
}
