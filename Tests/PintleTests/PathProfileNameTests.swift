import Testing

@testable import Pintle

/// Tests the profile's requirements on names and name constraints.
@Suite("Names in the profile")
struct PathProfileNameTests {
    typealias D = DERBytes

    private static func dns(_ names: String...) -> [[UInt8]] { names.map(ProfileFixture.dns) }

    @Test(
        "A dNSName that is not a DNS name does not make a certificate invalid, unless DNS names are constrained",
        arguments: [
            "under_score.example.test", "_dmarc.example.test", "-a.example.test", "a-.example.test", "a..test",
            ".example.test", "example.test.", "", ".", "*", "*.", "a.*.test", "w*.example.test", "*.*.test",
            "a b.test", "a:443", "https://a.test/", "a/b.test", "a@b.test", "192.0.2.7", "2001:db8::1", "*.192.0.2.7",
            String(repeating: "a", count: 64) + ".test",
            String(repeating: "abcdefg.", count: 32) + "test",
        ])
    func noName(_ name: String) throws {
        func findings(_ field: [UInt8]?, atRoot: Bool = false) throws -> [String] {
            try ProfileFixture {
                $0.names = Self.dns("server.example.test", name)
                if let field, atRoot { $0.rootExtensions = [field] }
                if let field, !atRoot { $0.intermediateExtensions = [field] }
            }.findings()
        }
        #expect(try findings(nil) == [])
        let address = UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 30),
            D.sequence(D.element(0xA1, D.sequence(D.element(0x87, [192, 0, 2, 0, 255, 255, 255, 0])))))
        #expect(try findings(address) == [])
        for (depth, atRoot) in [(1, false), (2, true)] {
            for field in [
                ProfileFixture.nameConstraints(permitted: ["example.test"]),
                ProfileFixture.nameConstraints(excluded: ["other.invalid"]),
            ] {
                let found = try findings(field, atRoot: atRoot)
                #expect(found.count == 1, "\(found)")
                #expect(
                    found.first?.hasPrefix(
                        "name-constraint-violation \(depth): constraints on DNS names cannot be applied to the leaf: not a DNS"
                    ) == true)
            }
        }
    }

    @Test(
        "A dNSName with a control character makes a certificate invalid, and any other character does not")
    func controlCharacter() throws {
        for octet in UInt8(0)..<0x80 {
            let name = [octet] + Array("a.test".utf8)
            let found = try ProfileFixture {
                $0.names = [ProfileFixture.dns("server.example.test"), D.element(0x82, name)]
            }.findings()
            let isControl = octet < 0x20 || octet == 0x7F
            #expect(found == (isControl ? ["other 0: not a DNS name: \(GeneralName.dns(name[...]))"] : []), "\(octet)")
        }
    }

    @Test("Each kind of finding about names is made once, whatever the order of the names")
    func kinds() throws {
        let names = Self.dns("*.com", "a\0.test", "*.co.uk", "b\0.test", "server.example.test")
        let control = "other 0: not a DNS name: "
        let wildcard = "name-mismatch 0: a wildcard for everything under "
        let found = try ProfileFixture { $0.names = names }.findings()
        #expect(found == [control + "a\\00.test", wildcard + "com"])
        let reversed = try ProfileFixture { $0.names = names.reversed() }.findings()
        #expect(reversed == [control + "b\\00.test", wildcard + "co.uk"])
    }

    @Test(
        "A well-formed DNS name is accepted",
        arguments: [
            "under-score.example.test", "a.test", "A.TEST", "9.test", "a--b.test", "xn--bcher-kva.test", "localhost",
            "*.example.test", "*.xn--bcher-kva.test", "192.0.2.7.test", String(repeating: "a", count: 63) + ".test",
            String(repeating: "abcdefg.", count: 31) + "test1",
        ])
    func name(_ name: String) throws {
        #expect(try ProfileFixture { $0.names = Self.dns(name) }.findings() == [])
    }

    @Test("Control characters count only in DNS names, and only in those of the leaf")
    func otherNames() throws {
        let strange = Array("control\0".utf8)
        for tag: UInt8 in [0x81, 0x86] {
            #expect(try ProfileFixture { $0.names = [D.element(tag, strange)] }.findings() == [])
        }
        #expect(try ProfileFixture { $0.names = [] }.findings() == [])
        let field = UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 17), D.sequence(ProfileFixture.dns("control\0.test")))
        #expect(try ProfileFixture { $0.intermediateExtensions = [field] }.findings() == [])
    }

    @Test(
        "A wildcard directly above a public suffix is refused, in any letter case",
        arguments: [
            ("*.com", true), ("*.co.uk", true), ("*.Co.UK", true), ("*.example.co.uk", false), ("*.uk", false),
            ("co.uk", false), ("com", false), ("*.example.com", false),
        ])
    func publicSuffix(_ name: String, isRefused: Bool) throws {
        let text = "name-mismatch 0: a wildcard for everything under \(name.lowercased().dropFirst(2))"
        let fixture = ProfileFixture { $0.names = Self.dns("server.example.test", name) }
        #expect(try fixture.findings() == (isRefused ? [text] : []))
        let alone = ProfileFixture {
            $0.names = Self.dns(name)
            $0.leafIsAnchor = true
        }
        #expect(try alone.findings() == (isRefused ? [text] : []))
    }

    @Test("The caller decides which names are public suffixes")
    func suffixClosure() throws {
        let names = Self.dns("*.example.test")
        let refusing = ProfileFixture {
            $0.names = names
            $0.isPublicSuffix = { $0 == "example.test" }
        }
        #expect(try refusing.findings() == ["name-mismatch 0: a wildcard for everything under example.test"])
        let knowingNone = ProfileFixture {
            $0.names = Self.dns("*.com")
            $0.isPublicSuffix = { _ in false }
        }
        #expect(try knowingNone.findings() == [])
        let withoutWildcard = ProfileFixture {
            $0.names = Self.dns("example.test")
            $0.isPublicSuffix = { _ in true }
        }
        #expect(try withoutWildcard.findings() == [])
    }

    @Test("A finding about a public suffix has the caller's note", arguments: [nil, "the list is missing"])
    func suffixNote(_ note: String?) throws {
        let found = try ProfileFixture {
            $0.names = Self.dns("*.com")
            $0.suffixNote = note
        }.findings()
        let text = "name-mismatch 0: a wildcard for everything under com"
        #expect(found == [text + (note == nil ? "" : ": the list is missing")])
    }

    @Test("Alternative names may be critical only if the subject is empty")
    func criticalNames() throws {
        func findings(critical: Bool, subject: [UInt8]) throws -> [String] {
            try ProfileFixture {
                $0.isNamesCritical = critical
                $0.leaf.subject = subject
            }.findings()
        }
        let subject = UnsignedCertificate.commonName("Server")
        #expect(
            try findings(critical: true, subject: subject) == ["other 0: critical alternative names beside a subject"])
        #expect(try findings(critical: false, subject: subject) == [])
        #expect(try findings(critical: true, subject: D.sequence()) == [])
    }

    @Test("A DNS name constraint with a leading dot is accepted, permitted or excluded, in intermediate or anchor")
    func leadingDot() throws {
        func findings(_ field: [UInt8], atRoot: Bool) throws -> [String] {
            try ProfileFixture {
                if atRoot { $0.rootExtensions = [field] } else { $0.intermediateExtensions = [field] }
            }.findings()
        }
        for (depth, atRoot) in [(1, false), (2, true)] {
            for field in [
                ProfileFixture.nameConstraints(permitted: [".example.test"]),
                ProfileFixture.nameConstraints(excluded: [".other.test"]),
                ProfileFixture.nameConstraints(permitted: ["example.test"], excluded: ["a.test", ".b.example.test"]),
            ] {
                #expect(try findings(field, atRoot: atRoot) == [])
            }
            // The library refuses the sub-domains, the profile only the domain itself.
            let itself = ProfileFixture.nameConstraints(excluded: ["a.test", ".SERVER.example.test"])
            #expect(
                try findings(itself, atRoot: atRoot) == [
                    "name-constraint-violation \(depth): server.example.test is excluded"
                ])
            for base in [".", "..example.test", "*.example.org", "example.org."] {
                let text = "name-constraint-violation \(depth): an excluded DNS name that cannot be read: \(base)"
                #expect(try findings(ProfileFixture.nameConstraints(excluded: [base]), atRoot: atRoot) == [text])
                #expect(try findings(ProfileFixture.nameConstraints(permitted: [base]), atRoot: atRoot) == [])
            }
        }
    }

    @Test(
        "A wildcard that stands for an excluded name is refused",
        arguments: [
            // The base is the wildcard's own suffix, a parent of it, or one label below it.
            ("*.example.test", "example.test", true), ("*.example.test", "test", true),
            ("*.example.test", "secret.example.test", true), ("*.Example.TEST", "SECRET.example.TEST", true),
            ("*.example.test", "", true),
            // A base with a leading dot excludes the same names, and itself.
            ("*.example.test", ".example.test", true), ("*.example.test", ".secret.example.test", true),
            ("*.example.test", ".very.secret.example.test", false), ("*.example.test", ".other.test", false),
            // The base is more than one label deeper, a sibling, or ends in the same letters without a dot.
            ("*.example.test", "very.secret.example.test", false), ("*.example.test", "other.test", false),
            ("*.example.test", "ample.test", false), ("*.test", "secret.example.test", false),
            ("server.example.test", "secret.example.test", false),
        ])
    func wildcardAgainstExclusion(_ name: String, _ base: String, isRefused: Bool) throws {
        let field = ProfileFixture.nameConstraints(excluded: [base])
        for (depth, atRoot) in [(1, false), (2, true)] {
            let found = try ProfileFixture {
                $0.names = Self.dns(name)
                if atRoot { $0.rootExtensions = [field] } else { $0.intermediateExtensions = [field] }
            }.findings()
            let suffix = name.lowercased().dropFirst(2)
            let text = "name-constraint-violation \(depth): *.\(suffix) stands for names that are excluded"
            #expect(found == (isRefused ? [text] : []))
        }
    }

    @Test("The library compares names without a wildcard with excluded names that have no leading dot")
    func nameAgainstExclusion() throws {
        func findings(_ name: String, _ base: String) throws -> [String] {
            try ProfileFixture {
                $0.names = Self.dns(name)
                $0.intermediateExtensions = [ProfileFixture.nameConstraints(excluded: [base])]
            }.findings()
        }
        for base in ["server.example.test", "example.test", "test", "", ".example.test", "a.server.example.test"] {
            #expect(try findings("server.example.test", base) == [], "\(base)")
        }
        let itself = "name-constraint-violation 1: server.example.test is excluded"
        #expect(try findings("server.example.test", ".server.example.test") == [itself])
    }

    @Test("Names are compared only if the caller asks for it, while excluded names that cannot be read always count")
    func withoutComparison() throws {
        let unreadable = "name-constraint-violation 1: an excluded DNS name that cannot be read: example.org."
        let mail = D.element(0x81, Array("a@example.test".utf8))
        let mailBase = UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 30), D.sequence(D.element(0xA1, D.sequence(D.element(0x81, Array("example.test".utf8))))))
        func findings(_ names: [[UInt8]], _ field: [UInt8], compares: Bool) throws -> [String] {
            try ProfileFixture {
                $0.names = names
                $0.intermediateExtensions = [field]
                $0.comparesConstraints = compares
            }.findings()
        }
        let excluded = ProfileFixture.nameConstraints(excluded: ["example.test"])
        for (names, field) in [
            (Self.dns("*.example.test"), excluded), (Self.dns("a_b.example.org"), excluded), ([mail], mailBase),
        ] {
            let codes = try findings(names, field, compares: true).map { $0.prefix(27) }
            #expect(codes == ["name-constraint-violation 1"])
            #expect(try findings(names, field, compares: false) == [])
        }
        let broken = ProfileFixture.nameConstraints(excluded: ["example.org."])
        for compares in [true, false] {
            #expect(try findings(Self.dns("a.example.test"), broken, compares: compares) == [unreadable])
        }
    }

    @Test("The profile does not compare wildcards with permitted names, because all validators agree there")
    func wildcardAgainstPermission() throws {
        let field = ProfileFixture.nameConstraints(permitted: ["secret.example.test"])
        let fixture = ProfileFixture {
            $0.names = Self.dns("*.example.test")
            $0.intermediateExtensions = [field]
        }
        #expect(try fixture.findings() == [])
    }
}
