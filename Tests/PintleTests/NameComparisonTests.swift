import Testing

@testable import Pintle

/// Compares the estimate with sums by hand. A step is a comparison of at most 64 bytes.
@Suite("The work to compare names")
struct NameComparisonTests {
    typealias D = DERBytes

    private static func certificate(
        names: [[UInt8]] = [], permitted: [[UInt8]] = [], excluded: [[UInt8]] = [], subject: [UInt8]? = nil
    ) throws -> Certificate {
        var certificate = UnsignedCertificate(names: names, permitted: permitted, excluded: excluded)
        certificate.subject = subject ?? certificate.subject
        return try certificate.read()
    }

    private static func dns(_ count: Int) -> [UInt8] { D.element(0x82, [UInt8](repeating: 0x61, count: count)) }

    @Test("Each name below an authority is compared with each of its bases, and long names count as several")
    func steps() throws {
        let leaf = try Self.certificate(names: [Self.dns(60)] + .init(repeating: Self.dns(40), count: 500))
        let middle = try Self.certificate()
        let bare = Int64(leaf.subjectDER.count)
        #expect(NameComparisons.steps([leaf, middle]) == 0)
        let permitting = try Self.certificate(permitted: [Self.dns(30), Self.dns(50)])
        let excluding = try Self.certificate(excluded: [Self.dns(7)])
        // The subject is a name too: 502 names of 20,060 bytes and the subject's.
        #expect(
            NameComparisons.steps([leaf, permitting]) == 502 * 2 + ((20_060 + bare) * 2 + 80 * 502) / 64)
        #expect(NameComparisons.steps([leaf, excluding]) == 502 + (20_060 + bare + 7 * 502) / 64)
        let both = try Self.certificate(permitted: [Self.dns(30)], excluded: [Self.dns(50)])
        #expect(NameComparisons.steps([leaf, both]) == NameComparisons.steps([leaf, permitting]))
        // The names of an authority are below the next one.
        #expect(NameComparisons.steps([leaf, middle, excluding]) == 503 + (20_060 + 2 * bare + 7 * 503) / 64)
        // An authority's own bases do not concern its own names.
        #expect(NameComparisons.steps([permitting, leaf]) == 0)
        #expect(NameComparisons.steps([excluding, excluding]) == 1 + (bare + 7) / 64)
    }

    @Test("A name of another type counts as 128, and an e-mail address in the subject as a name")
    func weights() throws {
        let other = D.element(0xA0, D.oid(1, 2, 3) + D.element(0xA0, D.null))
        let excluding = try Self.certificate(excluded: [Self.dns(0)])
        func steps(_ leaf: Certificate, _ bytes: Int64) -> Int64 {
            NameComparisons.steps([leaf, excluding]) - (Int64(leaf.subjectDER.count) + bytes) / 64
        }
        #expect(steps(try Self.certificate(names: [Self.dns(1)]), 1) == 2)
        #expect(steps(try Self.certificate(names: [other]), 8) == 1 + 128)
        #expect(steps(try Self.certificate(names: [Self.dns(1), other]), 9) == 2 + 128)
        let bare = try Self.certificate().subjectDER.count
        for (count, extra) in [(63, Int64(0)), (64, 1)] {
            let leaf = try Self.certificate(names: [Self.dns(count - bare)])
            #expect(NameComparisons.steps([leaf, excluding]) == 2 + extra)
        }
        #expect(steps(try Self.certificate(subject: Self.mailSubject), 0) == 2)
    }

    private static let mailSubject = D.sequence(
        UnsignedCertificate.attribute(
            D.element(0x16, Array("a@b.example".utf8)), type: D.oid(1, 2, 840, 113_549, 1, 9, 1)))

    private static func name(_ tag: UInt8, _ text: String) -> [UInt8] { D.element(tag, Array(text.utf8)) }

    @Test("The profile's own work counts wildcards, bases with a leading dot, and the labels of e-mail hosts and URIs")
    func exclusions() throws {
        func steps(_ path: Certificate...) -> Int64 { NameComparisons.exclusionSteps(path) }
        let long = "*.a." + String(repeating: "b", count: 60) + ".example"
        let leaf = try Self.certificate(names: [Self.name(0x82, "*.a.example"), Self.name(0x82, "b.example")])
        let plain = try Self.certificate(excluded: [Self.name(0x82, "x.example")])
        let dotted = try Self.certificate(excluded: [Self.name(0x82, ".x.example")])
        #expect(steps(leaf) == 0)
        #expect(steps(leaf, try Self.certificate()) == 0)
        // A suffix of two labels, for each authority with constraints; both names for each with a leading dot.
        #expect(steps(leaf, plain) == 2)
        #expect(steps(leaf, dotted) == 2 + 2)
        #expect(steps(leaf, plain, dotted) == 2 * 2 + 2)
        let two = try Self.certificate(names: [Self.name(0x82, "*.a.example"), Self.name(0x82, "*.b.a.example")])
        #expect(steps(two, plain) == 2 + 3)
        #expect(steps(try Self.certificate(names: [Self.name(0x82, long)]), plain) == 3 * 2)
        // Two and four labels; the URI has over 64 bytes. Parsing counts eightfold.
        let mail = Self.name(0x81, "a@b.example")
        let location = Self.name(0x86, "https://a.b.c.example/" + String(repeating: "d", count: 50))
        let hosts = try Self.certificate(names: [mail, location])
        for base in [mail, Self.name(0x86, "example")] {
            #expect(steps(hosts, try Self.certificate(excluded: [base])) == 8 * (2 + 4 * 2))
            #expect(steps(hosts, try Self.certificate(permitted: [base])) == 8 * (2 + 4 * 2))
        }
        #expect(steps(hosts, plain) == 0)
        for (count, parts) in [(63, Int64(1)), (64, 2)] {
            let location = Self.name(0x86, "https://" + String(repeating: "d", count: count - 8))
            let long = try Self.certificate(names: [location])
            #expect(steps(long, try Self.certificate(excluded: [mail])) == 8 * parts)
        }
        // A name of another type may be an internationalized address.
        let other = D.element(0xA0, D.oid(1, 2, 3), D.element(0xA0, D.utf8("a@b.example")))
        let others = try Self.certificate(names: [other])
        #expect(steps(others, try Self.certificate(excluded: [mail])) == 8 * 2)
        #expect(steps(others, plain) == 0)
        #expect(steps(hosts, try Self.certificate(excluded: [other])) == 8 * (2 + 4 * 2))
        let identifier = D.element(0x88, [0x2A, 3])
        #expect(steps(try Self.certificate(names: [identifier]), try Self.certificate(excluded: [mail])) == 0)
        #expect(steps(hosts, try Self.certificate(excluded: [identifier])) == 0)
        let subject = try Self.certificate(names: [Self.name(0x82, "b.example")], subject: Self.mailSubject)
        #expect(steps(subject, try Self.certificate(excluded: [mail])) == 8 * 2)
    }
}
