import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests step 3 of the decision. Each refused case has a counterpart that differs in one thing and is trusted.
@Suite("Decisions by the user's approval")
struct ApprovalDecisionTests {
    static let now = DecisionFixture.now
    static let chain = TestChain()

    /// A self-signed server at nas.example:8443 under a policy that has no rule for it and asks the user.
    private static func fixture(_ approvals: [TrustApproval] = [], pins: [Pin] = []) throws -> DecisionFixture {
        let policy = try PinningPolicy(
            hosts: [PinnedHost("a.example", pins: pins, backupPins: pins.isEmpty ? [] : [TestChain.spare()])],
            unpinnedHosts: .askUser)
        var fixture = try DecisionFixture(policy, host: "nas.example", port: 8443, chain: chain)
        fixture.outcome = .selfSigned
        fixture.approvals = TrustApprovals(approvals)
        return fixture
    }

    private static func approval(
        of subject: Pin.Subject = chain.certificatePin(0).subject, for host: String = "nas.example",
        port: UInt16 = 8443,
        accepting: Set<TrustApproval.AcceptedFailure> = [.selfSigned], at instant: Date = now - 1_000,
        until expiry: Date? = nil
    ) throws -> TrustApproval {
        try TrustApproval(
            subject, for: ServerEndpoint(host: ServerName(host), port: port), accepting: accepting, at: instant,
            until: expiry)
    }

    // MARK: What is approved

    @Test("An approved certificate is trusted, another one is an alarm, and without an approval the host is unknown")
    func certificate() throws {
        #expect(try Self.fixture([Self.approval()]).verdict() == "trusted user-approved")
        let other = try Self.approval(of: TestChain(1).certificatePin(0).subject)
        #expect(try Self.fixture([other]).verdict() == "rejected pin-mismatch")
        #expect(try Self.fixture().verdict() == "rejected unknown-host self-signed")
    }

    @Test("An approved key is trusted in another certificate; an approved certificate does not cover a renewed one")
    func key() throws {
        var renewed = UnsignedCertificate()
        renewed.key = UnsignedCertificate.p256Key(0)
        renewed.subject = UnsignedCertificate.commonName("renewed")
        let server = try Self.fixture().with { $0.presented = [renewed.der] }
        let key = TrustApprovals([try Self.approval(of: Self.chain.keyPin(0).subject)])
        let certificate = TrustApprovals([try Self.approval()])
        #expect(server.with { $0.approvals = key }.verdict() == "trusted user-approved")
        #expect(server.with { $0.approvals = certificate }.verdict() == "rejected pin-mismatch")
        let stranger = try Self.fixture([Self.approval(of: TestChain(1).keyPin(0).subject)])
        #expect(stranger.verdict() == "rejected pin-mismatch")
    }

    @Test(
        "An approved certificate with an extended key usage must allow server authentication",
        arguments: [
            ([], true), ([[1]], true), ([[2], [1]], true), ([[2]], false), ([[3], [4]], false), ([nil], false),
            ([nil, [1]], true),
        ] as [([[UInt64]?], Bool)])
    func purpose(_ purposes: [[UInt64]?], isGood: Bool) throws {
        var certificate = UnsignedCertificate()
        let identifiers = purposes.map { purpose in
            // Server, client, code signing or mail (1 to 4), or any purpose.
            purpose.map { DERBytes.oid(1, 3, 6, 1, 5, 5, 7, 3, $0[0]) } ?? DERBytes.oid(2, 5, 29, 37, 0)
        }
        certificate.extensions =
            identifiers.isEmpty
            ? nil
            : [
                UnsignedCertificate.extensionField(
                    DERBytes.oid(2, 5, 29, 37), DERBytes.sequence(identifiers.flatMap(\.self)))
            ]
        let leaf = try certificate.read()
        for subject in [Pin.Subject.certificate(leaf.fingerprint), .publicKey(leaf.publicKeyPin)] {
            let fixture = try Self.fixture([Self.approval(of: subject)]).with { $0.presented = [certificate.der] }
            #expect(
                fixture.verdict() == (isGood ? "trusted user-approved" : "rejected invalid-path unsuitable-purpose"))
            let expired = fixture.with { $0.leafOutcome = .expired }
            #expect(
                expired.verdict()
                    == (isGood ? "rejected invalid-path expired" : "rejected invalid-path unsuitable-purpose"))
            // The user cannot approve such a certificate.
            let unknown = try Self.unknown(fixture.with { $0.approvals = .none })
            #expect(unknown.unacceptableFailure?.code == (isGood ? nil : .unsuitablePurpose))
            #expect(unknown.unacceptableFailure?.detail.map(\.code) == (isGood ? nil : [.selfSigned]))
            #expect(unknown.unacceptableFailure?.primary.depth == (isGood ? nil : 0))
            // The purpose stands once in the failure if the validator has found it too.
            let found = PathFailure(.unsuitablePurpose, depth: 0, text: "as the validator says")
            let twice = fixture.with { $0.leafOutcome = .invalid(found) }.run().evaluation.decision
            #expect(twice.pathFailure?.primary == found.primary)
            #expect(twice.pathFailure?.detail.map(\.code) == [.selfSigned])
        }
    }

    @Test("An approved certificate or key counts only at the leaf, not above it")
    func leafOnly() throws {
        for subject in [Self.chain.certificatePin(1).subject, Self.chain.keyPin(1).subject] {
            #expect(try Self.fixture([Self.approval(of: subject)]).verdict() == "rejected pin-mismatch")
        }
        #expect(
            try Self.fixture([Self.approval(of: Self.chain.keyPin(0).subject)]).verdict() == "trusted user-approved")
    }

    @Test("An approval counts only for its host and port")
    func endpoint() throws {
        #expect(try Self.fixture([Self.approval(for: "NAS.example.")]).verdict() == "trusted user-approved")
        #expect(try Self.fixture([Self.approval(port: 443)]).verdict() == "rejected unknown-host self-signed")
        #expect(try Self.fixture([Self.approval(for: "nas2.example")]).verdict() == "rejected unknown-host self-signed")
        #expect(try Self.fixture([Self.approval(for: "example")]).verdict() == "rejected unknown-host self-signed")
    }

    @Test("A changed key is an alarm whatever the system says, and the mismatch holds the approval")
    func changed() throws {
        let old = try Self.approval(of: TestChain(1).certificatePin(0).subject)
        for outcome in [PathOutcome.selfSigned, .expired, .valid(Self.chain.path)] {
            let fixture = try Self.fixture([old]).with { $0.outcome = outcome }
            let evaluation = fixture.run().evaluation
            #expect(evaluation.decision.reason == "pin-mismatch")
            let mismatch = try #require(evaluation.mismatch)
            #expect(mismatch.rule == nil)
            #expect(mismatch.approval?.approval == old)
            #expect(mismatch.approval?.leaf.der == Self.chain.certificates[0])
            #expect(mismatch.approval?.pathFailure == outcome.failure)
            #expect(mismatch.configuredPins == [Pin(old.subject, at: .leaf)])
            #expect(mismatch.servedPins.map(\.description) == [Self.chain.keyPin(0).description])
            #expect("\(mismatch)".contains("\(Pin(old.subject))"))
            #expect("\(mismatch)".contains(Self.chain.certificatePin(0).description))
        }
    }

    // MARK: Until when

    @Test("After its expiry, an approved certificate is unknown, and another certificate is still an alarm")
    func expiry() throws {
        let same = try Self.approval(until: Self.now)
        let other = try Self.approval(of: TestChain(1).keyPin(0).subject, until: Self.now)
        #expect(try Self.fixture([same]).with { $0.instant -= 0.001 }.verdict() == "trusted user-approved")
        #expect(try Self.fixture([same]).verdict() == "rejected unknown-host self-signed")
        #expect(try Self.fixture([other]).with { $0.instant -= 0.001 }.verdict() == "rejected pin-mismatch")
        #expect(try Self.fixture([other]).verdict() == "rejected pin-mismatch")
    }

    @Test("After a revocation the host is unknown, with the approved certificate and with another one")
    func revoked() throws {
        for subject in [Self.chain.certificatePin(0).subject, TestChain(1).certificatePin(0).subject] {
            let approval = try Self.approval(of: subject, until: Self.now + 1)
            var approvals = TrustApprovals([approval])
            approvals.revoke(approval.endpoint, at: Self.now - 1)
            let fixture = try Self.fixture().with { $0.approvals = approvals }
            #expect(fixture.verdict() == "rejected unknown-host self-signed")
            // A revoked approval stays revoked after its expiry date.
            #expect(fixture.with { $0.instant += 2 }.verdict() == "rejected unknown-host self-signed")
            #expect(try Self.fixture([approval]).verdict() != "rejected unknown-host self-signed")
        }
    }

    // MARK: What is forgiven

    @Test(
        "An approval never accepts a failure outside the acceptable ones",
        arguments: PathFailure.Code.allCases)
    func otherFailures(_ code: PathFailure.Code) throws {
        let approval = try Self.approval(accepting: Set(TrustApproval.AcceptedFailure.ordered))
        let failure = PathFailure(code, depth: 0, text: "as validation says")
        var fixture = try Self.fixture([approval]).with { $0.outcome = .invalid(failure) }
        if code == .expired {
            // `expired` is accepted only if the leaf itself has expired.
            #expect(fixture.verdict() == "rejected invalid-path expired")
            fixture.instant = try Certificate(der: try #require(fixture.presented.first)).validity.notAfter + 1
        }
        let isAcceptable = TrustApproval.AcceptedFailure(rawValue: code.rawValue) != nil
        #expect(
            fixture.verdict() == (isAcceptable ? "trusted user-approved" : "rejected invalid-path \(code.rawValue)"))
        // A failure of the leaf itself comes first.
        let weak = fixture.with { $0.leafOutcome = .invalid(PathFailure(.weakKey, depth: 0, text: "RSA 512")) }
        #expect(weak.verdict() == "rejected invalid-path weak-key")
        #expect(weak.run().requests.map(\.anchors.includesSystem) == [true, false])
    }

    @Test("An approval accepts only the failures that were present when it was made")
    func unseen() throws {
        for (accepted, outcome) in [
            (TrustApproval.AcceptedFailure.selfSigned, PathFailure(.selfSigned, text: "")),
            (.untrustedRoot, PathFailure(.untrustedRoot, text: "")),
        ] {
            func verdict(_ accepting: Set<TrustApproval.AcceptedFailure>) throws -> String {
                try Self.fixture([Self.approval(accepting: accepting)]).with { $0.outcome = .invalid(outcome) }
                    .verdict()
            }
            let others = Set(TrustApproval.AcceptedFailure.ordered).subtracting([accepted])
            #expect(try verdict([accepted]) == "trusted user-approved")
            #expect(try verdict(others) == "rejected invalid-path \(accepted.rawValue)")
            #expect(try verdict([]) == "rejected invalid-path \(accepted.rawValue)")
        }
    }

    @Test("A server that the system trusted at approval is refused if the system no longer trusts it")
    func approvedWhileTrusted() throws {
        let question = try Self.fixture().with { $0.outcome = .valid(Self.chain.path) }
        let approval = try Self.unknown(question).approval(at: Self.now)
        #expect(approval.accepts.isEmpty)
        let later = try Self.fixture([approval])
        #expect(later.with { $0.outcome = .valid(Self.chain.path) }.verdict() == "trusted user-approved")
        #expect(later.verdict() == "rejected invalid-path self-signed")
    }

    @Test("A failure of the leaf itself is refused and listed before the accepted failures")
    func leafFailures() throws {
        let findings: [PathFailure.Finding] = [
            .init(.nameMismatch, depth: 0, text: "b"), .init(.expired, depth: 0, text: "a"),
        ]
        let fixture = try Self.fixture([Self.approval()])
        #expect(fixture.verdict() == "trusted user-approved")
        let refused = fixture.with { $0.leafOutcome = .invalid(PathFailure(findings)!) }
        guard case .rejected(.invalidPath(let failure)) = refused.run().evaluation.decision else {
            Issue.record("\(refused.verdict())")
            return
        }
        #expect(failure.code == .expired)
        #expect(failure.detail.map(\.code) == [.nameMismatch, .selfSigned])
        // The validator's order stays: a certificate that no path can include comes last.
        let unreadable = PathFailure(.untrustedRoot, text: "c").naming(unreadable: ["d"])
        let ordered = fixture.with { $0.leafOutcome = .invalid(unreadable) }.run().evaluation.decision.pathFailure
        #expect(ordered?.code == .untrustedRoot)
        #expect(ordered?.detail.map(\.code) == [.malformedCertificate, .selfSigned])
        // Of the system's findings only those that the user accepted follow, and none twice.
        let own = PathFailure.Finding(.selfSigned, depth: 0, text: "it signs itself")
        let both = fixture.with {
            $0.outcome = .invalid(PathFailure([own, .init(.other, text: "e")])!)
            $0.leafOutcome = .invalid(PathFailure([own, .init(.weakKey, depth: 0, text: "f")])!)
        }
        let merged = both.run().evaluation.decision.pathFailure
        #expect(
            merged.map { [$0.code] + $0.detail.map(\.code) }?.sorted { "\($0)" < "\($1)" } == [.selfSigned, .weakKey])
    }

    @Test("An expiry is accepted from the instant after the leaf's last one")
    func lastInstant() throws {
        let leaf = try Certificate(der: Self.chain.certificates[0])
        let fixture = try Self.fixture([Self.approval(accepting: [.selfSigned, .expired])])
        func accepted(at instant: Date) -> Set<TrustApproval.AcceptedFailure>? {
            fixture.with { $0.instant = instant }.run().requests.last?.accepted
        }
        #expect(accepted(at: leaf.validity.notAfter) == [])
        #expect(accepted(at: leaf.validity.notAfter + 1) == [.expired])
    }

    @Test("A request accepts the failures of the certificate that the user accepted, and no others")
    func request() throws {
        for accepted in [[], [.nameMismatch]] as [Set<TrustApproval.AcceptedFailure>] {
            let fixture = try Self.fixture([Self.approval(accepting: accepted.union([.selfSigned]))])
            let request = try #require(fixture.run().requests.last)
            for code in PathFailure.Code.allCases {
                #expect(request.accepts(code) == (code == .nameMismatch && !accepted.isEmpty), "\(code)")
            }
        }
    }

    @Test("The path of an approved server is the system's path, or the leaf by itself")
    func path() throws {
        let fixture = try Self.fixture([Self.approval()])
        #expect(fixture.run().evaluation.path?.certificates == [Self.chain.certificates[0]])
        let trusted = fixture.with { $0.outcome = .valid(Self.chain.path) }.run()
        #expect(trusted.evaluation.path == Self.chain.path)
        #expect(trusted.requests.map(\.anchors) == [.system])
        guard case .trusted(.userApproved(let approval)) = trusted.evaluation.decision else {
            Issue.record("\(trusted.evaluation.decision)")
            return
        }
        #expect(approval == fixture.approvals[fixture.endpoint])
    }

    @Test("Until the leaf's last second is over, an approval that accepts its end forgives no other certificate's")
    func lastSecond() throws {
        let end = try Certificate(der: Self.chain.certificates[0]).validity.notAfter
        var fixture = try Self.fixture([Self.approval(accepting: [.selfSigned, .untrustedRoot, .expired])])
        // The issuer has expired. The leaf by itself is valid.
        fixture.outcome = .invalid(PathFailure(.expired, depth: 1, text: "the issuer has expired"))
        for (offset, verdict) in [
            (0, "rejected invalid-path expired"), (0.5, "rejected invalid-path expired"), (1, "trusted user-approved"),
        ] {
            #expect(fixture.with { $0.instant = end + offset }.verdict() == verdict)
        }
    }

    // MARK: Where it counts

    @Test("An approval has no effect if a rule covers the host or the policy does not ask the user")
    func onlyInStepThree() throws {
        let approval = try Self.approval(for: "a.example", accepting: Set(TrustApproval.AcceptedFailure.ordered))
        func fixture(_ unpinned: PinningPolicy.UnpinnedHosts, _ hosts: [PinnedHost]) throws -> DecisionFixture {
            let policy = try PinningPolicy(hosts: hosts, unpinnedHosts: unpinned)
            return try DecisionFixture(policy, host: "a.example", port: 8443, chain: Self.chain).with {
                $0.outcome = .selfSigned
                $0.approvals = TrustApprovals([approval])
            }
        }
        let asking = try fixture(.askUser, [])
        #expect(asking.verdict() == "trusted user-approved")
        #expect(try fixture(.systemTrust, []).verdict() == "rejected invalid-path self-signed")
        #expect(try fixture(.reject, []).verdict() == "rejected host-not-allowed")
        let pinless = try PinnedHost("a.example", pins: [Pin]())
        #expect(try fixture(.askUser, [pinless]).verdict() == "rejected invalid-path self-signed")
        let pinned = try PinnedHost("a.example", pins: [TestChain(1).keyPin(0)], backup: .noneAccepted)
        let valid = try fixture(.askUser, [pinned]).with { $0.outcome = .valid(Self.chain.path) }
        #expect(valid.verdict() == "rejected pin-mismatch")
        #expect(valid.run().evaluation.mismatch?.approval == nil)
        // The limits are checked before approvals.
        #expect(asking.with { $0.presented = [] }.verdict() == "rejected invalid-path empty-chain")
    }

    @Test("Approvals also decide about a path that the caller validated, if the policy asks the user")
    func validatedElsewhere() throws {
        let fixture = try Self.fixture([Self.approval()])
        func reason(_ approvals: TrustApprovals, _ host: String = "nas.example") throws -> String {
            fixture.policy.decide(
                ServerEndpoint(host: try ServerName(host), port: 8443), path: Self.chain.path, approvals: approvals,
                at: Self.now
            ).reason
        }
        #expect(try reason(fixture.approvals) == "user-approved")
        #expect(try reason(.none) == "unknown-host")
        #expect(try reason(TrustApprovals([Self.approval(of: TestChain(1).keyPin(0).subject)])) == "pin-mismatch")
        #expect(try reason(fixture.approvals, "a.example") == "host-not-pinned")
        #expect(fixture.policy.decide(fixture.endpoint, path: Self.chain.path, at: Self.now).reason == "unknown-host")
    }

    static func unknown(_ fixture: DecisionFixture) throws -> UnknownHost {
        guard case .rejected(.unknownHost(let host)) = fixture.run().evaluation.decision else {
            throw PinError(.empty, in: fixture.verdict())
        }
        return host
    }
}
