import Testing

@testable import Pintle

/// Compares names with subtrees, also where OpenSSL refuses the path before the profile sees it.
@Suite("Names and the subtrees of authorities")
struct SubtreeFindingTests {
    typealias D = DERBytes

    /// How a base and a name relate to each other. Each has a result for an excluded base and one for a permitted base.
    enum Relation: Sendable {
        case inside, outside, unreadableName, unreadableBase
    }

    static func mail(_ text: String) -> [UInt8] { D.element(0x81, Array(text.utf8)) }
    static func dns(_ text: String) -> [UInt8] { D.element(0x82, Array(text.utf8)) }
    static func uri(_ text: String) -> [UInt8] { D.element(0x86, Array(text.utf8)) }
    static func address(_ octets: [UInt8]) -> [UInt8] { D.element(0x87, octets) }

    static let mailboxType = D.oid(1, 3, 6, 1, 5, 5, 7, 8, 9)

    /// The type with a length that is not in the shortest form.
    static let longType = [0x06, 0x81] + Array(mailboxType.dropFirst())

    static func international(_ text: String) -> [UInt8] {
        D.element(0xA0, mailboxType, D.element(0xA0, D.utf8(text)))
    }

    /// Returns the findings of a leaf with names below an authority with constraints. Each must be at depth 1.
    private func findings(
        _ names: [[UInt8]], permitted: [[UInt8]] = [], excluded: [[UInt8]] = [], subject: [UInt8]? = nil
    ) throws -> [String] {
        var leaf = UnsignedCertificate(names: names)
        leaf.subject = subject ?? leaf.subject
        let authority = UnsignedCertificate(names: [], permitted: permitted, excluded: excluded)
        return try Self.findings([leaf, authority]).map { finding in
            try #require(finding.hasPrefix("1: "))
            return String(finding.dropFirst(3))
        }
    }

    /// Returns the findings as text: `1: email:a@example.test is excluded`.
    private static func findings(_ path: [UnsignedCertificate]) throws -> [String] {
        try SubtreeComparison.findings(path.map { try $0.read() }).map { finding in
            #expect(finding.code == .nameConstraintViolation)
            return "\(try #require(finding.depth)): \(finding.text)"
        }
    }

    private func check(
        _ base: [UInt8], _ name: [UInt8], _ relation: Relation, described text: String, base baseText: String
    ) throws {
        let (excluded, permitted): (String?, String?) =
            switch relation {
            case .inside: ("\(text) is excluded", nil)
            case .outside: (nil, "\(text) is not permitted")
            case .unreadableName:
                ("\(text) cannot be compared with the constraints", "\(text) cannot be compared with the constraints")
            case .unreadableBase: ("an excluded name that cannot be read: \(baseText)", "\(text) is not permitted")
            }
        #expect(try findings([name], excluded: [base]) == [excluded].compactMap(\.self))
        #expect(try findings([name], permitted: [base]) == [permitted].compactMap(\.self))
    }

    // MARK: E-mail addresses

    @Test(
        "An e-mail address is in the subtree of its host, of a domain above it, and of itself",
        arguments: [
            ("example.test", "a@example.test", .inside), ("example.test", "a@EXAMPLE.Test", .inside),
            ("EXAMPLE.Test", "a@example.test", .inside), ("example.test", "a@other.test", .outside),
            ("example.test", "a@mail.example.test", .outside), ("mail.example.test", "a@example.test", .outside),
            (".example.test", "a@mail.example.test", .inside), (".example.test", "a@b.c.example.test", .inside),
            (".EXAMPLE.test", "a@mail.Example.test", .inside), (".example.test", "a@example.test", .outside),
            (".example.test", "a@notexample.test", .outside), (".test", "a@example.test", .inside),
            (".example.test", "a@example.test.org", .outside),
            ("a@example.test", "a@example.test", .inside), ("a@EXAMPLE.test", "a@example.TEST", .inside),
            ("a@example.test", "A@example.test", .outside), ("a@example.test", "b@example.test", .outside),
            ("a@example.test", "a@other.test", .outside), ("a@example.test", "a@mail.example.test", .outside),
            ("a@example.test", "aa@example.test", .outside), ("example.test", "root", .unreadableName),
            ("example.test", "", .unreadableName), ("example.test", "@example.test", .unreadableName),
            ("example.test", "a@", .unreadableName), ("example.test", "a@b@example.test", .unreadableName),
            ("example.test", "a@example.test.", .unreadableName), ("example.test", "a@.example.test", .unreadableName),
            ("example.test", "a@exam ple.test", .unreadableName), ("example.test", "a@*.example.test", .unreadableName),
            ("example.test", "a@192.0.2.1", .unreadableName), ("example.test", "a@[192.0.2.1]", .unreadableName),
            ("@example.test", "a@example.test", .unreadableBase), ("a@", "a@example.test", .unreadableBase),
            ("*.example.test", "a@b.example.test", .unreadableBase), ("a@*.test", "a@b.test", .unreadableBase),
            (".*.example.test", "a@b.c.example.test", .unreadableBase), ("..test", "a@b.test", .unreadableBase),
            ("example.test.", "a@example.test", .unreadableBase), ("192.0.2.1", "a@b.test", .unreadableBase),
            ("exam ple.test", "a@example.test", .unreadableBase), ("\"a\"@b.test", "a@b.test", .unreadableBase),
        ] as [(String, String, Relation)])
    func mail(base: String, name: String, relation: Relation) throws {
        try check(
            Self.mail(base), Self.mail(name), relation, described: "email:\(name)", base: "email:\(base)")
    }

    @Test("A local part has the characters of a dot-atom, and counts as it is written")
    func localPart() throws {
        let allowed = "abyzABYZ0189!#$%&'*+-/=?^_`{|}~."
        for character in allowed {
            let name = "x\(character)@example.test"
            try check(Self.mail(name), Self.mail(name), .inside, described: "email:\(name)", base: "")
            try check(
                Self.mail("x@example.test"), Self.mail(name), .outside, described: "email:\(name)", base: "")
        }
        for octet in UInt8(0)..<0x80 {
            let character = Character(Unicode.Scalar(octet))
            guard !allowed.contains(character), !character.isLetter, !character.isNumber else { continue }
            let name = Self.mail("x\(character)@example.test")
            let described = "\(GeneralName.email(ArraySlice(name.dropFirst(2))))"
            try check(Self.mail("example.test"), name, .unreadableName, described: described, base: "")
            try check(
                name, Self.mail("a@example.test"), .unreadableBase, described: "email:a@example.test",
                base: described)
        }
    }

    @Test("An empty base, and a dot, stand for all names", arguments: ["", "."])
    func all(base: String) throws {
        func checkAll(_ element: [UInt8], _ name: [UInt8], _ text: String, isReadable: Bool) throws {
            #expect(try findings([name], excluded: [element]) == ["\(text) is excluded"])
            let refusal = isReadable ? [] : ["\(text) cannot be compared with the constraints"]
            #expect(try findings([name], permitted: [element]) == refusal)
            #expect(try findings([], excluded: [element]) == [])
        }
        let mail = Self.mail(base)
        try checkAll(mail, Self.mail("a@example.test"), "email:a@example.test", isReadable: true)
        try checkAll(mail, Self.mail("root"), "email:root", isReadable: false)
        try checkAll(mail, Self.international("ä@example.test"), Self.internationalText, isReadable: true)
        try checkAll(mail, Self.international("ä"), Self.internationalText, isReadable: false)
        try checkAll(Self.uri(base), Self.uri("https://example.test"), "URI:https://example.test", isReadable: true)
        try checkAll(Self.uri(base), Self.uri("urn:uuid:1"), "URI:urn:uuid:1", isReadable: false)
        // A base beside it changes nothing.
        #expect(
            try findings([Self.mail("a@b.test")], excluded: [Self.mail("other.test"), mail]) == [
                "email:a@b.test is excluded"
            ])
    }

    @Test("One of several bases suffices")
    func severalBases() throws {
        let bases = ["a.test", ".b.test", "c@c.test", "d@c.test"].map(Self.mail)
        for (name, isInside) in [
            ("x@a.test", true), ("x@x.b.test", true), ("c@c.test", true), ("d@c.test", true), ("x@c.test", false),
        ] {
            #expect(
                try findings([Self.mail(name)], permitted: bases)
                    == (isInside ? [] : ["email:\(name) is not permitted"]))
            #expect(try findings([Self.mail(name)], excluded: bases) == (isInside ? ["email:\(name) is excluded"] : []))
        }
        let both = try findings(
            [Self.mail("a@a.test")], permitted: [Self.mail("a.test")], excluded: [Self.mail("a@a.test")])
        #expect(both == ["email:a@a.test is excluded"])
        #expect(
            try findings([Self.mail("b@a.test")], permitted: [Self.mail("a.test")], excluded: [Self.mail("a@a.test")])
                == [])
        // A base that cannot be read counts, whatever stands beside it.
        let unreadable = try findings(
            [Self.mail("a@a.test")], excluded: [Self.mail("*"), Self.mail("other.test"), Self.mail("")])
        #expect(unreadable == ["an excluded name that cannot be read: email:*"])
        #expect(try findings([], excluded: [Self.mail("*")]) == [])
    }

    // MARK: Internationalized e-mail addresses

    private static let internationalText = "an internationalized e-mail address"

    @Test(
        "An internationalized e-mail address is compared as others are",
        arguments: [
            ("example.test", "ä@example.test", .inside), ("example.test", "\u{100}@example.test", .inside),
            ("example.test", "ä@EXAMPLE.test", .inside),
            ("example.test", "ä@other.test", .outside), (".example.test", "ä@mail.example.test", .inside),
            (".example.test", "ä@example.test", .outside), ("xn--4ca.test", "ä@xn--4ca.test", .inside),
            ("xn--4ca.test", "ä@XN--4CA.test", .inside), ("a@example.test", "a@example.test", .inside),
            ("a@example.test", "ä@example.test", .outside),
            // The sign for kelvin is canonically equivalent to K.
            ("K@example.test", "\u{212A}@example.test", .outside), ("K@example.test", "K@example.test", .inside),
            ("xn--4ca.test", "b@ä.test", .unreadableName), ("example.test", "ä", .unreadableName),
            ("example.test", "ä@", .unreadableName), ("example.test", "@example.test", .unreadableName),
            ("example.test", "ä @example.test", .unreadableName),
            ("example.test", "\"ä\"@example.test", .unreadableName),
            ("example.test", "ä@example.test.", .unreadableName), ("@b.test", "ä@b.test", .unreadableBase),
        ] as [(String, String, Relation)])
    func international(base: String, name: String, relation: Relation) throws {
        try check(
            Self.mail(base), Self.international(name), relation, described: Self.internationalText,
            base: "email:\(base)")
    }

    @Test("An internationalized address that is no DER cannot be compared, and another type does not count")
    func otherNames() throws {
        let value = D.element(0xA0, D.utf8("a@example.test"))
        let bases = ["example.test", "other.test"].map(Self.mail)
        let contents: [[UInt8]] = [
            Self.longType + value, [], Self.mailboxType, Self.mailboxType + D.utf8("a@example.test"),
            Self.mailboxType + D.element(0xA1, D.utf8("a@example.test")), Self.mailboxType + D.element(0xA0),
            Self.mailboxType + value + D.null, Self.mailboxType + D.element(0xA0, D.utf8("a@example.test"), D.null),
            Self.mailboxType + D.element(0xA0, D.integer(1)),
            Self.mailboxType + D.element(0xA0, D.element(0x0C, [0xC3] + Array("@example.test".utf8))),
        ]
        for content in contents {
            for base in bases {
                #expect(
                    try findings([D.element(0xA0, content)], excluded: [base]) == [
                        "\(Self.internationalText) cannot be compared with the constraints"
                    ])
            }
            #expect(try findings([D.element(0xA0, content)], excluded: [Self.uri("example.test")]) == [])
        }
        for name in [
            D.element(0xA0, D.oid(1, 3, 6, 1, 4, 1, 311, 20, 2, 3), value),
            D.element(0xA0, D.oid(1, 3, 6, 1, 5, 5, 7, 8, 10), value), D.element(0x88, Self.mailboxType + value),
            D.element(0xA3, Self.mailboxType + value),
        ] {
            for base in bases + [Self.mail("")] {
                #expect(try findings([name], permitted: [base]) == [])
                #expect(try findings([name], excluded: [base]) == [])
            }
        }
    }

    @Test("An internationalized address is no base, and a name of another type does not constrain e-mail addresses")
    func internationalBases() throws {
        let unreadable = D.element(0xA0, Self.longType)
        for (name, text) in [
            (Self.mail("a@example.test"), "email:a@example.test"),
            (Self.international("ä@example.test"), Self.internationalText),
        ] {
            for base in [Self.international("example.test"), Self.international("ä@example.test"), unreadable] {
                try check(base, name, .unreadableBase, described: text, base: "[0]")
                #expect(try findings([Self.uri("https://example.test/")], excluded: [base]) == [])
                #expect(try findings([], excluded: [base]) == [])
            }
            for base in [
                D.element(0xA0, D.oid(1, 2, 3), D.element(0xA0, D.utf8("example.test"))),
                D.element(0x88, Self.mailboxType), D.element(0xA3, Self.mailboxType), Self.dns("example.test"),
            ] {
                #expect(try findings([name], excluded: [base]) == [])
                #expect(try findings([name], permitted: [base]) == [])
            }
        }
    }

    // MARK: E-mail addresses in subjects

    private static func attribute(_ value: [UInt8]) -> [UInt8] {
        D.sequence(D.oid(1, 2, 840, 113_549, 1, 9, 1), value)
    }

    private static let commonName = D.sequence(D.oid(2, 5, 4, 3), D.utf8("Server"))

    @Test("Each e-mail address of a subject is compared, and no other attribute")
    func subjects() throws {
        func found(_ subject: [UInt8], _ base: String, names: [[UInt8]] = []) throws -> [String] {
            try findings(names, excluded: [Self.mail(base)], subject: subject)
        }
        let address = Self.attribute(D.element(0x16, Array("a@example.test".utf8)))
        let other = Self.attribute(D.utf8("b@other.test"))
        let broken = Self.attribute(D.integer(1))
        for subject in [
            D.sequence(D.set(address)), D.sequence(D.set(Self.commonName), D.set(address)),
            D.sequence(D.set(Self.commonName, address)), D.sequence(D.set(other), D.set(address)),
        ] {
            for names in [[], [Self.dns("example.test")], [Self.mail("b@other.test")]] {
                #expect(
                    try found(subject, "example.test", names: names) == [
                        "emailAddress=a@example.test is excluded"
                    ])
                #expect(try found(subject, "third.test", names: names) == [])
            }
        }
        for subject in [D.sequence(), D.sequence(D.set(Self.commonName))] {
            for base in ["", "example.test", "*"] { #expect(try found(subject, base) == []) }
        }
        let unreadable = "emailAddress=#020101"
        #expect(try found(D.sequence(D.set(broken)), "") == ["\(unreadable) is excluded"])
        #expect(
            try found(D.sequence(D.set(broken)), "example.test") == [
                "\(unreadable) cannot be compared with the constraints"
            ])
        let permitted = try findings(
            [], permitted: [Self.mail("example.test")], subject: D.sequence(D.set(other), D.set(address)))
        #expect(permitted == ["emailAddress=b@other.test is not permitted"])
        #expect(try findings([], permitted: [Self.mail("example.test")], subject: D.sequence(D.set(address))) == [])
        #expect(try findings([], excluded: [Self.uri("")], subject: D.sequence(D.set(address))) == [])
    }

    // MARK: URIs

    @Test(
        "A URI is in the subtree of its host and of a domain above it",
        arguments: [
            ("example.test", "https://example.test/", .inside), ("example.test", "https://example.test", .inside),
            ("EXAMPLE.test", "https://example.TEST:443/x", .inside), ("example.test", "a://example.test:", .inside),
            ("example.test", "https://example.test:09?a", .inside), ("example.test", "x://example.test?a:b@c", .inside),
            ("example.test", "x://example.test#/a:b@c", .inside), ("example.test", "x://example.test/a:b@c", .inside),
            ("example.test", "z+Y-A.0189://example.test", .inside), ("example.test", "https://other.test/", .outside),
            ("example.test", "https://a.example.test/", .outside),
            ("example.test", "x://o.test/example.test", .outside),
            ("example.test", "A://o.test", .outside), ("example.test", "Z://o.test", .outside),
            ("example.test", "z://o.test", .outside), (".example.test", "https://a.b.example.test/", .inside),
            (".example.test", "https://example.test/", .outside),
            (".example.test", "x://a.test/.example.test", .outside),
            ("example.test", "", .unreadableName), ("example.test", "https", .unreadableName),
            ("example.test", "urn:uuid:1", .unreadableName), ("example.test", "://example.test/", .unreadableName),
            ("example.test", "example.test", .unreadableName), ("example.test", "//example.test/", .unreadableName),
            ("example.test", "https:example.test", .unreadableName),
            ("example.test", "x:xxexample.test", .unreadableName),
            ("example.test", "https:/example.test/", .unreadableName), ("example.test", "x://", .unreadableName),
            ("example.test", "https:///example.test", .unreadableName),
            ("example.test", "x::///a.test", .unreadableName),
            ("example.test", "https://user@example.test/", .unreadableName),
            ("example.test", "https://example.test:x@other.test/", .unreadableName),
            ("example.test", "https://example.test:x/", .unreadableName),
            ("example.test", "x://a.test:x", .unreadableName),
            ("example.test", "https://example.test:4x/", .unreadableName),
            ("example.test", "x://a.test:4:3", .unreadableName),
            ("example.test", "https://example.test:4.3/", .unreadableName),
            ("example.test", "x://a.test:.", .unreadableName),
            ("example.test", "https://*.example.test/", .unreadableName),
            ("example.test", "x://[::1]/", .unreadableName),
            ("example.test", "https://192.0.2.1/", .unreadableName), ("example.test", "x://a.test./", .unreadableName),
            ("example.test", "//example.test/x://other.test/", .unreadableName),
            ("example.test", "?://other.test/", .unreadableName), ("example.test", "#://other.test/", .unreadableName),
            ("https://example.test", "https://example.test", .unreadableBase),
            ("*.a.test", "x://b.a.test", .unreadableBase),
            ("192.0.2.1", "https://192.0.2.2.test/", .unreadableBase), ("a@b.test", "https://b.test/", .unreadableBase),
            ("example.test:443", "https://example.test:443/", .unreadableBase), ("..a", "x://b.a", .unreadableBase),
        ] as [(String, String, Relation)])
    func uri(base: String, name: String, relation: Relation) throws {
        try check(Self.uri(base), Self.uri(name), relation, described: "URI:\(name)", base: "URI:\(base)")
    }

    @Test("A scheme begins with a letter, and has letters, digits and three signs")
    func schemes() throws {
        for octet in UInt8(0)..<0x80 {
            let character = Character(Unicode.Scalar(octet))
            guard character != ":" else { continue }
            for (scheme, isGood) in [
                ("\(character)", character.isLetter),
                ("x\(character)", character.isLetter || character.isNumber || "+-.".contains(character)),
            ] {
                let name = Self.uri(scheme + "://example.test")
                let text = "\(GeneralName.uri(ArraySlice(name.dropFirst(2))))"
                try check(
                    Self.uri("example.test"), name, isGood ? .inside : .unreadableName, described: text, base: "")
            }
        }
    }

    // MARK: Addresses

    @Test("A range of addresses is an address and a mask of ones before zeros")
    func ranges() throws {
        let good: [[UInt8]] =
            [[0, 0, 0, 0], [0x80, 0, 0, 0], [0xFF, 0, 0, 0], [0xFF, 0xFE, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]].map {
                [192, 0, 2, 0] + $0
            } + [0, 1, 7, 8, 9, 64, 127, 128].map(Self.range)
        let bad: [[UInt8]] =
            [
                [0, 0, 0, 1], [0xFF, 0, 0xFF, 0], [0x7F, 0, 0, 0], [0xFD, 0, 0, 0], [0xFE, 0x80, 0, 0],
                [0, 0xFF, 0, 0],
            ]
            .map { [192, 0, 2, 0] + $0 } + [[UInt8](repeating: 0, count: 31) + [1]]
            // All octets of a mask are 1, but the size is of no range.
            + [0, 1, 4, 6, 7, 9, 10, 16, 31, 33, 34].map { [UInt8](repeating: 0xFF, count: $0) }
        for base in good {
            #expect(try findings([], excluded: [Self.address(base)]) == [])
            #expect(try findings([], permitted: [Self.address(base)]) == [])
        }
        for base in bad {
            let found = ["a range of addresses that cannot be read: \(Hex.encode(base))"]
            #expect(try findings([], excluded: [Self.address(base)]) == found)
            #expect(try findings([], permitted: [Self.address(base)]) == found)
            #expect(try findings([], permitted: [Self.address(good[1])], excluded: [Self.address(base)]) == found)
        }
    }

    /// Returns an address of version 6 with a mask of this length.
    private static func range(_ bits: Int) -> [UInt8] {
        let mask = (0..<16).map { octet in UInt8(truncatingIfNeeded: 0xFF00 >> min(8, max(0, bits - octet * 8))) }
        return [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 12) + mask
    }

    @Test("A name that is no address cannot be compared with ranges, and matters only to them")
    func addresses() throws {
        let ranges = [Self.address([10, 0, 0, 0, 0xFF, 0, 0, 0]), Self.address(Self.range(32))]
        for count in [0, 1, 3, 4, 5, 8, 15, 16, 17, 32] {
            let octets = [UInt8](repeating: 7, count: count)
            let isGood = count == 4 || count == 16
            for range in ranges {
                let found = isGood ? [] : ["IP:#\(count) octets cannot be compared with the constraints"]
                #expect(try findings([Self.address(octets)], excluded: [range]) == found)
                #expect(try findings([Self.address(octets)], permitted: [range]) == found)
                #expect(try findings([Self.address([10, 0, 0, 1]), Self.address(octets)], excluded: [range]) == found)
            }
            for base in [Self.mail("example.test"), Self.uri("example.test"), Self.dns("example.test")] {
                #expect(try findings([Self.address(octets)], excluded: [base]) == [])
                #expect(try findings([Self.address(octets)], permitted: [base]) == [])
            }
        }
        for range in ranges { #expect(try findings([Self.mail("root"), Self.uri("a")], excluded: [range]) == []) }
    }

    // MARK: Paths

    @Test("Constraints on one kind of name do not concern another")
    func kinds() throws {
        let names = [Self.mail("a@example.test"), Self.uri("https://example.test/"), Self.dns("example.test")]
        let unreadable = [Self.mail("root"), Self.uri("urn:uuid:1"), Self.dns("a b")]
        #expect(try findings(names, excluded: [Self.mail("example.test")]) == ["email:a@example.test is excluded"])
        #expect(try findings(names, excluded: [Self.uri("example.test")]) == ["URI:https://example.test/ is excluded"])
        for names in [names, unreadable] { #expect(try findings(names, excluded: [Self.dns("example.test")]) == []) }
        #expect(
            try findings(unreadable, permitted: [Self.mail("example.test")]) == [
                "email:root cannot be compared with the constraints"
            ])
        #expect(
            try findings(unreadable, permitted: [Self.uri("example.test")]) == [
                "URI:urn:uuid:1 cannot be compared with the constraints"
            ])
        // One finding for each kind.
        let twice = try findings(
            names + names + [Self.address([1])],
            excluded: [Self.uri(""), Self.mail(""), Self.address([UInt8](repeating: 0, count: 8))])
        #expect(
            twice == [
                "IP:#1 octets cannot be compared with the constraints", "email:a@example.test is excluded",
                "URI:https://example.test/ is excluded",
            ])
    }

    @Test("Constraints apply to what is below an authority, but to no self-issued intermediate")
    func paths() throws {
        func issued(_ certificate: UnsignedCertificate, selfIssued: Bool) -> UnsignedCertificate {
            var certificate = certificate
            if selfIssued { certificate.issuer = certificate.subject }
            return certificate
        }
        let named = UnsignedCertificate(names: [Self.mail("a@example.test"), Self.address([1])])
        let plain = UnsignedCertificate(names: [])
        let range = Self.address([10, 0, 0, 0, 0xFF, 0, 0, 0])
        let bases = [Self.mail("example.test"), range]
        let authority = UnsignedCertificate(names: [], excluded: bases)
        let both = UnsignedCertificate(names: [Self.mail("a@example.test"), Self.address([1])], excluded: bases)
        func found(_ depth: Int) -> [String] {
            [
                "\(depth): IP:#1 octets cannot be compared with the constraints",
                "\(depth): email:a@example.test is excluded",
            ]
        }
        for selfIssued in [false, true] {
            let leaf = issued(named, selfIssued: selfIssued)
            #expect(try Self.findings([leaf, authority]) == found(1))
            #expect(try Self.findings([leaf, plain, authority]) == found(2))
            #expect(try Self.findings([leaf, authority, authority]) == found(1) + found(2))
            #expect(try Self.findings([plain, leaf, authority]) == (selfIssued ? [] : found(2)))
            #expect(try Self.findings([plain, leaf, plain, authority]) == (selfIssued ? [] : found(3)))
        }
        // An authority's constraints apply neither to itself nor above it.
        #expect(try Self.findings([plain, both]) == [])
        #expect(try Self.findings([plain, both, named]) == [])
        #expect(try Self.findings([both]) == [])
        let broken = UnsignedCertificate(names: [], excluded: [Self.address([1])])
        #expect(try Self.findings([broken, plain]) == [])
        #expect(try Self.findings([plain, broken]) == ["1: a range of addresses that cannot be read: 01"])
        #expect(try Self.findings([]) == [])
    }
}
