import Foundation
import Pintle
import PintleTestKit
import Security
import Testing

@testable import PintleApple

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

    @Test("The table of the system's checks has each status and each check once")
    func table() {
        #expect(SystemCheck.all.count == 36 && Set(SystemCheck.all.map(\.status)).count == 36)
        let checks = SystemCheck.all.flatMap(\.checks)
        #expect(checks.count == 79 && Set(checks).count == 79)
    }

    @Test(
        "Each status that a server can cause has its path failure, and every other one refuses too",
        arguments: SystemCheck.all)
    func translation(_ check: SystemCheck) throws {
        let fixture = try SessionFixture()
        let evaluator = ServerTrustEvaluator(policy: try fixture.policy())
        let challenge = try SessionFixture.challenge(fixture.identity.chain)
        #expect(evaluator.evaluate(challenge).rejection == nil)
        var (code, kind) = (PathFailure.Code?.none, StandIn.FlawKind.pinning)
        if case .server(let ofServer, let own) = check.meaning { (code, kind) = (ofServer, own) }
        StandIn.find(kind, check.status, in: fixture.identity.certificate.der)
        let rejection = try #require(evaluator.evaluate(try SessionFixture.challenge(fixture.identity.chain)).rejection)
        let failure = try #require(rejection.pathFailure)
        #expect(rejection.reason == "invalid-path")
        #expect(failure.primary.platformCode == Int(check.status))
        guard let code else { return }
        #expect(failure.code == code)
        // The code `other` says nothing by itself.
        #expect(failure.code != .other || !failure.primary.text.contains("the text of status"))
    }

    @Test("The statuses with the code `other` have texts that name the remedy or the cause")
    func texts() throws {
        let words: [OSStatus: String] = [
            errSSLATSCertificateTrustViolation: "NSPinnedDomains", errSecCertificateRevoked: "revoked",
            errSecTrustSettingDeny: "setting", errSecVerifyActionFailed: "transparency",
            errSecCertificateValidityPeriodTooLong: "longer",
        ]
        let leaf = try Certificate(der: try CertificateAuthority.root().issue().certificate.der)
        for check in SystemCheck.all {
            guard case .server(.other, _) = check.meaning else { continue }
            let failure = SystemStatus.failure(check.status, leaf, path: [], at: Date())
            #expect(failure.primary.text.contains(try #require(words[check.status])))
        }
    }

    @Test("An empty subject is malformed, unless the alternative names are critical", arguments: [true, false])
    func subject(isCritical: Bool) throws {
        let failure = try failure(leaf: {
            $0.subject = .empty
            $0.isSubjectAltNameCritical = isCritical
        })
        #expect(failure?.code == (isCritical ? nil : .malformedCertificate))
        #expect(failure?.primary.platformCode == (isCritical ? nil : Int(errSecInvalidSubjectName)))
    }

    @Test("An authority that may not sign certificates is refused as not an authority", arguments: 0..<4)
    func authority(shape: Int) throws {
        let failure = try failure(intermediate: {
            switch shape {
            case 1: $0.basicConstraints = nil
            case 2: $0.basicConstraints = .init(isCA: false)
            case 3: $0.keyUsage = .cRLSign
            default: break
            }
        })
        let statuses = [nil, errSecNoBasicConstraints, errSecNoBasicConstraintsCA, errSecInvalidKeyUsageForPolicy]
        #expect(failure?.code == (shape == 0 ? nil : .notACA))
        #expect(failure?.primary.platformCode == statuses[shape].map { Int($0) })
    }

    @Test("A required certificate policy that is missing on the path is reported", arguments: [true, false])
    func certificatePolicy(hasPolicy: Bool) throws {
        let policies = [CertificateExtension.certificatePolicies([.init([1, 2, 3, 4])])]
        let failure = try failure(
            intermediate: { $0.extraExtensions = policies + [.policyConstraints(requireExplicitPolicy: 0)] },
            leaf: { if hasPolicy { $0.extraExtensions = policies } })
        #expect(failure?.code == (hasPolicy ? nil : .noValidCertificatePolicy))
        #expect(failure?.primary.platformCode == (hasPolicy ? nil : Int(errSecInvalidPolicyIdentifiers)))
    }

    @Test("No approval overrides what blocks, revokes, denies or pins a certificate", arguments: SystemCheck.all)
    func approvals(_ check: SystemCheck) throws {
        guard case .server(let code, let kind) = check.meaning,
            [.blocked, .revoked, .denied, .pinning].contains(kind) || check.status == errSecVerifyActionFailed
        else { return }
        for isFound in [false, true] {
            let identity = try Identity.selfSigned(hosts: ["localhost"]) { $0.extendedKeyUsage = [.serverAuth] }
            if isFound { StandIn.find(kind, check.status, in: identity.certificate.der) }
            let approved = TrustApprovals.approving(identity)
            let answer = ServerTrustEvaluator(policy: try .asking, approvals: { approved })
                .evaluate(try SessionFixture.challenge(identity.chain))
            #expect(answer.disposition == (isFound ? .cancelAuthenticationChallenge : .useCredential))
            #expect(answer.rejection?.pathFailure?.code == (isFound ? code : nil))
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
