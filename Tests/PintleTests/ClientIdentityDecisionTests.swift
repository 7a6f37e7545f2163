import Testing

@testable import Pintle

/// Tests who may get the client's identity. Each server that may not differs in one thing from one that may.
@Suite("The client's identity")
struct ClientIdentityDecisionTests {
    private static let chain = TestChain()

    private static func root(_ chain: TestChain = chain) throws -> Certificate {
        try Certificate(der: try #require(chain.certificates.last))
    }

    private static func policy(
        pins: [Pin] = [], anchors: TrustAnchors = .system, expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce, host: String = "a.example"
    ) throws -> PinningPolicy {
        try PinningPolicy(hosts: [
            PinnedHost(
                host, pins: pins, backupPins: pins.isEmpty ? [] : [TestChain.spare()], expiry: expiry,
                enforcement: enforcement, anchors: anchors)
        ])
    }

    /// Returns the reason of the verdict on the chain, and whether the server may get the identity.
    private static func verdict(_ policy: PinningPolicy, _ outcome: PathOutcome? = nil) throws -> String {
        let fixture = try DecisionFixture(policy, host: "a.example", chain: chain)
        let evaluation = fixture.with { $0.outcome = outcome ?? $0.outcome }.run().evaluation
        let may = policy.mayIdentifyClient(to: evaluation, includesApproved: false)
        #expect(policy.mayIdentifyClient(to: evaluation, includesApproved: true) == may)
        return evaluation.decision.reason + (may ? " yes" : " no")
    }

    @Test("A server whose pin has matched gets it, and no server whose pins have expired, only report, or do not match")
    func pins() throws {
        let pins = [Self.chain.keyPin(0)]
        let over = PinExpiry.systemTrust(after: DecisionFixture.now)
        #expect(try Self.verdict(Self.policy(pins: pins)) == "pin-matched yes")
        #expect(try Self.verdict(Self.policy(pins: pins, expiry: over)) == "pins-expired no")
        let other = [TestChain(1).keyPin(0)]
        #expect(try Self.verdict(Self.policy(pins: other)) == "pin-mismatch no")
        #expect(
            try Self.verdict(Self.policy(pins: other, enforcement: .reportOnly)) == "mismatch-reported-only no")
        #expect(try Self.verdict(Self.policy(pins: pins), .expired) == "invalid-path no")
    }

    @Test("A server without pins gets it only if its path ends at an anchor that its rule brings")
    func anchors() throws {
        let own = TrustAnchors.only([try Self.root(TestChain(1)), try Self.root()])
        #expect(try Self.verdict(Self.policy(anchors: own)) == "host-not-pinned yes")
        #expect(try Self.verdict(Self.policy()) == "host-not-pinned no")
        #expect(try Self.verdict(Self.policy(anchors: own, host: "b.example")) == "host-not-pinned no")
        let other = TrustAnchors.only([try Self.root(TestChain(1))])
        #expect(try Self.verdict(Self.policy(anchors: other)) == "host-not-pinned no")
        let empty = PathOutcome.valid(ValidatedPath(uncheckedLeafToAnchor: []))
        #expect(try Self.verdict(Self.policy(anchors: own), empty) == "invalid-path no")
        #if DEBUG
        // A developer's proxy is no server, also if the rule brings its anchor.
        let debugged = try Self.policy(anchors: own).trusting(debugAnchors: [try Self.root()])
        #expect(try Self.verdict(debugged) == "host-not-pinned no")
        let elsewhere = try Self.policy(anchors: own).trusting(debugAnchors: [try Self.root(TestChain(2))])
        #expect(try Self.verdict(elsewhere) == "host-not-pinned yes")
        #endif
    }

    @Test("A server that the user has approved gets it only if the caller includes approved servers")
    func approved() throws {
        var fixture = try DecisionFixture(PinningPolicy(hosts: [], unpinnedHosts: .askUser), host: "a.example")
        let subject = Self.chain.keyPin(0).subject
        fixture.approvals = TrustApprovals([try TrustApproval(subject, for: fixture.endpoint, at: fixture.instant)])
        let evaluation = fixture.run().evaluation
        #expect(evaluation.decision.reason == "user-approved")
        for includes in [false, true] {
            #expect(fixture.policy.mayIdentifyClient(to: evaluation, includesApproved: includes) == includes)
        }
    }
}
