import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Properties of every policy, tested with random policies over a few names, ports and chains.
@Suite("Properties of the decision")
struct DecisionPropertyTests {
    private static let names = ["a.test", "b.a.test", "c.b.a.test", "d.test", "test", "192.0.2.1"]
    private static let chains = (0..<4).map { TestChain($0) }
    private static let now = DecisionFixture.now

    private static func host(_ name: String, using generator: inout SplitMix64) -> PinnedHost? {
        let chosen = chains.filter { _ in Bool.random(using: &generator) }
        let pins = chosen.map { chain -> Pin in
            let depth = Int.random(in: 0..<3, using: &generator)
            let position: PinPosition = generator.pick([.any, .any, .leaf, .ca])
            return Bool.random(using: &generator)
                ? chain.keyPin(depth, position) : chain.certificatePin(depth, position)
        }
        return try? PinnedHost(
            name, port: generator.pick([nil, 443, 8443]),
            includingSubdomains: name.first != "1" && Bool.random(using: &generator), pins: pins,
            backupPins: pins.isEmpty ? [] : [TestChain.spare()],
            expiry: generator.pick([.never, .never, .systemTrust(after: now), .rejecting(after: now + 1)]),
            enforcement: generator.pick([.enforce, .enforce, .reportOnly]))
    }

    private static func hosts(using generator: inout SplitMix64) -> [PinnedHost] {
        var hosts: [PinnedHost] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            guard let host = host(generator.pick(names), using: &generator) else { continue }
            if !hosts.contains(where: { $0.host == host.host && $0.port == host.port }) { hosts.append(host) }
        }
        return hosts
    }

    private static func scenes(_ policy: PinningPolicy) throws -> [DecisionFixture] {
        try names.flatMap { name in
            try [443, 8443 as UInt16].flatMap { port in
                try chains.flatMap { chain in
                    let fixture = try DecisionFixture(policy, host: name, port: port, chain: chain)
                    return [fixture, fixture.with { $0.outcome = .selfSigned }]
                }
            }
        }
    }

    @Test("Changing the pins of a rule never changes the verdict on hosts of other rules", arguments: 0..<25)
    func rulesNeverPool(seed: UInt64) throws {
        var generator = SplitMix64(state: seed)
        let hosts = Self.hosts(using: &generator)
        guard let last = hosts.last else { return }
        let more = try PinnedHost(
            last.host.description, port: last.port, includingSubdomains: last.includesSubdomains,
            pins: Self.chains.map { $0.keyPin(0) }, backupPins: [TestChain.spare()])
        let policy = try PinningPolicy(hosts: hosts)
        let changed = try PinningPolicy(hosts: hosts.dropLast() + [more])
        for fixture in try Self.scenes(policy) {
            let other = fixture.with { $0.policy = changed }
            if fixture.policy.rule(for: fixture.endpoint)?.index == hosts.count - 1 { continue }
            #expect(fixture.verdict() == other.verdict(), "\(fixture.endpoint) \(hosts)")
        }
    }

    @Test("Pins only restrict: a policy without its pins trusts everything that it trusts with them", arguments: 0..<25)
    func pinsOnlySubtract(seed: UInt64) throws {
        var generator = SplitMix64(state: seed &+ 100)
        let hosts = Self.hosts(using: &generator)
        let bare = try hosts.map {
            try PinnedHost(
                $0.host.description, port: $0.port, includingSubdomains: $0.includesSubdomains, pins: [Pin]())
        }
        let policy = try PinningPolicy(hosts: hosts)
        let without = try PinningPolicy(hosts: bare)
        var trusted = 0
        for fixture in try Self.scenes(policy) where fixture.verdict().hasPrefix("trusted") {
            trusted += 1
            #expect(fixture.with { $0.policy = without }.verdict() == "trusted host-not-pinned")
        }
        #expect(trusted > 0)
    }

    @Test("A rule without one of its pins trusts no more than with it", arguments: 0..<25)
    func fewerPins(seed: UInt64) throws {
        var generator = SplitMix64(state: seed &+ 200)
        let hosts = Self.hosts(using: &generator)
        guard let index = hosts.firstIndex(where: { $0.pins.count >= 2 }) else { return }
        let host = hosts[index]
        var fewer = hosts
        fewer[index] = try PinnedHost(
            host.host.description, port: host.port, includingSubdomains: host.includesSubdomains,
            pins: Array(host.pins.dropFirst()), backupPins: host.backupPins, expiry: host.expiry,
            enforcement: host.enforcement)
        let policy = try PinningPolicy(hosts: hosts)
        let narrower = try PinningPolicy(hosts: fewer)
        for fixture in try Self.scenes(narrower) where fixture.verdict().hasPrefix("trusted") {
            #expect(fixture.with { $0.policy = policy }.verdict().hasPrefix("trusted"))
        }
    }

    @Test("No policy trusts an invalid path", arguments: 0..<25)
    func invalidPaths(seed: UInt64) throws {
        var generator = SplitMix64(state: seed &+ 300)
        let hosts = Self.hosts(using: &generator)
        for unpinned in PinningPolicy.UnpinnedHosts.allCases {
            let policy = try PinningPolicy(hosts: hosts, unpinnedHosts: unpinned)
            for fixture in try Self.scenes(policy) {
                if case .valid = fixture.outcome { continue }
                #expect(fixture.verdict().hasPrefix("rejected"))
            }
        }
    }

    @Test("The order of the rules never matters", arguments: 0..<25)
    func order(seed: UInt64) throws {
        var generator = SplitMix64(state: seed &+ 400)
        let hosts = Self.hosts(using: &generator)
        let policy = try PinningPolicy(hosts: hosts)
        let shuffled = try PinningPolicy(hosts: hosts.shuffled(using: &generator))
        for fixture in try Self.scenes(policy) {
            #expect(fixture.verdict() == fixture.with { $0.policy = shuffled }.verdict())
        }
    }
}
