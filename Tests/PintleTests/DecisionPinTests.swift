import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Pins in the decision")
struct DecisionPinTests {
    static let chain = TestChain()
    static let spare = TestChain.spare()

    private static func fixture(
        _ pins: [Pin], backups: [Pin] = [spare], requires: PinRequirement = .anyPin,
        enforcement: Enforcement = .enforce
    ) throws -> DecisionFixture {
        let host = try PinnedHost(
            "a.example", pins: pins, backupPins: backups, requires: requires, enforcement: enforcement)
        return try DecisionFixture(try PinningPolicy(hosts: [host]), host: "a.example")
    }

    @Test("A pin matches at every depth of the path, even an anchor that was not sent", arguments: 0..<3)
    func depths(_ depth: Int) throws {
        for pin in [Self.chain.keyPin(depth), Self.chain.certificatePin(depth)] {
            let match = try Self.fixture([pin]).run().evaluation.match
            #expect(match == PinMatch(pin: pin, depth: depth, isBackup: false))
        }
        #expect(try Self.fixture([TestChain(5).keyPin(depth)]).verdict() == "rejected pin-mismatch")
    }

    @Test("A verdict is one log line with pins, without bytes of certificates")
    func description() throws {
        let good = try Self.fixture([Self.chain.keyPin(0)]).run().evaluation
        #expect("\(good)" == "a.example:443 trusted, pin-matched: \(Self.chain.keyPin(0)) at depth 0")
        #expect(good.rule.map { "\($0)" } == "a.example")
        #expect(good.path.map { "\($0)" } == good.path?.publicKeyPins.map(\.description).joined(separator: ", "))
        let bad = try Self.fixture([TestChain(5).keyPin(0)]).run().evaluation
        #expect("\(bad)".hasPrefix("a.example:443 rejected, pin-mismatch: "))
        let backup = try Self.fixture([TestChain(5).keyPin(0)], backups: [Self.chain.keyPin(1)]).run().evaluation
        #expect("\(backup)".hasSuffix(" at depth 1, a backup pin"))
    }

    @Test("A match of a backup pin is marked as one")
    func backup() throws {
        let match = try Self.fixture([TestChain(5).keyPin(0)], backups: [Self.chain.keyPin(1)]).run().evaluation.match
        #expect(match == PinMatch(pin: Self.chain.keyPin(1), depth: 1, isBackup: true))
    }

    @Test("A pinned certificate that the server only sent does not match")
    func appended() throws {
        let victim = TestChain(7)
        let fixture = try Self.fixture([victim.keyPin(0), victim.keyPin(1), victim.certificatePin(1)])
        let attack = fixture.with { $0.presented += victim.presented }
        #expect(attack.verdict() == "rejected pin-mismatch")
        #expect(
            attack.run().evaluation.mismatch?.slip == .pinnedCertificateNotOnPath(victim.keyPin(0)))
        let genuine = attack.with { $0.outcome = .valid(victim.path) }
        #expect(genuine.verdict() == "trusted pin-matched")
    }

    @Test("The request tells validation which of several valid paths satisfies the rule")
    func severalPaths() throws {
        let other = TestChain(3)
        let crossed = ValidatedPath(
            uncheckedLeafToAnchor: [Self.chain.certificates[0], other.certificates[1], other.certificates[2]])
        let fixture = try Self.fixture([other.keyPin(2)])
        let request = try #require(fixture.run().requests.first)
        #expect(!request.isSatisfied(by: Self.chain.path))
        #expect(request.isSatisfied(by: crossed))
        #expect(fixture.verdict() == "rejected pin-mismatch")
        #expect(fixture.with { $0.outcome = .valid(crossed) }.verdict() == "trusted pin-matched")
    }

    @Test("Any path satisfies a rule without pins or with expired pins")
    func satisfied() throws {
        let host = try PinnedHost(
            "a.example", pins: [Self.spare], backupPins: [TestChain.spare(1)],
            expiry: .rejecting(after: DecisionFixture.now))
        let fixture = try DecisionFixture(
            try PinningPolicy(hosts: [host, try PinnedHost("b.example", pins: [Pin]())]), host: "a.example")
        let path = Self.chain.path
        #expect(fixture.run().requests.first?.isSatisfied(by: path) == true)
        #expect(fixture.with { $0.instant -= 1 }.run().requests.first?.isSatisfied(by: path) == false)
        for name in ["b.example", "c.example"] {
            let other = ServerEndpoint(host: try ServerName(name))
            #expect(fixture.with { $0.endpoint = other }.run().requests.first?.isSatisfied(by: path) == true)
        }
    }

    @Test("A report-only rule trusts a mismatch and reports it")
    func reportOnly() throws {
        let pins = [TestChain(5).keyPin(0)]
        let evaluation = try Self.fixture(pins, enforcement: .reportOnly).run().evaluation
        #expect(evaluation.decision.reason == "mismatch-reported-only")
        #expect(evaluation.decision.isTrusted)
        #expect(evaluation.mismatch == (try Self.fixture(pins).run().evaluation.mismatch))
        let right = try Self.fixture([Self.chain.keyPin(0)], enforcement: .reportOnly)
        #expect(right.verdict() == "trusted pin-matched")
    }

    @Test("A mismatch holds the served pins, the configured pins and the rule")
    func mismatch() throws {
        let pins = [TestChain(5).keyPin(0), TestChain(5).certificatePin(1)]
        let evaluation = try Self.fixture(pins).run().evaluation
        let mismatch = try #require(evaluation.mismatch)
        #expect(mismatch.servedPins == Self.chain.path.publicKeyPins)
        #expect(mismatch.servedPins.count == 3)
        #expect(mismatch.configuredPins == pins + [Self.spare])
        #expect(mismatch.rule?.pattern == "a.example")
        #expect(mismatch.endpoint.description == "a.example:443")
        #expect(evaluation.path == Self.chain.path)
        let description = TrustRejection.pinMismatch(mismatch).description
        for pin in mismatch.servedPins.map(\.description) + mismatch.configuredPins.map(\.description) {
            #expect(description.contains(pin))
        }
    }

    @Test("leafAndCA needs a match of each kind; only one is a mismatch")
    func leafAndCA() throws {
        let backups = [TestChain.spare(0, .leaf)]
        let leaf = Self.chain.keyPin(0, .leaf)
        let authority = Self.chain.keyPin(1, .ca)
        #expect(
            try Self.fixture([leaf, authority], backups: backups, requires: .leafAndCA).verdict()
                == "trusted pin-matched"
        )
        for pins in [[leaf, TestChain(5).keyPin(1, .ca)], [TestChain(5).keyPin(0, .leaf), authority]] {
            let fixture = try Self.fixture(pins, backups: backups, requires: .leafAndCA)
            #expect(fixture.verdict() == "rejected pin-mismatch")
            #expect(try Self.fixture(pins, backups: backups).verdict() == "trusted pin-matched")
        }
    }

    @Test("Deciding about a path that is known to be valid gives the same verdict as the whole decision")
    func decide() throws {
        for pins in [[Self.chain.keyPin(0)], [TestChain(5).keyPin(0)]] {
            for enforcement in Enforcement.allCases {
                let fixture = try Self.fixture(pins, enforcement: enforcement)
                let short = fixture.policy.decide(fixture.endpoint, path: Self.chain.path, at: fixture.instant)
                #expect(short == fixture.run().evaluation.decision)
            }
        }
        let endpoint = ServerEndpoint(host: try ServerName("b.example"))
        for (unpinned, reason) in [
            (.systemTrust, "host-not-pinned"), (.reject, "host-not-allowed"), (.askUser, "unknown-host"),
        ] as [(PinningPolicy.UnpinnedHosts, String)] {
            let policy = try PinningPolicy(hosts: [], unpinnedHosts: unpinned)
            #expect(policy.decide(endpoint, path: Self.chain.path, at: DecisionFixture.now).reason == reason)
        }
        // No rule can be for an alias. Only a policy that allows no other host refuses it for that reason.
        for (unpinned, verdict) in [
            (.systemTrust, "invalid-path other"), (.reject, "host-not-allowed"), (.askUser, "invalid-path other"),
        ] as [(PinningPolicy.UnpinnedHosts, String)] {
            let alias = try DecisionFixture(
                try PinningPolicy(hosts: [], unpinnedHosts: unpinned), host: "::ffff:192.0.2.1")
            #expect(alias.verdict() == "rejected \(verdict)")
            let decision = alias.policy.decide(alias.endpoint, path: Self.chain.path, at: alias.instant)
            #expect(decision.reason == verdict.split(separator: " ").first.map(String.init))
        }
        let nothing = ValidatedPath(uncheckedLeafToAnchor: [])
        let asking = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
        #expect(asking.decide(endpoint, path: nothing, at: DecisionFixture.now).reason == "invalid-path")
    }
}
