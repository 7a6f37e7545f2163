import Testing

@testable import Pintle

/// Tests the profile's additional requirements. Each refused path has a counterpart that meets them.
@Suite("The profile of paths")
struct PathProfileTests {
    typealias D = DERBytes

    @Test("A good path and an empty one have no findings")
    func good() throws {
        #expect(try ProfileFixture().findings() == [])
        #expect(try ProfileFixture { $0.leafIsAnchor = true }.findings() == [])
        #expect(PathProfile { _ in true }.findings([]).isEmpty)
    }

    private static let strangeSerial = "a serial number that is not positive or has over 20 octets"

    @Test(
        "A serial number must be positive and have at most 20 octets, in leaf and intermediates",
        arguments: [
            (D.integer(0), false), (D.integer(0xFF), false), (D.integer(0x80, 0), false), (D.integer(1), true),
            (D.integer(0x7F), true), (D.integer(0, 0x80), true), (D.integer(1, 0x80), true), (D.integer(0x80), false),
            (D.element(0x02, [1] + [UInt8](repeating: 7, count: 19)), true),
            (D.element(0x02, [1] + [UInt8](repeating: 7, count: 20)), false),
            // The magnitude has 20 octets, but the sign adds one.
            (D.element(0x02, [0, 0x80] + [UInt8](repeating: 7, count: 19)), false),
        ])
    func serialNumber(_ serial: [UInt8], isGood: Bool) throws {
        let found = { (depth: Int) in isGood ? [] : ["other \(depth): \(Self.strangeSerial)"] }
        #expect(try ProfileFixture { $0.leaf.serial = serial }.findings() == found(0))
        #expect(try ProfileFixture { $0.intermediate.serial = serial }.findings() == found(1))
        // Anchors are not checked: nine public roots have serial number 0.
        #expect(try ProfileFixture { $0.root.serial = serial }.findings() == [])
    }

    @Test("A leaf that is the anchor may have serial number zero, but no other invalid one")
    func serialNumberOfAnchor() throws {
        func findings(_ serial: [UInt8]) throws -> [String] {
            try ProfileFixture {
                $0.leaf.serial = serial
                $0.leafIsAnchor = true
            }.findings()
        }
        #expect(try findings(D.integer(0)) == [])
        #expect(try findings(D.integer(0xFF)) == ["other 0: \(Self.strangeSerial)"])
        #expect(
            try findings(D.element(0x02, [UInt8](repeating: 7, count: 21))) == ["other 0: \(Self.strangeSerial)"])
        #expect(try findings(D.element(0x02, [UInt8](repeating: 7, count: 20))) == [])
    }

    @Test("Policy constraints must be critical", arguments: [false, true])
    func policyConstraints(isCritical: Bool) throws {
        let field = UnsignedCertificate.extensionField(
            D.oid(2, 5, 29, 36), critical: isCritical ? D.yes : [], D.sequence(D.element(0x80, [0])))
        let found = { (depth: Int) in isCritical ? [] : ["other \(depth): policy constraints that are not critical"] }
        #expect(try ProfileFixture { $0.intermediateExtensions = [field] }.findings() == found(1))
        #expect(try ProfileFixture { $0.leafExtensions = [field] }.findings() == found(0))
        #expect(try ProfileFixture { $0.rootExtensions = [field] }.findings() == [])
        let alone = ProfileFixture {
            $0.leafExtensions = [field]
            $0.leafIsAnchor = true
        }
        #expect(try alone.findings() == found(0))
        for depth in 0...1 {
            let fixture = ProfileFixture {
                $0.anchorIsOfRule = true
                if depth == 0 { $0.leafExtensions = [field] } else { $0.intermediateExtensions = [field] }
            }
            #expect(try fixture.findings() == [])
        }
    }

    /// Returns a PolicyInformation with a qualifier of each type.
    private static func policy(_ last: UInt64, _ types: [UInt8]...) -> [UInt8] {
        let text = D.element(0x16, Array("https://example.test/".utf8))
        let qualifiers = types.map { D.sequence($0, text) }
        return D.sequence(D.oid(2, 5, 29, 32, last), types.isEmpty ? [] : D.sequence(qualifiers.flatMap(\.self)))
    }

    private static let statement = D.oid(1, 3, 6, 1, 5, 5, 7, 2, 1)
    private static let userNotice = D.oid(1, 3, 6, 1, 5, 5, 7, 2, 2)
    private static let unknown = D.oid(1, 3, 6, 1, 5, 5, 7, 2, 3)

    @Test(
        "Critical policies must not have a qualifier of an unknown type, in any policy and at any place",
        arguments: [
            ([policy(1)], true), ([policy(1, statement)], true), ([policy(1, userNotice)], true),
            ([policy(1, statement, userNotice), policy(2), policy(3, statement)], true),
            ([policy(1, unknown)], false), ([policy(1, statement, unknown)], false),
            ([policy(1), policy(2, unknown)], false), ([policy(1, statement), policy(2, unknown)], false),
            ([policy(1, statement, userNotice), policy(2), policy(3, userNotice, unknown)], false),
        ])
    func policyQualifiers(_ policies: [[UInt8]], areKnown: Bool) throws {
        func findings(critical: Bool, depth: Int) throws -> [String] {
            let field = UnsignedCertificate.extensionField(
                D.oid(2, 5, 29, 32), critical: critical ? D.yes : [], D.sequence(policies.flatMap(\.self)))
            return try ProfileFixture {
                if depth == 0 { $0.leafExtensions = [field] } else { $0.intermediateExtensions = [field] }
            }.findings()
        }
        for depth in 0...1 {
            let text = "critical certificate policies with a qualifier of an unknown type"
            let found = areKnown ? [] : ["unhandled-critical-extension \(depth): \(text)"]
            #expect(try findings(critical: true, depth: depth) == found)
            #expect(try findings(critical: false, depth: depth) == [])
        }
    }

    @Test("Policies that cannot be read are one finding, critical or not", arguments: [false, true])
    func unreadablePolicies(isCritical: Bool) throws {
        func findings(_ value: [UInt8]) throws -> [String] {
            let field = UnsignedCertificate.extensionField(
                D.oid(2, 5, 29, 32), critical: isCritical ? D.yes : [], value)
            return try ProfileFixture { $0.leafExtensions = [field] }.findings()
        }
        #expect(try findings(D.sequence(Self.policy(1))) == [])
        for value in [D.null, D.sequence(D.null), D.sequence(Self.policy(1), D.null)] {
            #expect(try findings(value) == ["malformed-certificate 0: certificate policies that cannot be read"])
        }
    }

    private static let ocsp = D.oid(1, 3, 6, 1, 5, 5, 7, 48, 1)
    private static let location = D.element(0x86, Array("http://ocsp.example.test/".utf8))

    @Test(
        "Authority information access must be well formed if it exists",
        arguments: [
            (D.sequence(D.sequence(ocsp, location)), true),
            (D.sequence(D.sequence(ocsp, location), D.sequence(ocsp, location)), true),
            (D.sequence(), false), ([], false), ([0x30], false), (D.sequence(D.sequence(ocsp)), false),
            (D.sequence(D.sequence(location)), false), (D.sequence(D.sequence(ocsp, location, D.null)), false),
            (D.sequence(D.sequence(ocsp, D.null)), false), (D.sequence(D.sequence(ocsp, location)) + [0], false),
            (D.sequence(ocsp, location), false),
        ])
    func authorityInfoAccess(_ value: [UInt8], isGood: Bool) throws {
        let field = UnsignedCertificate.extensionField(D.oid(1, 3, 6, 1, 5, 5, 7, 1, 1), value)
        let found = { (depth: Int) in
            isGood ? [] : ["malformed-certificate \(depth): authority information access that cannot be read"]
        }
        #expect(try ProfileFixture { $0.leafExtensions = [field] }.findings() == found(0))
        #expect(try ProfileFixture { $0.intermediateExtensions = [field] }.findings() == found(1))
        #expect(try ProfileFixture { $0.rootExtensions = [field] }.findings() == [])
    }

    private static let serverAuth = D.oid(1, 3, 6, 1, 5, 5, 7, 3, 1)
    private static let anyPurpose = D.oid(2, 5, 29, 37, 0)

    @Test("A leaf that is a CA certificate, or whose extended key usage is critical or for any purpose, is refused")
    func purpose() throws {
        func findings(_ field: [UInt8]..., asAnchor: Bool = false) throws -> [String] {
            try ProfileFixture {
                $0.leafExtensions = field
                $0.leafIsAnchor = asAnchor
            }.findings()
        }
        let good = ProfileFixture.extendedKeyUsage(Self.serverAuth)
        let any = ProfileFixture.extendedKeyUsage(Self.serverAuth, Self.anyPurpose)
        let critical = ProfileFixture.extendedKeyUsage(Self.serverAuth, critical: true)
        #expect(try findings(good) == [])
        #expect(try findings(any) == ["unsuitable-purpose 0: an extended key usage for any purpose"])
        #expect(try findings(critical) == ["unsuitable-purpose 0: an extended key usage that is critical"])
        #expect(
            try findings(ProfileFixture.authority) == [
                "unsuitable-purpose 0: the server's certificate is an authority's"
            ]
        )
        for field in [any, critical, ProfileFixture.authority] { #expect(try findings(field, asAnchor: true) == []) }
        // Below an anchor of a rule only the critical one is accepted.
        for field in [any, critical, ProfileFixture.authority] {
            let found = try ProfileFixture {
                $0.leafExtensions = [field]
                $0.anchorIsOfRule = true
            }.findings()
            #expect(try found == (field == critical ? [] : findings(field)))
        }
        // An intermediate may be for any purpose beside servers.
        #expect(try ProfileFixture { $0.intermediateExtensions = [any] }.findings() == [])
    }

    @Test("An extended key usage without serverAuth is refused at every depth below the anchor")
    func foreignPurpose() throws {
        let gated = ProfileFixture.extendedKeyUsage(D.oid(1, 3, 6, 1, 4, 1, 311, 10, 3, 3))
        let both = ProfileFixture.extendedKeyUsage(D.oid(1, 3, 6, 1, 4, 1, 311, 10, 3, 3), Self.serverAuth)
        func found(_ depth: Int) -> [String] {
            ["unsuitable-purpose \(depth): an extended key usage without serverAuth"]
        }
        #expect(try ProfileFixture { $0.leafExtensions = [gated] }.findings() == found(0))
        #expect(try ProfileFixture { $0.intermediateExtensions = [gated] }.findings() == found(1))
        #expect(try ProfileFixture { $0.rootExtensions = [gated] }.findings() == [])
        #expect(try ProfileFixture { $0.leafExtensions = [both] }.findings() == [])
        #expect(try ProfileFixture { $0.intermediateExtensions = [both] }.findings() == [])
        let alone = ProfileFixture {
            $0.leafExtensions = [gated]
            $0.leafIsAnchor = true
        }
        #expect(try alone.findings() == [])
    }

    @Test(
        "An extension that is critical and not processed is refused below the anchor, and in a leaf that is the anchor")
    func criticalExtensions() throws {
        func field(critical: Bool) -> [UInt8] {
            UnsignedCertificate.extensionField(
                D.oid(2, 5, 29, 31), critical: critical ? D.yes : [], D.sequence())
        }
        func found(_ depth: Int) -> [String] {
            ["unhandled-critical-extension \(depth): the extension 2.5.29.31 is critical and is not processed"]
        }
        #expect(try ProfileFixture { $0.leafExtensions = [field(critical: true)] }.findings() == found(0))
        #expect(try ProfileFixture { $0.intermediateExtensions = [field(critical: true)] }.findings() == found(1))
        #expect(try ProfileFixture { $0.rootExtensions = [field(critical: true)] }.findings() == [])
        #expect(try ProfileFixture { $0.leafExtensions = [field(critical: false)] }.findings() == [])
        let alone = ProfileFixture {
            $0.leafExtensions = [field(critical: true)]
            $0.leafIsAnchor = true
        }
        #expect(try alone.findings() == found(0))
    }

    @Test("Only CA certificates may have name constraints")
    func nameConstraintsOfLeaf() throws {
        let field = ProfileFixture.nameConstraints(permitted: ["example.test"])
        #expect(
            try ProfileFixture { $0.leafExtensions = [field] }.findings()
                == ["name-constraint-violation 0: name constraints in a server's certificate"])
        #expect(try ProfileFixture { $0.intermediateExtensions = [field] }.findings() == [])
        let alone = ProfileFixture {
            $0.leafExtensions = [field]
            $0.leafIsAnchor = true
        }
        #expect(try alone.findings() == [])
    }

    @Test(
        "An RSA key needs at least 2,048 bits and whole octets, anywhere on the path",
        arguments: [
            (1_024, false), (2_040, false), (2_047, false), (2_048, true), (2_049, false), (2_052, false),
            (2_056, true), (3_072, true), (4_096, true), (4_095, false),
        ])
    func rsa(bits: Int, isStrong: Bool) throws {
        let key = ProfileFixture.rsaKey(bits: bits)
        let found = { (depth: Int) in isStrong ? [] : ["weak-key \(depth): a key of the kind RSA \(bits)"] }
        #expect(try ProfileFixture { $0.leaf.key = key }.findings() == found(0))
        #expect(try ProfileFixture { $0.intermediate.key = key }.findings() == found(1))
        #expect(try ProfileFixture { $0.root.key = key }.findings() == found(2))
        let alone = ProfileFixture {
            $0.leaf.key = key
            $0.leafIsAnchor = true
        }
        #expect(try alone.findings() == found(0))
    }

    @Test(
        "Listed curves and algorithms are strong, and all others weak",
        arguments: [
            (D.sequence(D.oid(1, 2, 840, 10045, 2, 1), D.oid(1, 2, 840, 10045, 3, 1, 7)), true),
            (D.sequence(D.oid(1, 2, 840, 10045, 2, 1), D.oid(1, 3, 132, 0, 34)), true),
            (D.sequence(D.oid(1, 2, 840, 10045, 2, 1), D.oid(1, 3, 132, 0, 35)), true),
            (D.sequence(D.oid(1, 2, 840, 10045, 2, 1), D.oid(1, 3, 132, 0, 33)), false),
            (D.sequence(D.oid(1, 2, 840, 10045, 2, 1), D.oid(1, 3, 132, 0, 10)), false),
            (D.sequence(D.oid(1, 3, 101, 112)), true), (D.sequence(D.oid(1, 3, 101, 113)), true),
            (D.sequence(D.oid(2, 16, 840, 1, 101, 3, 4, 3, 17)), true),
            (D.sequence(D.oid(2, 16, 840, 1, 101, 3, 4, 3, 20)), false),
            (D.sequence(D.oid(1, 2, 840, 10040, 4, 1)), false), (D.sequence(D.oid(1, 3, 9)), false),
        ])
    func algorithms(_ algorithm: [UInt8], isStrong: Bool) throws {
        let key = D.sequence(algorithm, D.bitString([4] + [UInt8](repeating: 7, count: 64)))
        // The root's, because the value of an anchor's key is not judged.
        let found = try ProfileFixture { $0.root.key = key }.findings()
        #expect(found.map { String($0.prefix(10)) } == (isStrong ? [] : ["weak-key 2"]))
    }
}
