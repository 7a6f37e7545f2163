import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests the question that a user sees and the effect of the answer.
@Suite("Unknown hosts")
struct UnknownHostTests {
    private static let now = DecisionFixture.now

    private static func fixture(
        _ certificate: UnsignedCertificate = UnsignedCertificate(), _ approvals: [TrustApproval] = []
    ) throws -> DecisionFixture {
        var fixture = try DecisionFixture(PinningPolicy(hosts: [], unpinnedHosts: .askUser), host: "nas.example")
        fixture.presented = [certificate.der]
        fixture.outcome = .selfSigned
        fixture.approvals = TrustApprovals(approvals)
        return fixture
    }

    private static func ask(_ fixture: DecisionFixture) throws -> UnknownHost {
        try ApprovalDecisionTests.unknown(fixture)
    }

    @Test("A first contact holds the system's verdict and the certificate's claims")
    func firstContact() throws {
        let fixture = try Self.fixture()
        let host = try Self.ask(fixture)
        #expect(host.endpoint == fixture.endpoint)
        #expect(host.pathFailure?.code == .selfSigned)
        #expect(host.unacceptableFailure == nil)
        #expect(host.previous == nil && !host.wasKnownWithAnotherKey)
        let trusted = try Self.ask(fixture.with { $0.outcome = .valid($0.leafOutcome.path!) })
        #expect(trusted.pathFailure == nil)
        let text = "\(host)"
        for part in [
            "nas.example:443", "self-signed", host.leaf.fingerprint.description, host.leaf.publicKeyPin.description,
            "\(host.leaf.subject)", "\(host.leaf.issuer)", RFC3339.string(from: host.leaf.validity.notAfter),
        ] { #expect(text.contains(part), "\(part)") }
        #expect("\(trusted)".contains("the system would trust it"))
    }

    @Test("A server that was known before is reported with its earlier approval")
    func history() throws {
        let leaf = try Self.ask(try Self.fixture()).leaf
        for subject in [Pin.Subject.certificate(leaf.fingerprint), TestChain(1).keyPin(0).subject] {
            let approval = try TrustApproval(subject, for: try Self.fixture().endpoint, at: Self.now - 9)
            var approvals = TrustApprovals([approval])
            let revoked = approvals.revoke(approval.endpoint, at: Self.now - 5)
            let host = try Self.ask(try Self.fixture().with { $0.approvals = approvals })
            #expect(host.previous == revoked)
            #expect(host.wasKnownWithAnotherKey == !approval.matches(leaf))
            #expect("\(host)".contains("\(Pin(subject))"))
        }
        let expired = try TrustApproval(
            .certificate(leaf.fingerprint), for: try Self.fixture().endpoint, at: Self.now - 9, until: Self.now - 1)
        let host = try Self.ask(try Self.fixture(UnsignedCertificate(), [expired]))
        #expect(host.previous == expired && !host.wasKnownWithAnotherKey)
    }

    @Test(
        "A certificate with thousands of names or a huge name is described on one line", arguments: [0, 8, 9, 2_000])
    func manyNames(count: Int) throws {
        var certificate = UnsignedCertificate()
        certificate.subject = UnsignedCertificate.commonName(String(repeating: "x", count: 50_000))
        let names = (0..<count).map { DERBytes.element(0x82, Array("host-\($0).example".utf8)) }
        let long = DERBytes.element(0x86, [UInt8](repeating: 0x78, count: 50_000))
        certificate.extensions = [
            UnsignedCertificate.extensionField(
                DERBytes.oid(2, 5, 29, 17), DERBytes.sequence(long + names.flatMap(\.self)))
        ]
        let host = try Self.ask(try Self.fixture(certificate))
        #expect(host.names.count == count + 1)
        let text = "\(host)"
        #expect(text.utf8.count < 2_000)
        #expect(text.contains(" and \(count - 7) more, valid ") == (count > 7))
        #expect(text.contains("host-6.example") == (count > 6) && !text.contains("host-7.example"))
    }

    @Test("An incomplete record is reported and is not a first contact", arguments: TrustApprovals.Record.allCases)
    func record(_ record: TrustApprovals.Record) throws {
        let fixture = try Self.fixture().with { $0.approvals = TrustApprovals(record: record) }
        let host = try Self.ask(fixture)
        #expect(host.approvalRecord == record)
        #expect(host.isFirstContact == (record == .complete))
        #expect("\(host)".contains("whether it was approved before") == (record != .complete))
        // Also for a path that the caller's own validation has accepted.
        let path = ValidatedPath(uncheckedLeafToAnchor: fixture.presented)
        let decision = fixture.policy.decide(fixture.endpoint, path: path, approvals: fixture.approvals, at: Self.now)
        guard case .rejected(.unknownHost(let other)) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(other.approvalRecord == record)
        // With an incomplete record, an approval counts only if the caller says that the user was told.
        var approvals = fixture.approvals
        if record != .complete {
            let refused = #expect(throws: TrustApprovalError.self) { try approvals.approve(host, at: Self.now) }
            #expect(refused?.code == "incomplete-record")
        }
        try approvals.approve(host, at: Self.now, acceptingIncompleteRecord: record != .complete)
        #expect(fixture.with { $0.approvals = approvals }.verdict() == "trusted user-approved")
        #expect(approvals.record == record)
        let again = #expect(throws: TrustApprovalError.self) { try approvals.approve(host, at: Self.now) }
        #expect(again?.code == "changed-meanwhile" && again.map { "\($0)".contains("nas.example:443") } == true)
    }

    @Test("Names in a certificate cannot change the text of the question")
    func hostileNames() throws {
        var certificate = UnsignedCertificate()
        certificate.subject = UnsignedCertificate.commonName("a\u{1B}[2J\u{202E}moc.elgoog\u{2066}\nfingerprint: 00")
        certificate.issuer = certificate.subject
        certificate.extensions = [
            UnsignedCertificate.extensionField(
                DERBytes.oid(2, 5, 29, 17),
                DERBytes.sequence(DERBytes.element(0x82, Array("x\u{1B}]0;owned\u{07}.example".utf8))))
        ]
        let host = try Self.ask(try Self.fixture(certificate))
        for text in ["\(host)", "\(host.leaf.subject)", "\(host.leaf.issuer)"] + host.names {
            #expect(!text.unicodeScalars.contains { $0.isUnsafeToPrint }, "\(text.debugDescription)")
        }
        #expect(host.names == ["x\\1B]0;owned\\07.example"])
    }

    // MARK: The answer

    @Test("The user's agreement gives an approval of the seen failures, for the certificate or the key")
    func yes() throws {
        let host = try Self.ask(try Self.fixture())
        let expiry = Self.now + 86_400.5
        let approval = try host.approval(at: Self.now + 0.9, until: expiry, note: "label on the box")
        #expect(approval.endpoint == host.endpoint)
        #expect(approval.subject == .certificate(host.leaf.fingerprint))
        #expect(approval.accepts == [.selfSigned])
        #expect(approval.approvedAt == Self.now)
        #expect(approval.expiresAt == Self.now + 86_400)
        #expect(approval.note == "label on the box")
        #expect(approval.state(at: Self.now) == .live)
        #expect(try host.approval(of: .key, at: Self.now).subject == .publicKey(host.leaf.publicKeyPin))
        let next = try Self.fixture().with { $0.approvals = TrustApprovals([approval]) }
        #expect(next.verdict() == "trusted user-approved")
    }

    @Test("A server that would be refused in any case cannot be approved")
    func unacceptable() throws {
        let fixture = try Self.fixture()
        #expect(throws: Never.self) { try Self.ask(fixture).approval(at: Self.now) }
        for refused in [
            fixture.with { $0.outcome = .expired }, fixture.with { $0.leafOutcome = .expired },
        ] {
            let host = try Self.ask(refused)
            #expect(host.unacceptableFailure?.code == .expired)
            let error = #expect(throws: TrustApprovalError.self) { try host.approval(at: Self.now) }
            #expect(error?.code == "unacceptable-failure")
            // Even an approval by fingerprint does not make the server trusted.
            let approval = try TrustApproval(.certificate(host.leaf.fingerprint), for: host.endpoint, at: Self.now)
            #expect(
                refused.with { $0.approvals = TrustApprovals([approval]) }.verdict() == "rejected invalid-path expired")
        }
    }

    @Test(
        "The exceptions that would make a certificate acceptable are found, also by a validator that names one failure",
        arguments: [false, true])
    func exceptions(namesOne: Bool) throws {
        let fixture = try Self.fixture()
        let end = try Certificate(der: try #require(fixture.presented.first)).validity.notAfter
        func exceptions(_ failures: PathFailure.Code..., at instant: Date = Self.now) -> Set<
            TrustApproval.AcceptedFailure
        >? {
            let evaluation = fixture.policy.evaluate(fixture.endpoint, presented: fixture.presented, at: instant) {
                request in
                guard request.anchors != .system else { return .selfSigned }
                let left = failures.filter { !request.accepts($0) }
                let findings = left.prefix(namesOne ? 1 : left.count).map { PathFailure.Finding($0, text: "") }
                return PathFailure(findings).map(PathOutcome.invalid) ?? fixture.leafOutcome
            }
            guard case .rejected(.unknownHost(let host)) = evaluation.decision else { return nil }
            #expect((host.unacceptableFailure == nil) == failures.isEmpty)
            return host.exceptionsOfCertificate
        }
        #expect(exceptions() == [])
        #expect(exceptions(.nameMismatch) == [.nameMismatch])
        #expect(exceptions(.expired, at: end + 1) == [.expired])
        #expect(exceptions(.expired, .nameMismatch, at: end + 1) == [.expired, .nameMismatch])
        // An issuer that has expired is not the leaf, and no exception helps a weak key.
        #expect(exceptions(.expired) == [])
        #expect(exceptions(.nameMismatch, .expired) == [])
        #expect(exceptions(.weakKey) == [])
        #expect(exceptions(.nameMismatch, .weakKey) == [])
    }

    @Test("An approval that has already expired or has a too long note is refused")
    func bounds() throws {
        let host = try Self.ask(try Self.fixture())
        func code(until expiry: Date? = nil, note: String? = nil) -> String? {
            do throws(TrustApprovalError) {
                _ = try host.approval(at: Self.now, until: expiry, note: note)
                return nil
            } catch {
                #expect(!"\(error)".isEmpty)
                return error.code
            }
        }
        #expect(code(until: Self.now + 1) == nil)
        #expect(code(until: Self.now) == "already-expired")
        #expect(code(until: Self.now + 0.9) == "already-expired")
        let longest = String(repeating: "é", count: TrustApproval.maximumNoteSize / 2)
        #expect(code(note: longest) == nil)
        #expect(code(note: longest + "e") == "note-too-long")
    }
}
