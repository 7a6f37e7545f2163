import FoundationEssentials
import Pintle
import Testing

@testable import PintlePolicyTools

@Suite("Formats compared with models of their programs")
struct FormatComparisonTests {
    private static let rounds = 120

    /// Losses that are named for what may happen. Another rule decides at some ports, or another certificate has a key
    /// that is pinned too.
    private static let cautious: Set<PolicyLoss.Kind> = [.port, .portRule, .certificatePins]

    /// Compares exports of random policies, to the formats in turn.
    ///
    /// - Parameters:
    ///   - change: changes the model, and returns it.
    ///   - named: returns the losses that count.
    private func exports(
        _ formats: [ForeignFormat], rounds: Int, model change: (any FormatModel) -> any FormatModel = { $0 },
        named: (PolicyLoss) -> Bool = { _ in true }
    ) throws -> [ForeignFormat: FormatComparison] {
        let world = try FormatWorld()
        let servers = world.servers.filter { $0.root != .user }
        var numbers = SeededNumbers(state: 20_261_128)
        var results: [ForeignFormat: FormatComparison] = [:]
        for round in 0..<rounds {
            let policy = try world.policy(&numbers)
            let position: PinPosition = numbers.chance(50) ? .leaf : .ca
            let probes = try FormatComparison.probes(policy, in: world, servers)
            for format in formats {
                let needsPosition = ExportPlan.needsPositions(policy, for: format) || round % 3 == 0
                let stated = needsPosition ? position : nil
                let plan = ExportPlan(policy, to: format, positionless: stated)
                let refusals = [
                    ExportLockOut.byAuthorities(in: policy, to: format, stated: stated),
                    ExportLockOut.byBackups(in: plan, of: policy, stated: stated), ExportLockOut.byPooling(in: plan),
                    plan.refusal,
                ]
                // The command writes nothing then.
                guard refusals.allSatisfy({ $0 == nil }) else { continue }
                let model = change(try format.model(plan.files(ExportSettings(language: .plist))))
                results[format, default: FormatComparison()].compare(
                    probes, with: model, losses: plan.losses.losses.filter(named), servers, isExport: true,
                    title: "\(format) \(round)"
                ) { host in
                    let covering = plan.rules.filter { rule in
                        host == rule.host || rule.includesSubdomains && host.isBelow(rule.host)
                    }
                    guard let best = covering.max(by: { $0.host.labels.count < $1.host.labels.count }) else {
                        return []
                    }
                    return policy.hosts.filter { $0.host == best.host }.map(\.description)
                }
            }
        }
        return results
    }

    @Test("Every export decides as the policy does, except where a loss says so, and every loss has an effect")
    func exports() throws {
        for (format, result) in try exports(ForeignFormat.allCases, rounds: Self.rounds) {
            print("\(format): \(result.compared) decisions, \(result.differences) differ, \(result.losses) losses")
            #expect(result.unnamed.isEmpty, "\(result.unnamed.prefix(12).joined(separator: "\n"))")
            let idle = result.idle.filter { !Self.cautious.contains($0.kind) }
            #expect(idle.isEmpty, "\(idle.prefix(12).map(\.text).joined(separator: "\n"))")
            #expect(result.compared > 50_000 && result.differences > 1_000 && result.losses > 100)
        }
    }

    @Test("The comparison finds a loss that is not named", arguments: ForeignFormat.allCases)
    func missingLosses(format: ForeignFormat) throws {
        for effect in [PolicyLoss.Effect.weaker, .stricter] {
            let result = try exports([format], rounds: 10, named: { $0.effect != effect })
            #expect(result[format]?.unnamed.contains { $0.contains("\(effect) at") } == true)
        }
    }

    private static func withoutPooling(_ model: any FormatModel) -> any FormatModel {
        guard var model = model as? ATSModel else { return model }
        model.addsUp = false
        return model
    }

    @Test("The comparison finds a model that does not pool", arguments: [true, false])
    func missingPooling(pools: Bool) throws {
        let world = try FormatWorld()
        let servers = world.servers.filter { $0.root != .user }
        let hosts = try [("example.com", 0), ("api.example.com", 1)].map { name, key in
            try PinnedHost(
                name, includingSubdomains: key == 0,
                pins: [Pin(.publicKey(world.leaves[key].publicKeyPin), at: .leaf)], backup: .noneAccepted)
        }
        let policy = try PinningPolicy(hosts: hosts)
        let plan = ExportPlan(policy, to: .ats)
        let model = try ForeignFormat.ats.model(plan.files(ExportSettings()))
        var result = FormatComparison()
        result.compare(
            try FormatComparison.probes(policy, in: world, servers),
            with: pools ? model : Self.withoutPooling(model), losses: plan.losses.losses, servers, isExport: true,
            title: "ats")
        #expect(result.unnamed.isEmpty)
        #expect(result.idle.map(\.kind) == (pools ? [] : [.pooling]))
        #expect(try imports(.ats, rounds: 40, model: pools ? { $0 } : Self.withoutPooling).unnamed.isEmpty == pools)
    }

    private func imports(
        _ format: ForeignFormat, rounds: Int, model change: (any FormatModel) -> any FormatModel = { $0 }
    ) throws -> FormatComparison {
        let world = try FormatWorld()
        var numbers = SeededNumbers(state: 20_261_129)
        let own = try #require(world.roots[.own])
        var result = FormatComparison()
        for round in 0..<rounds {
            let text = world.file(format, &numbers)
            let draft = try ImportCommand.read(
                Array(text.utf8), as: format, files: ForeignFolder { $0 == "raw/own.pem" ? Array(own.pem.utf8) : nil })
            let policy = try draft.policy()
            let files = [
                ExportedFile(name: "file", content: text), ExportedFile(name: "raw/own.pem", content: own.pem),
            ]
            guard let model = try? format.model(files) else { continue }
            let servers = format == .nsc ? world.servers : world.servers.filter { $0.root != .user }
            result.compare(
                try FormatComparison.probes(policy, in: world, servers), with: change(model),
                losses: draft.losses.losses, servers, isExport: false, title: "\(format) \(round)")
        }
        return result
    }

    @Test(
        "Every import decides as the file's program does, except where a loss says so, and every loss has an effect",
        arguments: ForeignFormat.imported)
    func imports(format: ForeignFormat) throws {
        let result = try imports(format, rounds: Self.rounds)
        print("\(format): \(result.compared) decisions, \(result.differences) differ, \(result.losses) losses")
        #expect(result.unnamed.isEmpty, "\(result.unnamed.prefix(12).joined(separator: "\n"))")
        #expect(result.idle.isEmpty, "\(result.idle.prefix(12).map(\.text).joined(separator: "\n"))")
        #expect(result.compared > 50_000)
    }
}

@Suite("Effects of losses")
struct LossEffectTests {
    private func rule(
        _ name: String, _ key: Int, isWide: Bool = false, _ enforcement: Enforcement = .enforce,
        expiry: PinExpiry = .never, in world: FormatWorld
    ) throws -> PinnedHost {
        try PinnedHost(
            name, includingSubdomains: isWide, pins: [Pin(.publicKey(world.leaves[key].publicKeyPin), at: .leaf)],
            backup: .noneAccepted, expiry: expiry, enforcement: enforcement)
    }

    @Test("ATS adds the list of a parent one label above, not of one two labels above")
    func distantParent() throws {
        let world = try FormatWorld()
        for (name, isPooled) in [("cdn.example.com", true), ("deep.cdn.example.com", false)] {
            let policy = try PinningPolicy(hosts: [
                try rule("example.com", 0, isWide: true, in: world), try rule(name, 1, in: world),
            ])
            let kinds = ExportPlan(policy, to: .ats).losses.losses.filter { $0.hosts.contains(name) }.map(\.kind)
            #expect(kinds.contains(.pooling) == isPooled)
        }
    }

    @Test("Pins of a rule that only reports change no decision in TrustKit")
    func reportOnly() throws {
        let world = try FormatWorld()
        for (enforcement, effect) in [(Enforcement.enforce, PolicyLoss.Effect.weaker), (.reportOnly, .other)] {
            let policy = try PinningPolicy(hosts: [try rule("example.com", 0, enforcement, in: world)])
            let loss = ExportPlan(policy, to: .trustkit).losses.losses.first { $0.kind == .position }
            #expect(loss?.effect == effect)
        }
    }

    @Test("Pins that end with the day are stricter, except for a rule that refuses after them")
    func endOfDay() throws {
        let world = try FormatWorld()
        let date = FormatWorld.now + 3_600
        for (expiry, effect) in [
            (PinExpiry.systemTrust(after: date), PolicyLoss.Effect.stricter), (.rejecting(after: date), .weaker),
        ] {
            let policy = try PinningPolicy(hosts: [try rule("example.com", 0, expiry: expiry, in: world)])
            let loss = ExportPlan(policy, to: .nsc).losses.losses.first {
                $0.kind == .expiryTime && $0.effect != .other
            }
            #expect(loss?.effect == effect)
        }
    }

    @Test("Hosts that inherit the user's roots from base-config are named, and those with roots of their own are not")
    func inheritedRoots() throws {
        let text = """
            <network-security-config><base-config><trust-anchors><certificates src="system"/><certificates src="user"/>
            </trust-anchors></base-config><domain-config><domain>a.example.com</domain></domain-config><domain-config>
            <domain>b.example.com</domain><trust-anchors><certificates src="system"/></trust-anchors></domain-config>
            </network-security-config>
            """
        let draft = try ImportCommand.read(Array(text.utf8), as: .nsc, files: .none)
        let hosts = draft.losses.losses.filter { $0.kind == .userAnchors }.map(\.hosts)
        #expect(hosts == [[], ["a.example.com"]])
    }
}

extension ServerName {
    fileprivate func isBelow(_ parent: ServerName) -> Bool {
        labels.count > parent.labels.count && labels.suffix(parent.labels.count).elementsEqual(parent.labels)
    }
}
