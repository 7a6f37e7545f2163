import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests `minimumPathLength` and `issuerKey` in the decision. Each refused path has a counterpart that is trusted.
@Suite("Terms of a rule about the path")
struct PathTermsTests {
    /// A path of three certificates: leaf, intermediate, root.
    static let chain = TestChain()
    static let spare = TestChain.spare()
    /// The path of an interceptor whose root signs the leaf directly.
    private static let direct = ValidatedPath(
        uncheckedLeafToAnchor: [TestChain(1).certificates[0], TestChain(1).certificates[2]])

    private static func key(_ depth: Int, of number: Int = 0) throws -> PublicKeyPin {
        try #require(PublicKeyPin(sliceOf: TestChain(number).certificates[depth]))
    }

    private static func fixture(
        length: Int? = nil, issuer: PublicKeyPin? = nil, pins: [Pin] = [chain.keyPin(0)], expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce, requires: PinRequirement = .anyPin, path: ValidatedPath = chain.path
    ) throws -> DecisionFixture {
        let backups = requires == .leafAndCA ? TestChain.spare(0, .leaf) : spare
        let rule = try PinnedHost(
            "a.example", pins: pins, backupPins: pins.isEmpty ? [] : [backups], requires: requires, expiry: expiry,
            enforcement: enforcement, minimumPathLength: length, issuerKey: issuer)
        var fixture = try DecisionFixture(try PinningPolicy(hosts: [rule]), host: "a.example")
        fixture.outcome = .valid(path)
        fixture.presented = [path.certificates[0]]
        return fixture
    }

    @Test("A leaf signed directly by a root is refused, and a path of three is trusted, with and without pins")
    func length() throws {
        let pins = [TestChain(1).keyPin(0), Self.chain.keyPin(0)]
        for pins in [pins, []] {
            let reason = pins.isEmpty ? "host-not-pinned" : "pin-matched"
            let refused = try Self.fixture(length: 3, pins: pins, path: Self.direct)
            #expect(refused.verdict() == "rejected invalid-path other")
            #expect(try Self.fixture(length: 2, pins: pins, path: Self.direct).verdict() == "trusted \(reason)")
            #expect(try Self.fixture(length: 3, pins: pins).verdict() == "trusted \(reason)")
            guard case .rejected(.invalidPath(let failure)) = refused.run().evaluation.decision else { continue }
            #expect(
                failure.primary.text
                    == "minimumPathLength is 3, and the path has 2 certificates, leaf and anchor counted")
        }
    }

    @Test("Another issuer is refused; the keys of the leaf and of the root do not count as the issuer's")
    func issuer() throws {
        for pins in [[Self.chain.keyPin(0)], []] {
            let reason = pins.isEmpty ? "host-not-pinned" : "pin-matched"
            #expect(try Self.fixture(issuer: Self.key(1), pins: pins).verdict() == "trusted \(reason)")
            for other in [try Self.key(0), try Self.key(2), try Self.key(1, of: 1)] {
                let refused = try Self.fixture(issuer: other, pins: pins)
                #expect(refused.verdict() == "rejected invalid-path other")
                guard case .rejected(.invalidPath(let failure)) = refused.run().evaluation.decision else { continue }
                #expect(
                    failure.primary.text
                        == "issuerKey is \(other), and the leaf's issuer on the path has \(try Self.key(1))")
            }
        }
    }

    @Test("A path of only the leaf has no issuer")
    func leafOnly() throws {
        let alone = ValidatedPath(uncheckedLeafToAnchor: [Self.chain.certificates[0]])
        #expect(try Self.fixture(issuer: Self.key(0), path: alone).verdict() == "rejected invalid-path other")
        #expect(try Self.fixture(length: 2, path: alone).verdict() == "rejected invalid-path other")
        #expect(try Self.fixture(length: 1, path: alone).verdict() == "trusted pin-matched")
    }

    @Test(
        "The terms apply in report-only mode and after expiry, and do not change the verdict on a path that meets them",
        arguments: [
            (.never, .reportOnly, "trusted pin-matched"),
            (.systemTrust(after: DecisionFixture.now), .enforce, "trusted pins-expired"),
            (.systemTrust(after: DecisionFixture.now), .reportOnly, "trusted pins-expired"),
            (.rejecting(after: DecisionFixture.now), .enforce, "rejected pins-expired"),
        ] as [(PinExpiry, Enforcement, String)])
    func always(_ expiry: PinExpiry, _ enforcement: Enforcement, _ verdict: String) throws {
        let fixture = { (length: Int?, issuer: PublicKeyPin?) in
            try Self.fixture(length: length, issuer: issuer, expiry: expiry, enforcement: enforcement)
        }
        #expect(try fixture(4, nil).verdict() == "rejected invalid-path other")
        #expect(try fixture(nil, Self.key(2)).verdict() == "rejected invalid-path other")
        #expect(try fixture(3, Self.key(1)).verdict() == verdict)
        #expect(try fixture(nil, nil).verdict() == verdict)
    }

    @Test("A path that meets the terms still needs its pins")
    func pins() throws {
        let other = [TestChain(2).keyPin(0)]
        #expect(try Self.fixture(length: 3, issuer: Self.key(1), pins: other).verdict() == "rejected pin-mismatch")
        let reporting = try Self.fixture(length: 3, pins: other, enforcement: .reportOnly)
        #expect(reporting.verdict() == "trusted mismatch-reported-only")
        let both = [Self.chain.keyPin(0, .leaf), Self.chain.keyPin(1, .ca)]
        #expect(try Self.fixture(length: 3, pins: both, requires: .leafAndCA).verdict() == "trusted pin-matched")
        let half = [Self.chain.keyPin(0, .leaf), TestChain(2).keyPin(1, .ca)]
        #expect(try Self.fixture(length: 3, pins: half, requires: .leafAndCA).verdict() == "rejected pin-mismatch")
        #expect(
            try Self.fixture(length: 4, pins: both, requires: .leafAndCA).verdict() == "rejected invalid-path other")
    }

    @Test("An invalid path keeps its own failure, and the terms do not apply to other hosts")
    func otherFailures() throws {
        let fixture = try Self.fixture(length: 4)
        #expect(fixture.with { $0.outcome = .expired }.verdict() == "rejected invalid-path expired")
        let elsewhere = ServerEndpoint(host: try ServerName("b.example"))
        #expect(fixture.with { $0.endpoint = elsewhere }.verdict() == "trusted host-not-pinned")
    }

    @Test("The terms also apply to a path that the caller validated")
    func ownValidation() throws {
        let server = ServerEndpoint(host: try ServerName("a.example"))
        func reason(_ fixture: DecisionFixture) -> String {
            fixture.policy.decide(server, path: Self.chain.path, at: fixture.instant).reason
        }
        #expect(reason(try Self.fixture(length: 4)) == "invalid-path")
        #expect(reason(try Self.fixture(length: 3)) == "pin-matched")
        #expect(reason(try Self.fixture(issuer: Self.key(2), pins: [])) == "invalid-path")
        #expect(reason(try Self.fixture(issuer: Self.key(1), pins: [])) == "host-not-pinned")
    }

    @Test("The refusal keeps the path for reports and descriptions")
    func pathIsKept() throws {
        let evaluation = try Self.fixture(length: 4).run().evaluation
        #expect(evaluation.path == Self.chain.path)
        #expect(evaluation.decision.reason == "invalid-path")
    }

    @Test(
        "The request asks for a path that meets the terms, even if the pins have expired or there are none")
    func requests() throws {
        for pins in [[Self.chain.keyPin(0)], []] {
            for expiry in [PinExpiry.never, .systemTrust(after: DecisionFixture.now)] {
                let request = try #require(try Self.fixture(length: 3, pins: pins, expiry: expiry).run().requests.first)
                #expect(request.isSatisfied(by: Self.chain.path) && request.meetsTerms(Self.chain.path))
                #expect(!request.isSatisfied(by: Self.direct) && !request.meetsTerms(Self.direct))
            }
        }
        let request = try #require(try Self.fixture(length: 3, pins: [TestChain(2).keyPin(0)]).run().requests.first)
        #expect(!request.isSatisfied(by: Self.chain.path) && request.meetsTerms(Self.chain.path))
    }

    @Test("The terms do not apply to an approved server")
    func approvals() throws {
        let rule = try PinnedHost("a.example", anchors: .system, minimumPathLength: 3)
        let policy = try PinningPolicy(hosts: [rule], unpinnedHosts: .askUser)
        var fixture = try DecisionFixture(policy, host: "b.example")
        fixture.outcome = .selfSigned
        let leaf = try Certificate(der: Self.chain.certificates[0])
        fixture.approvals = TrustApprovals([
            try TrustApproval(.publicKey(leaf.publicKeyPin), for: fixture.endpoint, at: fixture.instant)
        ])
        #expect(fixture.verdict() == "trusted user-approved")
    }

    #if DEBUG
    @Test("A path that ends at a debug anchor skips the terms and the pins")
    func debugAnchors() throws {
        let root = try Certificate(der: TestChain(1).certificates[2])
        let fixture = try Self.fixture(length: 3, path: Self.direct)
        #expect(fixture.verdict() == "rejected invalid-path other")
        let debugged = fixture.policy.trusting(debugAnchors: [root])
        #expect(fixture.with { $0.policy = debugged }.verdict() == "trusted host-not-pinned")
    }
    #endif
}
