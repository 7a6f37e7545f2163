internal import FoundationEssentials
internal import PintleTestKit

/// Name constraints. Apple's cases use the basic rules; these leaves also have what servers need.
extension TrustCase {
    private typealias GeneralName = CertificateTemplate.GeneralName
    private typealias Attribute = CertificateTemplate.DistinguishedName.Attribute

    /// 23 May 2017.
    private static let instant = Date(timeIntervalSince1970: 1_495_589_800)
    private static let refused = Verdicts.refused("name-constraint-violation", "errSecInvalidName")

    private static func organization(_ name: String) -> GeneralName {
        .directory([.country("US"), .organization(name)])
    }

    /// A domain with and without a dot, three organizations, and no addresses.
    private static let ofExample = CertificateExtension.nameConstraints(
        permitted: [
            .dns("example.com"), .dns(".example.com"), organization("Example"), organization("Example Inc."),
            organization("Example Computer, Inc."),
        ],
        excluded: [.ip([0, 0, 0, 0, 0, 0, 0, 0])], critical: false)

    private static func year(_ template: inout CertificateTemplate) {
        template.notBefore = .date(Date(timeIntervalSince1970: 1_495_588_000))
        template.notAfter = .date(Date(timeIntervalSince1970: 1_527_124_000))
    }

    private static func constrained(
        _ shape: String, host: String, by constraints: CertificateExtension = ofExample, anchor: Bool = false,
        organization: String = "Example Inc.", others: [GeneralName] = [], common: String = "Leaf",
        _ expected: Verdicts, difference: String = ""
    ) -> TrustCase {
        TrustCase(shape, host: host, at: instant, expected, difference: difference) {
            let root = try CertificateAuthority.root(name: "Constraints Test Root") {
                $0.basicConstraints = .init(isCA: true, pathLength: 2)
                year(&$0)
            }
            let authority = try root.intermediate(name: "Constraints Test Authority") {
                $0.nameConstraints = constraints
                year(&$0)
            }
            let identity = try authority.issue(hosts: [host]) {
                $0.subject = [.country("US"), .organization(organization), .commonName(common)]
                $0.subjectAltNames += others
                year(&$0)
            }
            return Path(identity, to: anchor ? authority : root)
        }
    }

    private static let otherNames = "Name constraints on kinds of names that are not compared"
    private static let upn: DERWriter.OID = [1, 3, 6, 1, 4, 1, 311, 20, 2, 3]

    static let constraints: [TrustCase] = [
        constrained("two labels below the permitted domain", host: "test1.test.example.com", .accepted),
        constrained("the permitted domain itself", host: "example.com", organization: "Example", .accepted),
        constrained(
            "a common name like a host, and an address of mail", host: "example.com",
            others: [.email("jo@example.com")], common: "JAPPLESEED", .accepted),
        constrained("the app's anchor has the constraints", host: "test1.test.example.com", anchor: true, .accepted),
        constrained("the app's anchor has the constraints, another domain", host: "example.org", anchor: true, refused),
        TrustCase(
            "two certificates with thousands of names, the upper one is no authority", host: "42example.com",
            at: instant, .refused("limits-exceeded", "errSecNoBasicConstraints")
        ) {
            let names = (1...16_000).map { GeneralName.dns("\($0)example.com") }
            let root = try CertificateAuthority.root { year(&$0) }
            let upper = try root.issue(hosts: []) {
                $0.subject = .commonName("Upper")
                $0.subjectAltNames = names
                $0.basicConstraints = nil
                year(&$0)
            }
            let lower = try upper.misusedAsAuthority().issue(hosts: []) {
                $0.subject = .commonName("Lower")
                $0.subjectAltNames = names
                $0.basicConstraints = nil
                $0.nameConstraints = .nameConstraints(permitted: names, critical: false)
                year(&$0)
            }
            return Path(lower, to: root)
        },
        constrained(
            "a critical constraint on a kind of name that is not compared", host: "example.com",
            by: .nameConstraints(permitted: [.other([1, 2, 3, 4], "some other identifier")]),
            .refused("accepted", "errSecInvalidName"), difference: otherNames),
        constrained(
            "an excluded name of a kind that is not compared, not critical", host: "example.com",
            by: .nameConstraints(excluded: [.other(upn, "@example.org")], critical: false), anchor: true,
            others: [.other(upn, "jo@example.org")],
            Verdicts("accepted", "name-constraint-violation", "accepted"), difference: otherNames),
    ]
}
