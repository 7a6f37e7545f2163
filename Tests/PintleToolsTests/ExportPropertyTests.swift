import FoundationEssentials
import Pintle
import Testing

@testable import PintleConsole
@testable import PintlePolicyTools

/// Random policies go to every format and back. If a decision changes, a loss must have named that rule and the
/// direction.
@Suite("Exports keep meaning, or say what they lose")
struct ExportPropertyTests {
    private static let hosts = [
        "example.com", "api.example.com", "a.b.api.example.com", "www.example.com", "other.com", "deep.other.com",
        "192.0.2.7", "intranet", "stranger.com",
    ]

    private static let portAlone: Set<String> = ["api.example.com", "deep.other.com", "intranet"]

    @Test("Export and import together name every changed decision as a loss", arguments: ForeignFormat.imported)
    func changes(format: ForeignFormat) throws {
        let scene = try ExportFixture()
        var numbers = SeededNumbers(state: 20_261_120)
        var compared = 0
        var changed = 0
        for round in 0..<32 {
            // In the last rounds some hosts have only a rule for one port, under parents with rules for all ports.
            let policy = try Self.policy(scene, &numbers, portAlone: round < 24 ? [] : Self.portAlone)
            let position: PinPosition = Bool.random(using: &numbers) ? .leaf : .ca
            let positionless = ExportPlan.needsPositions(policy, for: format) || round % 3 == 0 ? position : nil
            let exported: ExportedPolicy
            do {
                exported = try ExportedPolicy(
                    policy, to: format, positionless: positionless, language: format == .trustkit ? .plist : nil)
            } catch let error as ToolError where error.code == "nothing-pinned" {
                // Import refuses a file without entries.
                #expect(ExportPlan(policy, to: format, positionless: positionless).rules.isEmpty)
                continue
            }
            let hasPorts = policy.hosts.contains { $0.port != nil }
            for name in Self.hosts {
                for port in hasPorts ? [443, 8443, 9443] : [443] as [UInt16] {
                    let endpoint = ServerEndpoint(host: try ServerName(name), port: port)
                    for server in [0, 1, 5, 7].map({ scene.servers[$0] }) {
                        for days in [0, 400, 900] {
                            let instant = ExportFixture.now + Double(days) * 86_400
                            let before = scene.evaluate(policy, endpoint, server, at: instant)
                            let after = scene.evaluate(exported.policy, endpoint, server, at: instant)
                            compared += 1
                            guard before.decision.isTrusted != after.decision.isTrusted else { continue }
                            changed += 1
                            let effect: PolicyLoss.Effect = before.decision.isTrusted ? .stricter : .weaker
                            guard !Self.isNamed(effect, before, after, exported, policy) else { continue }
                            Issue.record(
                                """
                                \(format), seed \(round): \(effect) at \(endpoint) after \(days) days, not named: \
                                \(before.decision.summary) by \(before.rule?.description ?? "none"), then \
                                \(after.decision.summary) by \(after.rule?.description ?? "none")
                                \(exported.losses.map { "\($0.effect) \($0.kind) \($0.hosts)" })
                                \(policy.hosts.map(Self.summary).joined(separator: "\n"))
                                became
                                \(exported.policy.hosts.map(Self.summary).joined(separator: "\n"))
                                """)
                            return
                        }
                    }
                }
            }
        }
        #expect(compared > 2_000)
        #expect(changed > 0)
    }

    @Test(
        "A rule for every port has an entry for port 443, unless another rule decides there",
        arguments: [ForeignFormat.curl, .envoy])
    func entriesForPort443(format: ForeignFormat) throws {
        let scene = try ExportFixture()
        // The second rule has a port, so it decides before the first, also if its name is shorter.
        for (name, isWide) in [("api.example.test", false), ("example.test", true)] {
            for port in [443, 8443] as [UInt16] {
                let policy = try PinningPolicy(hosts: [
                    try PinnedHost("api.example.test", pins: [scene.servers[0].pin(0, .leaf)], backup: .noneAccepted),
                    try PinnedHost(
                        name, port: port, includingSubdomains: isWide, pins: [scene.servers[1].pin(0, .leaf)],
                        backup: .noneAccepted),
                ])
                let plan = ExportPlan(policy, to: format)
                #expect(plan.rules.map(\.index) == (port == 443 ? [1] : [0, 1]), "\(name):\(port)")
                let loss = try #require(plan.losses.losses.first { $0.kind == .port })
                #expect(loss.effect == .weaker)
                #expect(loss.hosts == ["api.example.test"])
                #expect(loss.message.hasPrefix("another rule decides at port 443") == (port == 443))
            }
        }
    }

    @Test(
        "A rule without an entry loses all of its terms", arguments: [ForeignFormat.curl, .envoy],
        [443, nil] as [UInt16?])
    func lostTerms(format: ForeignFormat, otherPort: UInt16?) throws {
        let scene = try ExportFixture()
        let key = try Certificate(der: scene.servers[0].chain[0]).publicKeyPin
        var hosts = [
            try PinnedHost(
                "api.example.test", includingSubdomains: true, pins: [scene.servers[0].pin(0, .leaf)],
                backup: .noneAccepted, minimumPathLength: 3, issuerKey: key)
        ]
        if let otherPort {
            hosts.append(
                try PinnedHost(
                    "api.example.test", port: otherPort, pins: [scene.servers[1].pin(0, .leaf)], backup: .noneAccepted))
        }
        let losses = ExportPlan(try PinningPolicy(hosts: hosts), to: format).losses.losses
        let weaker = Set(losses.filter { $0.effect == .weaker && $0.hosts == ["api.example.test"] }.map(\.kind))
        #expect(weaker.isSuperset(of: [.port, .pathLength, .issuerKey, .subdomains]), "\(weaker)")
    }

    /// Returns `true` if a loss with that effect names the rule that decided before or the one that decides now.
    private static func isNamed(
        _ effect: PolicyLoss.Effect, _ before: TrustEvaluation, _ after: TrustEvaluation, _ exported: ExportedPolicy,
        _ policy: PinningPolicy
    ) -> Bool {
        var names: Set<String> = []
        if let rule = before.rule { names.insert(policy.hosts[rule.index].description) }
        if let rule = after.rule {
            let now = exported.policy.hosts[rule.index]
            names.insert(now.description)
            // The rules that the exported rule was made from.
            for host in policy.hosts where host.host == now.host { names.insert(host.description) }
        }
        return exported.losses.contains { loss in
            loss.effect == effect && (loss.hosts.isEmpty || !names.isDisjoint(with: loss.hosts))
        }
    }

    private static func summary(_ host: PinnedHost) -> String {
        let pins = host.pins.map { "\($0.description.suffix(6)) \($0.position)" }
        let anchors = (host.anchors.includesSystem ? "system " : "") + "\(host.anchors.certificates.count)"
        return
            "\(host) \(host.includesSubdomains) \(pins) \(host.requires) \(host.expiry) \(host.enforcement) \(anchors)"
    }

    private static func policy(_ scene: ExportFixture, _ numbers: inout SeededNumbers, portAlone: Set<String>)
        throws -> PinningPolicy
    {
        var hosts: [PinnedHost] = []
        for name in Self.hosts.dropLast() where numbers.chance(55) {
            if portAlone.contains(name) {
                hosts.append(try rule(name, 8443, scene, &numbers))
                continue
            }
            for port in [nil, 443, 8443] as [UInt16?] where port == nil || numbers.chance(15) {
                hosts.append(try rule(name, port, scene, &numbers))
            }
        }
        if hosts.isEmpty { hosts.append(try rule("example.com", nil, scene, &numbers)) }
        let unpinned: PinningPolicy.UnpinnedHosts = numbers.chance(15) ? .reject : .systemTrust
        return try PinningPolicy(hosts: hosts, unpinnedHosts: unpinned)
    }

    private static func rule(
        _ name: String, _ port: UInt16?, _ scene: ExportFixture, _ numbers: inout SeededNumbers
    ) throws -> PinnedHost {
        let needsBoth = numbers.chance(15)
        var pins: [Pin] = []
        if numbers.chance(85) {
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let depth = Int.random(in: 0...2, using: &numbers)
                let server = scene.servers[[0, 1, 5, 7][Int.random(in: 0..<4, using: &numbers)]]
                let positions: [PinPosition] = needsBoth ? [.leaf, .ca] : [.any, .any, .leaf, .ca]
                let position = positions[Int.random(in: 0..<positions.count, using: &numbers)]
                let isCertificate = numbers.chance(20)
                pins.append(isCertificate ? server.fingerprint(depth, position) : server.pin(depth, position))
            }
        }
        if needsBoth, !pins.isEmpty { pins += [scene.servers[0].pin(0, .leaf), scene.servers[0].pin(1, .ca)] }
        var seen: Set<Pin> = []
        pins = pins.filter { seen.insert($0).inserted }
        let day = ExportFixture.now + Double(Int.random(in: 100...700, using: &numbers)) * 86_400
        let expiries: [PinExpiry] = [.never, .never, .systemTrust(after: day), .rejecting(after: day)]
        let anchors: [TrustAnchors] = [
            .system, .system, .only([scene.privateRoot]), TrustAnchors([scene.privateRoot], includesSystem: true),
        ]
        let isWide = numbers.chance(50) && name.contains("com")
        return try PinnedHost(
            name, port: port, includingSubdomains: isWide, pins: pins, backup: .noneAccepted,
            requires: needsBoth && !pins.isEmpty ? .leafAndCA : .anyPin,
            expiry: expiries[Int.random(in: 0..<4, using: &numbers)],
            enforcement: numbers.chance(12) ? .reportOnly : .enforce,
            anchors: anchors[Int.random(in: 0..<4, using: &numbers)])
    }
}

extension TrustDecision {
    fileprivate var summary: String {
        switch self {
        case .trusted(let basis): basis.reason
        case .rejected(let rejection): rejection.reason
        }
    }
}

extension MatchedRule {
    fileprivate var description: String { "\(pattern)" }
}
