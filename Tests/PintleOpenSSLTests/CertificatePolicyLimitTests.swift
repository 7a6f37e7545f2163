import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// The surroundings of the evaluation of certificate policies: the anchor, the path search, qualifiers and the work.
@Suite("Certificate policies: anchors, qualifiers and limits")
struct CertificatePolicyLimitTests {
    typealias OID = DERWriter.OID

    private static let one: OID = [2, 999, 1]
    private static let two: OID = [2, 999, 2]
    private static let any: OID = [2, 5, 29, 32, 0]

    @Test(
        "A critical policy extension of the anchor is obeyed as an intermediate's",
        arguments: [
            (PolicyStatement(requires: 0), [PolicyStatement()], [PolicyStatement(policies: [one])]),
            (
                PolicyStatement(policies: [one], requires: 0), [PolicyStatement(policies: [two])],
                [PolicyStatement(policies: [one])]
            ),
            (PolicyStatement(policies: [one]), [PolicyStatement(requires: 0), .init()], [PolicyStatement(), .init()]),
            (
                PolicyStatement(policies: [one]),
                [PolicyStatement(policies: [two], requires: 0), .init(policies: [two])],
                [PolicyStatement(policies: [one], requires: 0), .init(policies: [one])]
            ),
            (
                PolicyStatement(policies: [one], requires: 0, inhibitsAny: 0), [PolicyStatement(policies: [any])],
                [PolicyStatement(policies: [one])]
            ),
            (
                PolicyStatement(policies: [one], mapping: (one, two), requires: 0), [PolicyStatement(policies: [one])],
                [PolicyStatement(policies: [two])]
            ),
        ])
    func anchor(_ statement: PolicyStatement, refused: [PolicyStatement], accepted: [PolicyStatement]) throws {
        let root = try CertificateAuthority.root { $0.extraExtensions = statement.extensions }
        #expect(try PolicyStatement.verdict(refused, root: root) == PolicyStatement.refusal)
        #expect(try PolicyStatement.verdict(accepted, root: root) == PolicyStatement.acceptance)
    }

    @Test("Policies of an anchor that are not critical do not restrict the path", arguments: [true, false])
    func policiesOfAnchor(isCritical: Bool) throws {
        let root = try CertificateAuthority.root {
            $0.extraExtensions = [.certificatePolicies([Self.one], critical: isCritical)]
        }
        let path = [PolicyStatement(policies: [Self.two], requires: 0), .init(policies: [Self.two])]
        #expect(
            try PolicyStatement.verdict(path, root: root)
                == (isCritical ? PolicyStatement.refusal : PolicyStatement.acceptance))
    }

    @Test("A path search prefers the authority's certificate with which a policy is valid")
    func search() throws {
        let root = try CertificateAuthority.root()
        let other = try CertificateAuthority.root(name: "Other Root")
        let strict = try root.intermediate { $0.extraExtensions = PolicyStatement(requires: 0).extensions }
        let lax = try strict.crossSigned(by: other) { $0.extraExtensions = [] }
        let leaf = try strict.issue(hosts: [Validation.host])
        func verdict(_ issuers: [CertificateAuthority]) throws -> String {
            let chain = [leaf.certificate.der] + issuers.map(\.certificate.der)
            return try Validation.decide(chain, anchors: [root.certificate, other.certificate]).summary
        }
        #expect(try verdict([strict]) == PolicyStatement.refusal)
        #expect(try verdict([strict, lax]) == PolicyStatement.acceptance)
        #expect(try verdict([lax, strict]) == PolicyStatement.acceptance)
    }

    @Test("A missing policy is more fundamental than an expired certificate, and both are listed")
    func order() throws {
        let root = try CertificateAuthority.root()
        let authority = try root.intermediate { $0.extraExtensions = PolicyStatement(requires: 0).extensions }
        let leaf = try authority.issue(hosts: [Validation.host]) { $0.notAfter = .fromNow(days: -1) }
        let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
        guard case .rejected(.invalidPath(let failure)) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(failure.code.rawValue == "no-valid-certificate-policy" && failure.detail.map(\.code) == [.expired])
        #expect(failure.primary.depth == nil && failure.primary.platformCode == 43)
    }

    @Test(
        "Critical policies with a qualifier of an unknown type are refused, in leaf and intermediate",
        arguments: [true, false])
    func qualifiers(inLeaf: Bool) throws {
        let practice: OID = [1, 3, 6, 1, 5, 5, 7, 2, 1]
        let notice: OID = [1, 3, 6, 1, 5, 5, 7, 2, 2]
        func verdict(_ type: OID, critical: Bool) throws -> String {
            let field = CertificateExtension(.certificatePolicies, critical: critical) { der in
                der.sequence { der in
                    der.sequence { der in
                        der.oid(Self.one)
                        der.sequence { der in
                            der.sequence { der in
                                der.oid(type)
                                if type == notice {
                                    der.sequence { $0.utf8String("for tests") }
                                } else {
                                    der.ia5String("http://policy.example.test/")
                                }
                            }
                        }
                    }
                }
            }
            let root = try CertificateAuthority.root()
            let authority = try root.intermediate { if !inLeaf { $0.extraExtensions = [field] } }
            let leaf = try authority.issue(hosts: [Validation.host]) { if inLeaf { $0.extraExtensions = [field] } }
            return try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
        }
        #expect(try verdict([2, 999, 9], critical: true) == "invalid-path unhandled-critical-extension")
        #expect(try verdict([2, 999, 9], critical: false) == PolicyStatement.acceptance)
        #expect(try verdict(practice, critical: true) == PolicyStatement.acceptance)
        #expect(try verdict(notice, critical: true) == PolicyStatement.acceptance)
    }

    @Test(
        "Policy extensions that contradict themselves are refused",
        arguments: [
            ([.certificatePolicies([one, one], critical: true)], 1),
            ([CertificateExtension(.policyConstraints, critical: true) { $0.sequence { _ in } }], 1),
            (
                [
                    .certificatePolicies([one]),
                    CertificateExtension(.inhibitAnyPolicy, critical: true) { $0.integer(-1) },
                ], 1
            ),
            ([.certificatePolicies([one, two], critical: true)], nil),
            ([.policyConstraints(requireExplicitPolicy: 5)], nil),
            ([.certificatePolicies([one]), .inhibitAnyPolicy(skipping: 1)], nil),
        ] as [([CertificateExtension], Int?)])
    func contradictions(_ fields: [CertificateExtension], depth: Int?) throws {
        let root = try CertificateAuthority.root()
        let authority = try root.intermediate { $0.extraExtensions = fields }
        let leaf = try authority.issue(hosts: [Validation.host])
        let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
        #expect(decision.summary == (depth == nil ? PolicyStatement.acceptance : PolicyStatement.unreadable))
        guard case .rejected(.invalidPath(let failure)) = decision else { return }
        #expect(failure.primary.depth == depth)
    }

    @Test("A chain may cause exactly as much work with policies as the budget allows")
    func budget() throws {
        let root = try CertificateAuthority.root()
        func leaf(below fields: [CertificateExtension]) throws -> Identity {
            try root.intermediate { $0.extraExtensions = fields }.issue(hosts: [Validation.host]) {
                $0.extraExtensions = [.certificatePolicies([Self.one])]
            }
        }
        let policies = CertificateExtension.certificatePolicies([Self.one, Self.two])
        let strict = try leaf(below: [policies, .policyConstraints(requireExplicitPolicy: 0)])
        let path = try strict.chainWithRoot.map { try Certificate(der: $0) }
        let steps = PathPolicies(path).steps
        #expect(steps > 0)
        func decide(_ budget: Int64, _ identity: Identity) throws -> String {
            var limits = PathBudget()
            limits.nameComparisons = Int(budget)
            return try Validation.decide(identity.chain, anchors: [root.certificate], budget: limits).summary
        }
        #expect(try decide(steps, strict) == PolicyStatement.acceptance)
        #expect(try decide(steps - 1, strict) == "invalid-path limits-exceeded")
        #expect(try decide(0, leaf(below: [policies])) == PolicyStatement.acceptance)
    }

    @Test("Thousands of policies cost no more than the same bytes in an unknown extension", arguments: [true, false])
    func work(isForged: Bool) throws {
        let root = try CertificateAuthority.root()
        let many = CertificateExtension.certificatePolicies(
            (0..<20_000).map { [2, 999, UInt64($0 * 7_919 % 50_021)] }, critical: true)
        func chain(_ field: CertificateExtension) throws -> [[UInt8]] {
            try root.issue(hosts: [Validation.host]) {
                $0.extraExtensions = [field]
                if isForged { $0.editSignature = { $0.dropLast() + [($0.last ?? 0) ^ 1] } }
            }.chain
        }
        let attack = try chain(many)
        let control = try chain(CertificateExtension([1, 3, 6, 1, 4, 1, 99_999, 1], value: many.value))
        var (refused, other) = ("", "")
        let usual = try ProcessorTime.measure {
            other = try Validation.decide(control, anchors: [root.certificate]).summary
        }
        let time = try ProcessorTime.measure {
            refused = try Validation.decide(attack, anchors: [root.certificate]).summary
        }
        print("20,000 policies: \(time) s; without: \(usual) s")
        #expect(other == (isForged ? "invalid-path invalid-signature" : PolicyStatement.acceptance))
        #expect(refused == "invalid-path limits-exceeded")
        #expect(time < 0.5)
    }
}
