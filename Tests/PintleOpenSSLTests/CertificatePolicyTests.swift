import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Certificate policies (RFC 5280 section 6.1). The policy of a user is "any", so a path is invalid only if one of its
/// certificates requires a policy and none is valid, or if the extensions contradict themselves.
@Suite("Certificate policies")
struct CertificatePolicyTests {
    typealias OID = DERWriter.OID

    private static let one: OID = [2, 999, 1]
    private static let two: OID = [2, 999, 2]
    private static let three: OID = [2, 999, 3]
    private static let any: OID = [2, 5, 29, 32, 0]

    /// Two paths that differ in one point: the statements of the certificates below the root, the leaf last.
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let refused: [PolicyStatement]
        let accepted: [PolicyStatement]

        init(_ description: String, _ refused: [PolicyStatement], _ accepted: [PolicyStatement]) {
            testDescription = description
            (self.refused, self.accepted) = (refused, accepted)
        }
    }

    @Test(
        "A required policy must be valid on the whole path",
        arguments: [
            Pair(
                "the leaf has none", [.init(policies: [one], requires: 0), .init()],
                [.init(policies: [one], requires: 0), .init(policies: [one])]),
            Pair(
                "the authority has none", [.init(requires: 0), .init(policies: [one])],
                [.init(policies: [one], requires: 0), .init(policies: [one])]),
            Pair(
                "the leaf has another", [.init(policies: [one], requires: 0), .init(policies: [two])],
                [.init(policies: [one]), .init(policies: [two])]),
            Pair(
                "an authority below has another",
                [.init(policies: [one], requires: 0), .init(policies: [two]), .init(policies: [two])],
                [.init(policies: [one, two], requires: 0), .init(policies: [two]), .init(policies: [two])]),
            Pair(
                "the leaf itself requires one", [.init(policies: [one]), .init(requires: 0)],
                [.init(policies: [one]), .init(policies: [one], requires: 0)]),
            Pair(
                "the requirement begins with the leaf", [.init(requires: 1), .init(), .init()],
                [.init(requires: 3), .init(), .init()]),
            Pair(
                "a lower authority shortens the count", [.init(requires: 7), .init(requires: 0), .init()],
                [.init(requires: 7), .init(requires: 4), .init()]),
            Pair(
                "a lower authority cannot lengthen the count", [.init(requires: 0), .init(requires: 9), .init()],
                [.init(requires: 9), .init(requires: 9), .init()]),
            Pair(
                "a self-issued certificate does not count, an ordinary one does",
                [.init(requires: 2), .init(), .init()], [.init(requires: 2), .init(isSelfIssued: true), .init()]),
            Pair(
                "a self-issued certificate needs the policy too",
                [.init(policies: [one], requires: 0), .init(isSelfIssued: true), .init(policies: [one])],
                [
                    .init(policies: [one], requires: 0), .init(policies: [one], isSelfIssued: true),
                    .init(policies: [one]),
                ]
            ),
        ])
    func required(_ pair: Pair) throws {
        #expect(try PolicyStatement.verdict(pair.refused) == PolicyStatement.refusal)
        #expect(try PolicyStatement.verdict(pair.accepted) == PolicyStatement.acceptance)
    }

    @Test(
        "Policies that no certificate requires may differ or be missing",
        arguments: [
            [PolicyStatement(), .init()], [.init(policies: [one]), .init()], [.init(), .init(policies: [one])],
            [.init(policies: [one]), .init(policies: [two])], [.init(policies: [any]), .init(policies: [two])],
            [.init(policies: [one], inhibitsMapping: 0, inhibitsAny: 0), .init(policies: [any])],
            [.init(policies: [one], mapping: (one, two)), .init(policies: [three])],
        ])
    func notRequired(_ statements: [PolicyStatement]) throws {
        #expect(try PolicyStatement.verdict(statements) == PolicyStatement.acceptance)
    }

    @Test(
        "A mapping makes an authority's policy valid under another name",
        arguments: [
            Pair(
                "the leaf has the unmapped policy",
                [.init(policies: [one], mapping: (one, two), requires: 0), .init(policies: [one])],
                [.init(policies: [one], mapping: (one, two), requires: 0), .init(policies: [two])]),
            Pair(
                "the mapping is of another policy",
                [.init(policies: [one], mapping: (three, two), requires: 0), .init(policies: [two])],
                [.init(policies: [one], mapping: (one, two), requires: 0), .init(policies: [two])]),
            Pair(
                "a second authority maps on from another policy",
                [
                    .init(policies: [one], mapping: (one, two), requires: 0),
                    .init(policies: [two], mapping: (one, three)), .init(policies: [three]),
                ],
                [
                    .init(policies: [one], mapping: (one, two), requires: 0),
                    .init(policies: [two], mapping: (two, three)), .init(policies: [three]),
                ]),
        ])
    func mapped(_ pair: Pair) throws {
        #expect(try PolicyStatement.verdict(pair.refused) == PolicyStatement.refusal)
        #expect(try PolicyStatement.verdict(pair.accepted) == PolicyStatement.acceptance)
    }

    @Test(
        "A mapping from or to anyPolicy cannot be read",
        arguments: [
            Pair(
                "from anyPolicy", [.init(policies: [any], mapping: (any, one)), .init(policies: [one])],
                [.init(policies: [any], mapping: (two, one)), .init(policies: [one])]),
            Pair(
                "to anyPolicy", [.init(policies: [one], mapping: (one, any)), .init(policies: [one])],
                [.init(policies: [one], mapping: (one, two)), .init(policies: [one])]),
            Pair(
                "from anyPolicy, required",
                [.init(policies: [any], mapping: (any, one), requires: 0), .init(policies: [one])],
                [.init(policies: [any], mapping: (two, one), requires: 0), .init(policies: [one])]),
        ])
    func mappedFromAny(_ pair: Pair) throws {
        #expect(try PolicyStatement.verdict(pair.refused) == PolicyStatement.unreadable)
        #expect(try PolicyStatement.verdict(pair.accepted) == PolicyStatement.acceptance)
    }

    @Test(
        "A mapping that an authority above inhibits does not count",
        arguments: [
            Pair(
                "at once",
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 0),
                    .init(policies: [one], mapping: (one, two)), .init(policies: [two]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 1),
                    .init(policies: [one], mapping: (one, two)), .init(policies: [two]),
                ]),
            Pair(
                "after one more",
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 1), .init(policies: [one]),
                    .init(policies: [one], mapping: (one, two)), .init(policies: [two]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 2), .init(policies: [one]),
                    .init(policies: [one], mapping: (one, two)), .init(policies: [two]),
                ]),
            Pair(
                "a lower authority shortens the count",
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 5),
                    .init(policies: [one], inhibitsMapping: 0), .init(policies: [one], mapping: (one, two)),
                    .init(policies: [two]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 5),
                    .init(policies: [one], inhibitsMapping: 1), .init(policies: [one], mapping: (one, two)),
                    .init(policies: [two]),
                ]),
            Pair(
                "a self-issued certificate does not count, an ordinary one does",
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 1), .init(policies: [one]),
                    .init(policies: [one], mapping: (one, two)), .init(policies: [two]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 1),
                    .init(policies: [one], isSelfIssued: true), .init(policies: [one], mapping: (one, two)),
                    .init(policies: [two]),
                ]),
            Pair(
                "a self-issued certificate may not map either",
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 0),
                    .init(policies: [one], mapping: (one, two), isSelfIssued: true), .init(policies: [two]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsMapping: 1),
                    .init(policies: [one], mapping: (one, two), isSelfIssued: true), .init(policies: [two]),
                ]),
        ])
    func mappingInhibited(_ pair: Pair) throws {
        #expect(try PolicyStatement.verdict(pair.refused) == PolicyStatement.refusal)
        #expect(try PolicyStatement.verdict(pair.accepted) == PolicyStatement.acceptance)
    }

    @Test(
        "anyPolicy does not count below an authority that inhibits it",
        arguments: [
            Pair(
                "in the leaf",
                [.init(policies: [one], requires: 0, inhibitsAny: 0), .init(policies: [any])],
                [.init(policies: [one], requires: 0, inhibitsAny: 1), .init(policies: [any])]),
            Pair(
                "in an authority",
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 0), .init(policies: [any]),
                    .init(policies: [one]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 1), .init(policies: [any]),
                    .init(policies: [one]),
                ]),
            Pair(
                "after one more",
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 1), .init(policies: [any]),
                    .init(policies: [any]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 2), .init(policies: [any]),
                    .init(policies: [any]),
                ]),
            Pair(
                "a lower authority shortens the count",
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 5), .init(policies: [one], inhibitsAny: 0),
                    .init(policies: [any]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 5), .init(policies: [one], inhibitsAny: 1),
                    .init(policies: [any]),
                ]),
            Pair(
                "a self-issued authority may still have it, another may not",
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 0), .init(policies: [any]),
                    .init(policies: [one]),
                ],
                [
                    .init(policies: [one], requires: 0, inhibitsAny: 0),
                    .init(policies: [any], isSelfIssued: true), .init(policies: [one]),
                ]),
        ])
    func anyInhibited(_ pair: Pair) throws {
        #expect(try PolicyStatement.verdict(pair.refused) == PolicyStatement.refusal)
        #expect(try PolicyStatement.verdict(pair.accepted) == PolicyStatement.acceptance)
    }
}

/// The policy extensions of a certificate.
struct PolicyStatement: Sendable {
    var policies: [DERWriter.OID] = []
    var mapping: (DERWriter.OID, DERWriter.OID)?
    var requires: Int?
    var inhibitsMapping: Int?
    var inhibitsAny: Int?
    /// A Boolean value that indicates whether the certificate has its issuer's name. Skip counts leave it out.
    var isSelfIssued = false

    var extensions: [CertificateExtension] {
        var list: [CertificateExtension] = []
        if !policies.isEmpty { list.append(.certificatePolicies(policies, critical: true)) }
        if let mapping { list.append(.policyMappings([mapping])) }
        if requires != nil || inhibitsMapping != nil {
            list.append(
                .policyConstraints(requireExplicitPolicy: requires, inhibitPolicyMapping: inhibitsMapping))
        }
        if let inhibitsAny { list.append(.inhibitAnyPolicy(skipping: inhibitsAny)) }
        return list
    }

    static let refusal = "invalid-path no-valid-certificate-policy"
    static let unreadable = "invalid-path malformed-certificate"
    static let acceptance = "host-not-pinned"

    /// Returns the verdict on a path below the root, the leaf last.
    static func verdict(_ statements: [PolicyStatement], root: CertificateAuthority? = nil) throws -> String {
        let root = try root ?? .root()
        var authority = root
        for (level, statement) in statements.dropLast().enumerated() {
            let issuer = authority.certificate.subject
            authority = try authority.intermediate(name: "Authority \(level)") {
                if statement.isSelfIssued { $0.subject = issuer }
                $0.extraExtensions = statement.extensions
            }
        }
        let leaf = try authority.issue(hosts: [Validation.host]) {
            $0.extraExtensions = statements.last?.extensions ?? []
        }
        return try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
    }
}
