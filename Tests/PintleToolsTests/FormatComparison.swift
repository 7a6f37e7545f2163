import FoundationEssentials
import Pintle

@testable import PintleConsole
@testable import PintlePolicyTools
@testable import PintleText

/// Decisions of a policy beside those of a format's model, for every host, port, time and server. Each difference needs
/// a loss with its direction that names a rule concerned, and each loss needs a difference.
struct FormatComparison {
    private struct Difference: Hashable {
        let effect: PolicyLoss.Effect
        /// The rule concerned; `nil` for hosts without a rule.
        let rule: String?
    }

    /// A host, a port and a time, and the decisions of the policy for each server.
    struct Probe {
        let endpoint: ServerEndpoint
        let instant: Date
        let rule: String?
        let decisions: [Bool]
    }

    /// Losses of settings that decide nothing about certificates.
    private static let silent: Set<PolicyLoss.Kind> = [
        .cleartext, .httpsOnly, .certificateTransparency, .tlsSettings,
    ]

    private(set) var compared = 0
    private(set) var differences = 0
    private(set) var losses = 0
    /// Differences without a loss.
    private(set) var unnamed: [String] = []
    /// Losses without a difference.
    private(set) var idle: [(kind: PolicyLoss.Kind, text: String)] = []

    static func probes(_ policy: PinningPolicy, in world: FormatWorld, _ servers: [FormatWorld.Server]) throws
        -> [Probe]
    {
        let ports: [UInt16] = policy.hosts.contains { $0.port != nil } ? [443, 8443, 9443] : [443, 8443]
        var instants = [FormatWorld.now]
        for date in Set(policy.hosts.compactMap(\.expiry.date)).sorted() { instants += [date - 3_600, date + 1] }
        if instants.count > 1 { instants.append(FormatWorld.now + 900 * 86_400) }
        var probes: [Probe] = []
        for host in try FormatWorld.probes(of: policy.hosts.map(\.host)) {
            for port in ports {
                let endpoint = ServerEndpoint(host: host, port: port)
                let rule = policy.rule(for: endpoint).map { policy.hosts[$0.index] }
                // A rule without pins that end decides at all times alike, but the format's entry may not.
                for instant in instants {
                    let decisions = servers.map { world.trusts(policy, endpoint, $0, at: instant) }
                    probes.append(
                        Probe(
                            endpoint: endpoint, instant: instant, rule: rule?.description, decisions: decisions))
                }
            }
        }
        return probes
    }

    /// - Parameters:
    ///   - servers: the servers of the probes' decisions.
    ///   - isExport: true if the file was written from the policy, false if the policy was read from the file.
    ///   - others: returns further rules that decide for a host in the file.
    mutating func compare(
        _ probes: [Probe], with model: any FormatModel, losses named: [PolicyLoss], _ servers: [FormatWorld.Server],
        isExport: Bool, title: String, others: (ServerName) -> [String] = { _ in [] }
    ) {
        var found: Set<Difference> = []
        for probe in probes {
            for (server, decision) in zip(servers, probe.decisions) {
                compared += 1
                let host = probe.endpoint.host
                let answer = model.trusts(host.description, probe.endpoint.port, server, at: probe.instant)
                guard answer != decision else { continue }
                differences += 1
                let effect: PolicyLoss.Effect = (isExport ? answer : decision) ? .weaker : .stricter
                let rules = [probe.rule] + others(host)
                for rule in rules { found.insert(Difference(effect: effect, rule: rule)) }
                let isNamed = named.contains { loss in
                    loss.effect == effect
                        && (loss.hosts.isEmpty
                            ? rules.contains(nil) : !Set(loss.hosts.map { $0 }).isDisjoint(with: rules))
                }
                if !isNamed {
                    unnamed.append(
                        "\(title): \(effect) at \(probe.endpoint), not named; rules \(rules.compactMap { $0 })")
                }
            }
        }
        for loss in named where loss.effect != .other && !Self.silent.contains(loss.kind) {
            for rule in loss.hosts.isEmpty ? [nil] : loss.hosts.map(Optional.some) {
                losses += 1
                if !found.contains(Difference(effect: loss.effect, rule: rule)) {
                    idle.append(
                        (
                            loss.kind,
                            "\(title): \(loss.effect) \(loss.kind) of \(rule ?? "all hosts") without a difference: "
                                + loss.message
                        ))
                }
            }
        }
    }
}

/// Random files of the formats that import reads.
extension FormatWorld {
    private static let fileNames = [
        "example.com", "api.example.com", "v1.api.example.com", "other.org", "a.other.org", "b.a.other.org",
    ]

    private func hashes(_ count: Int, _ numbers: inout SeededNumbers) -> [String] {
        (0..<(Self.keyCount - 1)).shuffled(using: &numbers).prefix(count).map { leaves[$0].publicKeyPin.base64 }
    }

    func file(_ format: ForeignFormat, _ numbers: inout SeededNumbers) -> String {
        var names = Self.fileNames.filter { _ in numbers.chance(55) }
        if names.isEmpty { names = ["example.com"] }
        switch format {
        case .ats: return atsFile(names, &numbers)
        case .trustkit: return trustKitFile(names, &numbers)
        default: return nscFile(names.shuffled(using: &numbers), &numbers)
        }
    }

    private func plist(_ key: String, _ entries: [(String, String)]) -> String {
        let body = entries.map { "<key>\($0)</key><dict>\($1)</dict>" }.joined(separator: "\n")
        return "<plist version=\"1.0\"><dict><key>\(key)</key><dict>\n\(body)</dict></dict></plist>"
    }

    private func atsFile(_ names: [String], _ numbers: inout SeededNumbers) -> String {
        let entries = names.map { name in
            let lists = [["Leaf"], ["CA"], ["Leaf", "CA"]].pick(&numbers)
            let identities = lists.map { list in
                let hashes = hashes(Int.random(in: 1...2, using: &numbers), &numbers)
                let items = hashes.map { "<dict><key>SPKI-SHA256-BASE64</key><string>\($0)</string></dict>" }
                return "<key>NSPinned\(list)Identities</key><array>\(items.joined())</array>"
            }
            let isWide = numbers.chance(60)
            return (name, "<key>NSIncludesSubdomains</key><\(isWide)/>" + identities.joined())
        }
        let text = plist("NSPinnedDomains", entries)
        return text.replacing(
            "<dict><key>NSPinnedDomains", with: "<dict><key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains"
        )
        .replacing("</dict></dict></plist>", with: "</dict></dict></dict></plist>")
    }

    private func trustKitFile(_ names: [String], _ numbers: inout SeededNumbers) -> String {
        plist(
            "TSKPinnedDomains",
            names.map { name in
                if numbers.chance(15) { return (name, "<key>kSKExcludeSubdomainFromParentPolicy</key><true/>") }
                let hashes = hashes(2, &numbers).map { "<string>\($0)</string>" }.joined()
                let end = numbers.chance(25) ? "<key>TSKExpirationDate</key><string>\(day(&numbers))</string>" : ""
                let isWide = numbers.chance(60)
                let isEnforced = numbers.chance(80)
                return (
                    name,
                    "<key>TSKIncludeSubdomains</key><\(isWide)/><key>TSKEnforcePinning</key><\(isEnforced)/>"
                        + "<key>TSKPublicKeyHashes</key><array>\(hashes)</array>\(end)"
                )
            })
    }

    private func day(_ numbers: inout SeededNumbers) -> String {
        ValidityText.day(Self.now + Double(Int.random(in: 100...700, using: &numbers)) * 86_400)
    }

    private func nscFile(_ names: [String], _ numbers: inout SeededNumbers) -> String {
        let base = numbers.chance(40) ? "<base-config>\(anchors(&numbers))</base-config>" : ""
        var rest = names[...]
        var configs = ""
        while !rest.isEmpty { configs += config(&rest, &numbers, depth: 0) }
        return "<network-security-config>\(base)\(configs)</network-security-config>"
    }

    private func config(_ rest: inout ArraySlice<String>, _ numbers: inout SeededNumbers, depth: Int) -> String {
        var text = "<domain-config>"
        for _ in 0..<Int.random(in: 1...2, using: &numbers) {
            guard let name = rest.popFirst() else { break }
            text += "<domain includeSubdomains=\"\(numbers.chance(60))\">\(name)</domain>"
        }
        if numbers.chance(40) { text += anchors(&numbers) }
        if numbers.chance(65) {
            let pins = hashes(Int.random(in: 1...2, using: &numbers), &numbers)
                .map { "<pin digest=\"SHA-256\">\($0)</pin>" }.joined()
            text += "<pin-set\(numbers.chance(30) ? " expiration=\"\(day(&numbers))\"" : "")>\(pins)</pin-set>"
        }
        while depth < 2, !rest.isEmpty, numbers.chance(45) { text += config(&rest, &numbers, depth: depth + 1) }
        return text + "</domain-config>"
    }

    private func anchors(_ numbers: inout SeededNumbers) -> String {
        var sources = ["system", "@raw/own", "user"].filter { _ in numbers.chance(50) }
        if sources.isEmpty || sources == ["user"] { sources.append("system") }
        return "<trust-anchors>"
            + sources.map { "<certificates src=\"\($0)\" overridePins=\"\(numbers.chance(20))\"/>" }.joined()
            + "</trust-anchors>"
    }
}
