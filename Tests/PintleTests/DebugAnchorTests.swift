import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Tests are debug builds. Scripts/debug-only.sh proves that release builds lack this API.
#if DEBUG
@Suite("Debug anchors")
struct DebugAnchorTests {
    private static let chain = TestChain()
    /// The chain that the developer's proxy presents.
    private static let proxy = TestChain(1)

    private static func policy(
        _ unpinned: PinningPolicy.UnpinnedHosts = .systemTrust, expiry: PinExpiry = .never,
        anchors: TrustAnchors = .system
    ) throws -> PinningPolicy {
        try PinningPolicy(
            hosts: [
                PinnedHost(
                    "a.example", pins: [chain.keyPin(0)], backupPins: [TestChain.spare()], expiry: expiry,
                    anchors: anchors)
            ], unpinnedHosts: unpinned)
    }

    private static func verdict(_ policy: PinningPolicy, _ chain: TestChain) throws -> String {
        try DecisionFixture(policy, host: "a.example", chain: chain).verdict()
    }

    private static func root(_ chain: TestChain) throws -> Certificate {
        try Certificate(der: try #require(chain.certificates.last))
    }

    @Test("A path that ends at a debug anchor skips the pins; any other path does not")
    func skipsPins() throws {
        let policy = try Self.policy()
        let debugged = policy.trusting(debugAnchors: [try Self.root(Self.proxy)])
        #expect(try Self.verdict(policy, Self.proxy) == "rejected pin-mismatch")
        #expect(try Self.verdict(debugged, Self.proxy) == "trusted host-not-pinned")
        #expect(try Self.verdict(debugged, TestChain(2)) == "rejected pin-mismatch")
        #expect(try Self.verdict(debugged, Self.chain) == "trusted pin-matched")
        let server = ServerEndpoint(host: try ServerName("a.example"))
        #expect(debugged.decide(server, path: Self.proxy.path, at: DecisionFixture.now).reason == "host-not-pinned")
        #expect(policy.decide(server, path: Self.proxy.path, at: DecisionFixture.now).reason == "pin-mismatch")
        #expect(
            debugged.trusting(debugAnchors: []).decide(server, path: Self.proxy.path, at: DecisionFixture.now).reason
                == "pin-mismatch")
    }

    @Test("A path that ends at a debug anchor skips the expiry of the pins")
    func skipsExpiry() throws {
        let policy = try Self.policy(expiry: .rejecting(after: DecisionFixture.now))
        let debugged = policy.trusting(debugAnchors: [try Self.root(Self.proxy)])
        #expect(try Self.verdict(policy, Self.proxy) == "rejected pins-expired")
        #expect(try Self.verdict(debugged, Self.proxy) == "trusted host-not-pinned")
    }

    @Test("With debug anchors, the path is still validated and refused hosts stay refused")
    func restStays() throws {
        let anchor = try Self.root(Self.proxy)
        let fixture = try DecisionFixture(
            try Self.policy().trusting(debugAnchors: [anchor]), host: "a.example", chain: Self.proxy)
        #expect(fixture.with { $0.outcome = .expired }.verdict() == "rejected invalid-path expired")
        let empty = PathOutcome.valid(ValidatedPath(uncheckedLeafToAnchor: []))
        #expect(fixture.with { $0.outcome = empty }.verdict() == "rejected invalid-path empty-chain")
        for (unpinned, verdict) in [
            (PinningPolicy.UnpinnedHosts.reject, "rejected host-not-allowed"), (.askUser, "rejected unknown-host"),
            (.systemTrust, "trusted host-not-pinned"),
        ] {
            let policy = try Self.policy(unpinned).trusting(debugAnchors: [anchor])
            #expect(try DecisionFixture(policy, host: "b.example", chain: Self.proxy).verdict() == verdict)
        }
    }

    @Test("A path without certificates does not end at a debug anchor")
    func emptyPath() throws {
        let debugged = try Self.policy().trusting(debugAnchors: [try Self.root(Self.proxy)])
        let anchors = try #require(debugged.debugAnchors)
        let server = ServerEndpoint(host: try ServerName("a.example"))
        func reason(_ path: ValidatedPath) -> String {
            debugged.decide(server, path: path, at: DecisionFixture.now).reason
        }
        let empty = ValidatedPath(uncheckedLeafToAnchor: [])
        #expect(!anchors.areEnd(of: empty) && reason(empty) == "invalid-path")
        // A plan knows no certificate.
        let key = PublicKeyPin(sliceOf: Self.proxy.certificates[2])
        let planned = ValidatedPath(planned: [CertificateHashes(key: key, certificate: nil)])
        #expect(!anchors.areEnd(of: planned) && reason(planned) == "pin-mismatch")
        #expect(anchors.areEnd(of: Self.proxy.path) && reason(Self.proxy.path) == "host-not-pinned")
    }

    @Test("Debug anchors are added to the rule's anchors, and the combined set is cached")
    func anchors() throws {
        let own = try Self.root(TestChain(5))
        let proxy = try Self.root(Self.proxy)
        let policy = try Self.policy(anchors: .only([own]))
        func asked(_ policy: PinningPolicy, _ host: String) throws -> TrustAnchors {
            try #require(DecisionFixture(policy, host: host).run().requests.first).anchors
        }
        let debugged = policy.trusting(debugAnchors: [proxy])
        #expect(try asked(policy, "a.example") == .only([own]))
        #expect(try asked(debugged, "a.example") == .only([own, proxy]))
        #expect(try asked(debugged, "b.example") == TrustAnchors([proxy], includesSystem: true))
        #expect(try asked(debugged, "a.example").identity === asked(debugged, "a.example").identity)
        #expect(try asked(debugged, "b.example").identity === asked(debugged, "b.example").identity)
        // The policy's own description of its rules does not change.
        #expect(debugged.hosts.first?.anchors == .only([own]))
    }
}
#endif
