import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// The work of comparing names with name constraints of authorities (RFC 5280 section 4.2.1.10).
///
/// The control is the same chain with the constraints in an extension that OpenSSL does not know, so that both have the
/// same size.
@Suite("The work of name constraints", .serialized)
struct ConstraintWorkTests {
    /// An extension that no software knows.
    private static let unknownExtension: DERWriter.OID = [1, 3, 6, 1, 4, 1, 99_999, 1]

    private static let emailAddress: DERWriter.OID = [1, 2, 840, 113_549, 1, 9, 1]

    enum Names: String, CaseIterable, Sendable {
        case hosts
        case emailsInSubjects

        func constraint(_ number: Int) -> CertificateTemplate.GeneralName {
            switch self {
            case .hosts: .dns("x\(number).example.org")
            case .emailsInSubjects: .email("x\(number)@example.org")
            }
        }

        func put(_ count: Int, into template: inout CertificateTemplate) {
            switch self {
            case .hosts:
                template.subjectAltNames += (0..<count).map { .dns("n\($0).example.net") }
            case .emailsInSubjects:
                for number in 0..<count {
                    let value = DERWriter.encode { $0.ia5String("n\(number)@example.net") }
                    template.subject.relativeNames.append([.init(ConstraintWorkTests.emailAddress, valueDER: value)])
                }
            }
        }
    }

    /// Returns `half` authorities with constraints above as many certificates with names, including the leaf.
    private func chain(
        _ names: Names, half: Int, names count: Int, constraints: Int, isControl: Bool = false
    ) throws -> (root: CertificateAuthority, identity: Identity) {
        let root = try CertificateAuthority.root()
        var authority = root
        for level in 0..<half {
            authority = try authority.intermediate(name: "Upper \(level)") {
                let field = CertificateExtension.nameConstraints(excluded: (0..<constraints).map(names.constraint))
                if isControl {
                    $0.extraExtensions = [CertificateExtension(Self.unknownExtension, value: field.value)]
                } else {
                    $0.nameConstraints = field
                }
            }
        }
        for level in 1..<half {
            authority = try authority.intermediate(name: "Lower \(level)") { names.put(count, into: &$0) }
        }
        return (root, try authority.issue(hosts: [Validation.host]) { names.put(count, into: &$0) })
    }

    private func codes(_ decision: TrustDecision?) -> [String] {
        guard case .rejected(let rejection) = decision, let failure = rejection.pathFailure else { return [] }
        return ([failure.primary] + failure.detail).map(\.code.rawValue)
    }

    @Test("Twenty certificates with names cost no more with constraints than without", arguments: Names.allCases)
    func anchored(names: Names) throws {
        let attack = try chain(names, half: 10, names: 999, constraints: 1_000)
        let control = try chain(names, half: 10, names: 999, constraints: 1_000, isControl: true)
        var (refused, accepted): (TrustDecision?, TrustDecision?)
        let usual = try ProcessorTime.measure {
            accepted = try Validation.decide(control.identity.chain, anchors: [control.root.certificate])
        }
        let time = try ProcessorTime.measure {
            refused = try Validation.decide(attack.identity.chain, anchors: [attack.root.certificate])
        }
        print("20 certificates, \(names): \(time) s; without constraints: \(usual) s")
        #expect(accepted?.summary == "host-not-pinned")
        #expect(refused?.summary == "invalid-path limits-exceeded")
        #expect(time < 10 * usual)
    }

    @Test("A chain without an anchor costs no more than without constraints", arguments: Names.allCases)
    func withoutAnchor(names: Names) throws {
        let attack = try chain(names, half: 10, names: 999, constraints: 1_000)
        let control = try chain(names, half: 10, names: 999, constraints: 1_000, isControl: true)
        var (refused, other): (TrustDecision?, TrustDecision?)
        let usual = try ProcessorTime.measure { other = try Validation.decide(control.identity.chain, anchors: []) }
        let time = try ProcessorTime.measure { refused = try Validation.decide(attack.identity.chain, anchors: []) }
        print("20 certificates without an anchor, \(names): \(time) s; without constraints: \(usual) s")
        #expect(codes(other) == ["untrusted-root"])
        #expect(codes(refused) == ["untrusted-root"])
        #expect(time < 10 * usual)
    }

    @Test("A chain may cause exactly as many comparisons as the budget allows", arguments: Names.allCases)
    func exactBudget(names: Names) throws {
        let small = try chain(names, half: 2, names: 20, constraints: 30)
        let path = try (small.identity.chain + [small.root.certificate.der]).map { try Certificate(der: $0) }
        let steps = NameComparisons.steps(path) + NameComparisons.exclusionSteps(path)
        // Two authorities with 30 constraints, above two certificates with at least 20 names.
        #expect(steps > 2 * 2 * 20 * 30)
        func decide(_ budget: Int64, _ chain: (root: CertificateAuthority, identity: Identity)) throws -> String {
            var limits = PathBudget()
            limits.nameComparisons = Int(budget)
            return try Validation.decide(chain.identity.chain, anchors: [chain.root.certificate], budget: limits)
                .summary
        }
        #expect(try decide(steps, small) == "host-not-pinned")
        #expect(try decide(steps - 1, small) == "invalid-path limits-exceeded")
        // Another name on the leaf is compared with all constraints.
        let larger = try chain(names, half: 2, names: 21, constraints: 30)
        #expect(try decide(steps, larger) == "invalid-path limits-exceeded")
        let control = try chain(names, half: 2, names: 21, constraints: 30, isControl: true)
        #expect(try decide(0, control) == "host-not-pinned")
        print("\(names): \(steps) comparisons are within a budget of \(steps)")
    }

    @Test("Failures of signatures, dates, names and key strength are reported beside the exceeded limit")
    func detail() throws {
        let root = try CertificateAuthority.root()
        let upper = try root.intermediate {
            $0.nameConstraints = .nameConstraints(excluded: (0..<2_000).map { .dns("x\($0).example.org") })
        }
        let leaf = try upper.issue(hosts: (0..<2_000).map { "n\($0).example.net" }, keyType: .rsa(bits: 1_024)) {
            $0.notAfter = .fromNow(days: -1)
            $0.editSignature = { signature in signature.dropLast() + [signature.last.map { $0 ^ 1 } ?? 0] }
        }
        let decision = try Validation.decide(leaf.chain, anchors: [root.certificate])
        #expect(decision.summary == "invalid-path limits-exceeded")
        #expect(Set(codes(decision)).isSuperset(of: ["invalid-signature", "expired", "name-mismatch", "weak-key"]))
        // Without an anchor, only the comparisons are left out.
        let strange = try Validation.decide(leaf.chain, anchors: [])
        #expect(strange.summary == "invalid-path invalid-signature")
        #expect(Set(codes(strange)).isSuperset(of: ["untrusted-root", "expired", "name-mismatch", "weak-key"]))
    }
}
