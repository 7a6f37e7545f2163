import Foundation
import Pintle
import PintleApple
import PintleTestKit
import Security
import Testing

/// The system's statuses, translated to path failures. Each refused certificate has an accepted control that differs in
/// one point.
@Suite("Apple: statuses of the system")
struct StatusTests {
    /// Returns the failure of a certificate with the pinned key that a private authority has issued.
    private func failure(
        at instant: Date = Date(), intermediate: (inout CertificateTemplate) -> Void = { _ in },
        leaf: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> PathFailure? {
        let fixture = try SessionFixture()
        let issuer = try fixture.root.intermediate(configure: intermediate)
        let identity = try issuer.issue(hosts: ["localhost"], key: fixture.identity.key, configure: leaf)
        let answer = ServerTrustEvaluator(policy: try fixture.policy())
            .evaluate(try SessionFixture.challenge(identity.chain), at: instant)
        #expect(answer.disposition == (answer.rejection == nil ? .useCredential : .cancelAuthenticationChallenge))
        return answer.rejection?.pathFailure
    }

    @Test("A certificate that is not valid yet is reported as such, although the system reports it as expired")
    func dates() throws {
        #expect(try failure() == nil)
        let early = try #require(try failure(leaf: { $0.notBefore = .fromNow(days: 1) }))
        #expect(early.code == .notYetValid && early.primary.depth == 0)
        #expect(early.primary.platformCode == Int(errSecCertificateExpired) && early.detail.isEmpty)
        let late = try #require(try failure(leaf: { $0.notAfter = .fromNow(days: -1) }))
        #expect(late.code == .expired && late.primary.depth == 0 && late.detail.isEmpty)
    }

    @Test("A wrong date above the leaf is found too, and one failure of each kind is reported")
    func datesAbove() throws {
        let early = try #require(try failure(intermediate: { $0.notBefore = .fromNow(days: 1) }))
        #expect(early.code == .notYetValid && early.primary.depth == 1)
        let both = try #require(
            try failure(intermediate: { $0.notBefore = .fromNow(days: 1) }, leaf: { $0.notAfter = .fromNow(days: -1) }))
        #expect(both.code == .notYetValid && both.detail.map(\.code) == [.expired] && both.detail.map(\.depth) == [0])
        let late = try #require(try failure(at: Date(timeIntervalSinceNow: 4_000 * 86_400)))
        #expect(late.code == .expired && late.detail.map(\.depth) == [1, 2])
    }

    @Test("A name outside the authority's name constraints is refused", arguments: [true, false])
    func nameConstraints(isExcluded: Bool) throws {
        let failure = try failure(intermediate: {
            $0.nameConstraints = .nameConstraints(excluded: [.dns(isExcluded ? "localhost" : "other.test")])
        })
        #expect(failure?.code == (isExcluded ? .nameConstraintViolation : nil))
        #expect(failure?.primary.platformCode == (isExcluded ? Int(errSecInvalidName) : nil))
    }

    @Test("A path with 1,024 excluded names is refused, and one with 1,023 is not", arguments: [1_023, 1_024])
    func manyNameConstraints(count: Int) throws {
        let failure = try failure(intermediate: {
            $0.nameConstraints = .nameConstraints(excluded: (0..<count).map { .dns("n\($0).test") })
        })
        #expect(failure?.code == (count < 1_024 ? nil : .nameConstraintViolation))
        #expect(failure?.primary.platformCode == (count < 1_024 ? nil : Int(errSecInvalidName)))
    }

    @Test("A key identifier of another authority is refused", arguments: [true, false])
    func linkage(isOther: Bool) throws {
        let failure = try failure(leaf: { if isOther { $0.authorityKeyIdentifier = .octets([1, 2, 3]) } })
        #expect(failure?.code == (isOther ? .untrustedRoot : nil))
        #expect(failure?.primary.platformCode == (isOther ? Int(errSecInvalidIDLinkage) : nil))
    }

    @Test("A certificate of a public authority without proof of logging is refused", arguments: [true, false])
    func transparency(isDemanded: Bool) throws {
        let fixture = try SessionFixture(isSystem: true)
        if isDemanded { StandIn.requireTransparency(of: fixture.root.certificate.der) }
        let answer = ServerTrustEvaluator(policy: try fixture.policy(anchors: .system))
            .evaluate(try SessionFixture.challenge(fixture.identity.chain))
        let failure = answer.rejection?.pathFailure
        #expect(failure?.code == (isDemanded ? .other : nil))
        #expect(failure?.primary.platformCode == (isDemanded ? Int(errSecVerifyActionFailed) : nil))
        #expect(failure.map { $0.primary.text.contains("certificate transparency") } ?? true)
    }

    @Test("A certificate that a device setting denies is refused, and the user cannot approve it")
    func denied() throws {
        for isDenied in [false, true] {
            let identity = try Identity.byHand()
            if isDenied { StandIn.deny(identity.certificate.der) }
            let challenge = try SessionFixture.challenge(identity.chain)
            guard case .unknownHost(let host) = ServerTrustEvaluator(policy: try .asking).evaluate(challenge).rejection
            else {
                Issue.record("no question")
                continue
            }
            #expect(host.pathFailure?.code == (isDenied ? .other : .selfSigned))
            #expect(host.unacceptableFailure?.code == (isDenied ? .other : nil))
            let approved = TrustApprovals.approving(identity)
            let answer = ServerTrustEvaluator(policy: try .asking, approvals: { approved }).evaluate(challenge)
            #expect(answer.disposition == (isDenied ? .cancelAuthenticationChallenge : .useCredential))
            let primary = answer.rejection?.pathFailure?.primary
            #expect(primary?.platformCode == (isDenied ? Int(errSecTrustSettingDeny) : nil))
            #expect(primary.map { $0.text.contains("trust setting") } ?? true)
        }
    }

    @Test("The system reports only one of several flaws, in its own order")
    func single() throws {
        let failure = try #require(
            try failure(leaf: {
                $0.subjectAltNames = [.dns("other.test")]
                $0.notAfter = .fromNow(days: 900)
                $0.extendedKeyUsage = nil
            }))
        #expect(failure.code == .other && failure.detail.isEmpty)
        #expect(failure.primary.platformCode == Int(errSecCertificateValidityPeriodTooLong))
    }
}

extension TrustApprovals {
    /// Returns an approval of this certificate for localhost; empty if it cannot be made.
    static func approving(_ identity: Identity) -> TrustApprovals {
        var approvals = TrustApprovals()
        guard let leaf = try? Certificate(der: identity.certificate.der), let host = try? ServerName("localhost"),
            let approval = try? TrustApproval(
                .certificate(leaf.fingerprint), for: ServerEndpoint(host: host), at: Date())
        else { return approvals }
        _ = try? approvals.approve(approval)
        return approvals
    }
}
