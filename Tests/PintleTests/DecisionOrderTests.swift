import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The order of the decision")
struct DecisionOrderTests {
    static let chain = TestChain()
    static let spare = TestChain.spare()

    /// Returns a policy that pins the leaf of `TestChain()` for a.example.
    private static func policy(
        _ unpinned: PinningPolicy.UnpinnedHosts = .systemTrust, pins: [Pin] = [chain.keyPin(0)],
        expiry: PinExpiry = .never, enforcement: Enforcement = .enforce, anchors: TrustAnchors = .system
    ) throws -> PinningPolicy {
        try PinningPolicy(
            hosts: [
                try PinnedHost(
                    "a.example", pins: pins, backupPins: pins.isEmpty ? [] : [spare], expiry: expiry,
                    enforcement: enforcement, anchors: anchors)
            ], unpinnedHosts: unpinned)
    }

    // MARK: The validation's answer

    @Test("A valid path without certificates is refused, with and without pins or a rule")
    func emptyPath() throws {
        for policy in [try Self.policy(), try Self.policy(pins: []), try PinningPolicy(hosts: [])] {
            let fixture = try DecisionFixture(policy, host: "a.example")
            #expect(fixture.verdict().hasPrefix("trusted"))
            let empty = ValidatedPath(uncheckedLeafToAnchor: [])
            #expect(fixture.with { $0.outcome = .valid(empty) }.verdict() == "rejected invalid-path empty-chain")
            guard
                case .rejected(.invalidPath(let failure)) = policy.decide(
                    fixture.endpoint, path: empty, at: DecisionFixture.now)
            else {
                Issue.record("an empty path is trusted")
                continue
            }
            #expect(failure.code == .emptyChain)
        }
    }

    @Test("A valid path without certificates is no question to the user, and no approval accepts it")
    func emptyPathOfUnknownHost() throws {
        var fixture = try DecisionFixture(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), host: "a.example")
        let subject = Self.chain.certificatePin(0).subject
        let approval = try TrustApproval(subject, for: fixture.endpoint, at: DecisionFixture.now)
        #expect(fixture.verdict() == "rejected unknown-host")
        #expect(fixture.with { $0.approvals = TrustApprovals([approval]) }.verdict() == "trusted user-approved")
        fixture.outcome = .valid(ValidatedPath(uncheckedLeafToAnchor: []))
        #expect(fixture.verdict() == "rejected unknown-host empty-chain")
        fixture.approvals = TrustApprovals([approval])
        #expect(fixture.verdict() == "rejected invalid-path empty-chain")
    }

    @Test("A plan's empty path is refused, and so is every plan's path where the user decides")
    func plannedPath() throws {
        let leaf = Self.chain.certificates[0]
        let empty = ValidatedPath(planned: [])
        let planned = ValidatedPath(planned: [CertificateHashes(key: PublicKeyPin(sliceOf: leaf), certificate: nil)])
        func verdict(_ policy: PinningPolicy, _ host: String, _ path: ValidatedPath) throws -> String {
            let server = ServerEndpoint(host: try ServerName(host))
            let approval = try TrustApproval(
                Self.chain.certificatePin(0).subject, for: server, at: DecisionFixture.now - 1_000)
            let decisions = [TrustApprovals.none, TrustApprovals([approval])].map {
                policy.decide(server, path: path, approvals: $0, at: DecisionFixture.now)
            }
            return decisions.map {
                [$0.reason, $0.pathFailure?.code.rawValue].compactMap(\.self).joined(separator: " ")
            }
            .joined(separator: ", ")
        }
        let refused = "invalid-path empty-chain, invalid-path empty-chain"
        for unpinned in [PinningPolicy.UnpinnedHosts.systemTrust, .askUser] {
            let policy = try Self.policy(unpinned)
            #expect(try verdict(policy, "a.example", empty) == refused)
            #expect(try verdict(policy, "b.example", empty) == refused)
            #expect(try verdict(policy, "a.example", planned) == "pin-matched, pin-matched")
            #expect(
                try verdict(policy, "b.example", planned)
                    == (unpinned == .askUser ? refused : "host-not-pinned, host-not-pinned"))
        }
        // The same leaf as a certificate is a question, and then approved.
        #expect(try verdict(Self.policy(.askUser), "b.example", Self.chain.path) == "unknown-host, user-approved")
    }

    // MARK: 1. Limits

    @Test("An empty chain, one above the limits and an unreadable leaf are refused before validation")
    func limits() throws {
        let fixture = try DecisionFixture(try Self.policy(), host: "a.example")
        let leaf = Self.chain.certificates[0]
        let filler = [UInt8](repeating: 0, count: Certificate.maximumSize)
        let cases: [([[UInt8]], String)] = [
            ([], "empty-chain"), ([[]], "malformed-certificate"),
            ([[0x30]] + fixture.presented, "malformed-certificate"),
            ([[UInt8]](repeating: leaf, count: 129), "limits-exceeded"), ([leaf, filler + [0]], "limits-exceeded"),
            ([filler + [0]], "limits-exceeded"), ([leaf] + [[UInt8]](repeating: filler, count: 16), "limits-exceeded"),
        ]
        for (presented, failure) in cases {
            let (evaluation, requests) = fixture.with { $0.presented = presented }.run()
            #expect(evaluation.decision.reason == "invalid-path")
            guard case .rejected(let rejection) = evaluation.decision else { continue }
            #expect(rejection.pathFailure?.code.rawValue == failure)
            #expect(requests.isEmpty && evaluation.rule == nil && evaluation.presented == nil)
        }
    }

    @Test("A chain at the limits of count and size is accepted")
    func withinLimits() throws {
        let fixture = try DecisionFixture(try Self.policy(), host: "a.example")
        let leaf = Self.chain.certificates[0]
        let filler = [UInt8](repeating: 0, count: Certificate.maximumSize)
        #expect(fixture.with { $0.presented = .init(repeating: leaf, count: 128) }.verdict() == "trusted pin-matched")
        let many = [leaf] + [[UInt8]](repeating: filler, count: 15)
        #expect(fixture.with { $0.presented = many }.verdict() == "trusted pin-matched")
    }

    @Test("A certificate that exceeds a limit refuses the chain, wherever it is")
    func limitsInside() throws {
        func certificate(names count: Int) -> [UInt8] {
            var certificate = UnsignedCertificate()
            let names = [[UInt8]](repeating: DERBytes.element(0x82), count: count).flatMap(\.self)
            certificate.extensions = [
                UnsignedCertificate.extensionField(DERBytes.oid(2, 5, 29, 17), DERBytes.sequence(names))
            ]
            return certificate.der
        }
        let fixture = try DecisionFixture(try Self.policy(), host: "a.example")
        let most = certificate(names: Certificate.maximumNames)
        let tooMany = certificate(names: Certificate.maximumNames + 1)
        #expect(fixture.with { $0.presented = [most] }.verdict() == "trusted pin-matched")
        #expect(fixture.with { $0.presented = [tooMany] }.verdict() == "rejected invalid-path limits-exceeded")
        #expect(fixture.with { $0.presented.append(most) }.verdict() == "trusted pin-matched")
        #expect(fixture.with { $0.presented.append(tooMany) }.verdict() == "rejected invalid-path limits-exceeded")
        // Each certificate may have the maximum number of names, but not all of them.
        #expect(fixture.with { $0.presented = [most, most] }.verdict() == "trusted pin-matched")
        let one = certificate(names: 1)
        #expect(fixture.with { $0.presented = [most, most, one] }.verdict() == "rejected invalid-path limits-exceeded")
    }

    @Test("The limits are checked before the rule, so a bad chain hides whether a host is allowed")
    func limitsFirst() throws {
        let fixture = try DecisionFixture(try Self.policy(.reject), host: "b.example")
        #expect(fixture.verdict() == "rejected host-not-allowed")
        #expect(fixture.with { $0.presented = [] }.verdict() == "rejected invalid-path empty-chain")
    }

    @Test("Unreadable certificates above the leaf are dropped and counted")
    func unreadableIntermediates() throws {
        let fixture = try DecisionFixture(try Self.policy(), host: "a.example")
        let presented = [fixture.presented[0], [0xFF, 0x00], fixture.presented[1], []]
        let (evaluation, requests) = fixture.with { $0.presented = presented }.run()
        #expect(evaluation.decision.reason == "pin-matched")
        #expect(requests.first?.chain.others.map(\.der) == [fixture.presented[1]])
        #expect(requests.first?.chain.unreadableCount == 2)
    }

    // MARK: 2. Hosts without a rule that are refused

    @Test("A host that is not allowed is refused without validation")
    func hostNotAllowed() throws {
        let fixture = try DecisionFixture(try Self.policy(.reject), host: "b.example")
        let (evaluation, requests) = fixture.run()
        #expect(evaluation.decision == .rejected(.hostNotAllowed(fixture.endpoint)))
        #expect(requests.isEmpty)
        #expect(fixture.with { $0.outcome = .expired }.verdict() == "rejected host-not-allowed")
        #expect(try DecisionFixture(try Self.policy(.reject), host: "a.example").verdict() == "trusted pin-matched")
    }

    // MARK: 3. Hosts without a rule that a person decides about

    @Test("An unknown host is unknown whether or not the system would trust it")
    func unknownHost() throws {
        let fixture = try DecisionFixture(try Self.policy(.askUser), host: "b.example")
        #expect(fixture.verdict() == "rejected unknown-host")
        #expect(fixture.with { $0.outcome = .selfSigned }.verdict() == "rejected unknown-host self-signed")
        let (evaluation, requests) = fixture.run()
        guard case .rejected(.unknownHost(let unknown)) = evaluation.decision else {
            #expect(Bool(false), "\(evaluation.decision)")
            return
        }
        #expect(unknown.leaf.der == Self.chain.certificates[0])
        #expect(unknown.endpoint == fixture.endpoint)
        #expect(requests.count == 1)
        #expect(requests[0].anchors == .system)
        #expect(evaluation.path == Self.chain.path)
        #expect(try DecisionFixture(try Self.policy(.askUser), host: "a.example").verdict() == "trusted pin-matched")
    }

    // MARK: 4. The path

    @Test(
        "An invalid path outweighs matching pins, even in report-only mode and after expiry",
        arguments: [
            (.never, .enforce), (.never, .reportOnly), (.systemTrust(after: DecisionFixture.now), .enforce),
            (.rejecting(after: DecisionFixture.now), .enforce), (.systemTrust(after: DecisionFixture.now), .reportOnly),
        ] as [(PinExpiry, Enforcement)])
    func invalidPath(_ expiry: PinExpiry, _ enforcement: Enforcement) throws {
        let fixture = try DecisionFixture(try Self.policy(expiry: expiry, enforcement: enforcement), host: "a.example")
        #expect(fixture.with { $0.outcome = .expired }.verdict() == "rejected invalid-path expired")
        #expect(!fixture.verdict().contains("invalid-path"))
    }

    @Test("An invalid path is refused even for hosts and rules without pins")
    func invalidPathWithoutPins() throws {
        let without = try DecisionFixture(try Self.policy(pins: []), host: "a.example")
        let unpinned = try DecisionFixture(try Self.policy(), host: "b.example")
        for fixture in [without, unpinned] {
            #expect(fixture.verdict() == "trusted host-not-pinned")
            #expect(fixture.with { $0.outcome = .expired }.verdict() == "rejected invalid-path expired")
        }
    }

    @Test("Validation runs once, for the requested host and instant, with the rule's anchors")
    func request() throws {
        let anchors = TrustAnchors.only([try UnsignedCertificate().read()])
        let fixture = try DecisionFixture(try Self.policy(anchors: anchors), host: "A.example.", port: 8443)
        let requests = fixture.run().requests
        #expect(requests.count == 1)
        #expect(requests[0].host.description == "a.example")
        #expect(requests[0].anchors == anchors)
        #expect(requests[0].instant == fixture.instant)
        #expect(requests[0].chain.leaf.der == Self.chain.certificates[0])
        let other = try DecisionFixture(try Self.policy(anchors: anchors), host: "b.example")
        #expect(other.run().requests.first?.anchors == .system)
    }

    // MARK: 6. Expiry

    @Test("Pins hold until just before their expiry date")
    func expiryEdge() throws {
        let date = DecisionFixture.now
        let trusting = try DecisionFixture(try Self.policy(expiry: .systemTrust(after: date)), host: "a.example")
        let refusing = try DecisionFixture(try Self.policy(expiry: .rejecting(after: date)), host: "a.example")
        #expect(trusting.with { $0.instant = date - 0.001 }.verdict() == "trusted pin-matched")
        #expect(trusting.verdict() == "trusted pins-expired")
        #expect(refusing.with { $0.instant = date - 0.001 }.verdict() == "trusted pin-matched")
        #expect(refusing.verdict() == "rejected pins-expired")
        #expect(refusing.with { $0.instant = .distantFuture }.verdict() == "rejected pins-expired")
        // Pins that do not match expire in the same way, even in report-only mode.
        let other = trusting.with { $0.outcome = .valid(TestChain(5).path) }
        #expect(other.with { $0.instant = date - 1 }.verdict() == "rejected pin-mismatch")
        #expect(other.verdict() == "trusted pins-expired")
        let reporting = try Self.policy(expiry: .systemTrust(after: date), enforcement: .reportOnly)
        #expect(try DecisionFixture(reporting, host: "a.example").verdict() == "trusted pins-expired")
    }

    @Test("A rule without pins ignores its expiry date")
    func expiryWithoutPins() throws {
        let policy = try Self.policy(pins: [], expiry: .rejecting(after: DecisionFixture.now))
        #expect(try DecisionFixture(policy, host: "a.example").verdict() == "trusted host-not-pinned")
    }

    @Test("A clock more than 400 days ahead of the newest known time is reported but changes no verdict")
    func clock() throws {
        for policy in [
            try Self.policy(expiry: .systemTrust(after: DecisionFixture.now)),
            try Self.policy(expiry: .rejecting(after: DecisionFixture.now)),
        ] {
            let fixture = try DecisionFixture(policy, host: "a.example")
            func isSuspicious(_ newest: Double?) -> Bool? {
                let known = newest.map { DecisionFixture.now - $0 * 86_400 }
                switch fixture.with({ $0.newestKnownTime = known }).run().evaluation.decision {
                case .trusted(.pinsExpired(let expiration)), .rejected(.pinsExpired(let expiration)):
                    #expect("\(expiration)".hasSuffix("or the clock is wrong") == expiration.isClockSuspicious)
                    return expiration.isClockSuspicious
                default: return nil
                }
            }
            #expect(isSuspicious(nil) == false)
            #expect(isSuspicious(-1) == false)
            #expect(isSuspicious(400) == false)
            #expect(isSuspicious(400.001) == true)
        }
    }
}
