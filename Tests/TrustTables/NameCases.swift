internal import FoundationEssentials
internal import PintleTestKit

/// Names of hosts, wildcards, and addresses.
extension TrustCase {
    private typealias GeneralName = CertificateTemplate.GeneralName

    /// 4 September 2015: the rules of July 2019 do not apply yet.
    private static let early = Date(timeIntervalSince1970: 1_441_387_109)

    /// A leaf of 2015 below a root that allows no other authority. Neither has key identifiers. The leaf's usage is
    /// not critical, other than in Apple's cases, so that the verdict is about the name; the last case has it.
    private static func early(
        _ shape: String, common: String = "Test", _ names: [GeneralName], host: String, _ expected: Verdicts,
        difference: String = "", configure: @escaping @Sendable (inout CertificateTemplate) -> Void = { _ in }
    ) -> TrustCase {
        TrustCase(shape, host: host, at: early, expected, difference: difference) {
            let root = try CertificateAuthority.root(name: "Trust Policy Test CA") {
                $0.basicConstraints = .init(isCA: true, pathLength: 0)
                $0.extendedKeyUsage = [.serverAuth]
                $0.isExtendedKeyUsageCritical = true
                $0.subjectKeyIdentifier = .absent
                $0.notBefore = .date(Date(timeIntervalSince1970: 1_440_036_079))
            }
            let identity = try root.issue(hosts: []) {
                $0.subject = .commonName(common)
                $0.subjectAltNames = names
                $0.subjectKeyIdentifier = .absent
                $0.authorityKeyIdentifier = .absent
                $0.notBefore = .date(Date(timeIntervalSince1970: 1_440_174_836))
                $0.notAfter = .date(Date(timeIntervalSince1970: 1_471_710_836))
                configure(&$0)
            }
            return Path(identity, to: root)
        }
    }

    private static let mismatch = Verdicts.refused("name-mismatch", "errSecHostNameMismatch")
    private static let unusableHost = Verdicts.refused("invalid-host", "errSecHostNameMismatch")

    /// A leaf with one DNS name.
    private static func name(
        _ name: String, _ host: String, _ shape: String, _ expected: Verdicts = mismatch
    ) -> TrustCase {
        early("\(shape) (`\(name)`)", [.dns(name)], host: host, expected)
    }

    static let names: [TrustCase] = [
        early("another name", common: "bad.example.com", [.dns("bad.example.com")], host: "test.example.com", mismatch),
        early(
            "only the common name has the host", common: "test.example.com", [.dns("bad.example.com")],
            host: "test.example.com", mismatch),
        early(
            "the host as common name, no alternative names", common: "test.example.com", [], host: "test.example.com",
            mismatch),
        early(
            "the host as alternative name only", common: "bad.example.com", [.dns("test.example.com")],
            host: "test.example.com", .accepted),
        name("test.*.example.com", "test.bad.example.com", "a wildcard as second label"),
        name("test.*.example.com", "test.example.com", "a wildcard as second label"),
        name("*.test.example.com", "good.test.example.com", "a wildcard as first label", .accepted),
        name("*.test.example.com", "test.example.com", "no label for the wildcard"),
        name("*.test.example.com", "one.bad.test.example.com", "two labels for the wildcard"),
        name("*.com", "example.com", "a wildcard above a top-level domain"),
        name("*.co.uk", "example.co.uk", "a wildcard above a public suffix"),
        name("t*t.example.com", "test.example.com", "a wildcard inside a label"),
        name("example*.com", "example.com", "a wildcard that stands for nothing"),
        name("example*.com", "exampleseed.com", "a wildcard at the end of a label"),
        name("*.*.example.com", "one.bad.example.com", "two wildcards"),
        early(
            "for mail only", [.dns("test.example.com")], host: "test.example.com",
            .refused("unsuitable-purpose", "errSecInvalidExtendedKeyUsage")
        ) { $0.extendedKeyUsage = [Self.emailProtection] },
        early("no extended key usage", [.dns("test.example.com")], host: "test.example.com", .accepted) {
            $0.extendedKeyUsage = nil
        },
        name("test.example.com", "test.example.com.test", "the host has one more label"),
        name("test.example.com", "test.example.com.", "the host ends with a dot", .accepted),
        name("test.example.com", ".test.example.com", "the host begins with a dot", unusableHost),
        name("test.example.com.test", "test.example.com", "the name has one more label"),
        early("an address of mail only", [.email("test@example.com")], host: "test.example.com", mismatch),
        name("test.example.com.", "test.example.com", "the name ends with a dot"),
        name(".test.example.com", "test.example.com", "the name begins with a dot"),
        name("*est.example.com", "test.example.com", "a wildcard at the beginning of a label"),
        name("*est.example.com", "est.example.com", "a wildcard that stands for nothing"),
        name("tes*.example.com", "test.example.com", "a wildcard at the end of a label"),
        name("tes*.example.com", "tes.example.com", "a wildcard that stands for nothing"),
        early(
            "the host as common name in lower case", common: "test.example.com", [], host: "TEST.example.com",
            mismatch),
        name("*", "example", "only a wildcard"),
        name("*.*", "example.com", "only wildcards"),
        name("*.*.*", "test.example.com", "only wildcards"),
        name("*.", "example", "a wildcard and a dot"),
        name(".*", "example", "a dot and a wildcard"),
        name("*", "example.com", "only a wildcard"),
        name("*.", "example.com", "a wildcard and a dot"),
        name(".*", "example.com", "a dot and a wildcard"),
        early(
            "a critical extended key usage", [.dns("test.example.com")], host: "test.example.com",
            .accepted
        ) { $0.isExtendedKeyUsageCritical = true },
    ]

    // MARK: Addresses

    private static let address = Date(timeIntervalSince1970: 1_578_307_200)

    /// A leaf of November 2019 that is its own anchor.
    private static func address(
        _ shape: String, common: String = "Test", _ names: [GeneralName], host: String = "10.0.0.1",
        _ expected: Verdicts = mismatch
    ) -> TrustCase {
        TrustCase(shape, host: host, at: address, expected) {
            Path(
                own: try .selfSigned(hosts: []) {
                    $0.subject = .commonName(common)
                    $0.subjectAltNames = names
                    $0.basicConstraints = .init(isCA: false)
                    $0.keyUsage = .digitalSignature
                    $0.extendedKeyUsage = [.serverAuth]
                    $0.notBefore = .date(Date(timeIntervalSince1970: 1_573_171_329))
                    $0.notAfter = .date(Date(timeIntervalSince1970: 1_604_707_329))
                })
        }
    }

    static let addresses: [TrustCase] = [
        address("an address as DNS name", [.dns("10.0.0.1")]),
        address("the address", [.ip([10, 0, 0, 1])], .accepted),
        address("another address", [.ip([10, 0, 0, 1])], host: "10.0.0.2"),
        address("the address as common name", common: "10.0.0.1", []),
        address("an address of five octets", [.ip([10, 0, 0, 1, 1])]),
    ]
}
