import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Certificates without an authority key identifier (RFC 5280 section 4.2.1.1). Public authorities always write it;
/// private ones often do not.
@Suite("A missing authority key identifier")
struct MissingKeyIdentifierTests {
    private let root: CertificateAuthority
    private let other: CertificateAuthority

    init() throws {
        root = try .root(name: "One Root")
        other = try .root(name: "Other Root")
    }

    /// Returns a leaf below an intermediate; neither has an identifier.
    private func identity(
        below root: CertificateAuthority, configure: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> Identity {
        try root.intermediate { $0.authorityKeyIdentifier = .absent }.issue(hosts: [Validation.host]) {
            $0.authorityKeyIdentifier = .absent
            configure(&$0)
        }
    }

    /// Returns the verdict of a rule with these anchors, on a machine with these roots.
    private func verdict(
        _ identity: Identity, anchors: [CertificateAuthority], includesSystem: Bool,
        system: [CertificateAuthority]
    ) throws -> TrustDecision {
        func parse(_ authorities: [CertificateAuthority]) throws -> [Certificate] {
            try authorities.map { try Certificate(der: $0.certificate.der) }
        }
        let rule = try PinnedHost(
            Validation.host, pins: [Pin](),
            anchors: TrustAnchors(try parse(anchors), includesSystem: includesSystem))
        let validator = PathValidator(system: SystemAnchors(replacedBy: try parse(system)))
        return try PinningPolicy(hosts: [rule]).evaluate(
            ServerEndpoint(host: try ServerName(Validation.host)), presented: identity.chain, at: Date(),
            validate: validator.validate
        ).decision
    }

    @Test("A path to an anchor of a rule may lack it, and a path to a root of the system may not")
    func anchors() throws {
        let identity = try identity(below: root)
        let rule = try verdict(identity, anchors: [root], includesSystem: false, system: [])
        #expect(rule.summary == "host-not-pinned")
        let both = try verdict(identity, anchors: [root], includesSystem: true, system: [other])
        #expect(both.summary == "host-not-pinned")
        let system = try verdict(identity, anchors: [other], includesSystem: true, system: [root])
        #expect(system.summary == "invalid-path other")
        let replaced = try Validation.decide(identity.chain, anchors: [root.certificate])
        #expect(replaced.summary == "invalid-path other")
        guard case .rejected(.invalidPath(let failure)) = replaced else { return }
        #expect(failure.primary.platformCode == 85 && failure.detail.map(\.platformCode) == [85])
        let named = try root.intermediate().issue(hosts: [Validation.host])
        #expect(try Validation.decide(named.chain, anchors: [root.certificate]).summary == "host-not-pinned")
    }

    @Test("An anchor of a rule excuses nothing else")
    func rest() throws {
        func reason(_ configure: (inout CertificateTemplate) -> Void) throws -> String {
            let identity = try identity(below: root, configure: configure)
            return try verdict(identity, anchors: [root], includesSystem: false, system: []).summary
        }
        #expect(try reason { _ in } == "host-not-pinned")
        #expect(try reason { $0.notAfter = .fromNow(days: -1) } == "invalid-path expired")
        #expect(try reason { $0.subjectAltNames = [.dns("other.example.test")] } == "invalid-path name-mismatch")
        #expect(try reason { $0.authorityKeyIdentifier = .octets([1, 2, 3]) } == "invalid-path untrusted-root")
    }

    @Test("Seventy missing identifiers do not hide the failure behind them", arguments: [true, false])
    func many(isExpired: Bool) throws {
        var authority = root
        for level in 0..<70 {
            authority = try authority.intermediate(name: "Authority \(level)") { $0.authorityKeyIdentifier = .absent }
        }
        let leaf = try authority.issue(hosts: [Validation.host]) {
            $0.authorityKeyIdentifier = .absent
            if isExpired { $0.notAfter = .fromNow(days: -1) }
        }
        let decision = try verdict(leaf, anchors: [root], includesSystem: false, system: [])
        #expect(decision.summary == (isExpired ? "invalid-path expired" : "host-not-pinned"))
    }
}
