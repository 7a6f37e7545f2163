internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an update may do: change the pins of hosts that the app shipped rules for, and nothing that adds trust.
struct UpdateScope: Sendable {
    private let bundled: PinningPolicy
    private let rules: [PinnedHost]
    /// The bundled rules of a host.
    private var rulesOfHost: [String: [Int]] = [:]
    /// The lengths, modulo 64, of hosts whose sub-domains a bundled rule covers: other parent domains are not looked up.
    private var subdomainLengths: UInt64 = 0
    private let reportHosts: Set<ServerName>

    /// More would be read by nobody.
    private static let maximumViolations = 1_000

    init(bundled: PinningPolicy) {
        self.bundled = bundled
        rules = Array(bundled.hosts)
        rulesOfHost.reserveCapacity(rules.count)
        var reportHosts: Set<ServerName> = []
        for index in rules.indices {
            let name = rules[index].host.description
            rulesOfHost[name, default: []].append(index)
            if rules[index].includesSubdomains { subdomainLengths |= Self.bit(ofLength: name.utf8.count) }
            for url in rules[index].reportTo {
                if let host = ServerEndpoint(httpsURL: url)?.host { reportHosts.insert(host) }
            }
        }
        self.reportHosts = reportHosts
    }

    /// Everything that goes beyond the bundled policy, in the order of the update's policy.
    ///
    /// - Parameter now: `nil` where dates no longer matter.
    func violations(of policy: EmbeddedPolicy, at now: Date?) -> [ScopeViolation] {
        var violations: [ScopeViolation] = []
        if policy.unpinnedHosts != bundled.unpinnedHosts {
            violations.append(
                ScopeViolation(
                    path: "unpinnedHosts",
                    message: "\(policy.unpinnedHosts.rawValue), and the bundled policy says "
                        + bundled.unpinnedHosts.rawValue))
        }
        let overruled = overruledRules(by: policy.hosts)
        for (index, rule) in policy.hosts.enumerated() {
            guard violations.count < Self.maximumViolations else { break }
            if overruled[index] == nil, isNoWeaker(rule, number: index, at: now) { continue }
            for (key, message) in findings(about: rule, overruling: overruled[index] ?? [], at: now) {
                violations.append(ScopeViolation(path: "hosts[\(index)].\(key)", message: message))
            }
        }
        for problem in policy.problems where problem.id == "anchor-file-not-allowed" {
            guard violations.count < Self.maximumViolations else { break }
            violations.append(
                ScopeViolation(path: problem.path, message: "an anchor in a file is none of the bundled rule's"))
        }
        return violations
    }

    /// Bundled hosts that the update forgets: what it leaves out would be unpinned.
    ///
    /// - Parameter hosts: every rule of the update.
    func missingHosts(in hosts: [PinnedHost]) -> [PolicyProblem] {
        // Most updates repeat the rules in their order.
        let isRepeated = hosts.count >= rules.count && rules.indices.allSatisfy { rules[$0].hasSameName(as: hosts[$0]) }
        guard !isRepeated else { return [] }
        let present = Set(hosts.map(\.description))
        return rules.lazy.filter { !present.contains($0.description) }.prefix(Self.maximumViolations).map { rule in
            PolicyProblem(
                id: "missing-host", path: "hosts",
                message: "the bundled policy has a rule for \(rule), the update none",
                help: "an update replaces the whole policy: repeat every rule, or say why one withdraws its pins")
        }
    }

    /// Whether a rule, which takes no other's place, plainly asks for what the bundled rule of its name asks for, or
    /// more: then there are no ``findings(about:overruling:at:)``, and none are looked for. Most rules of most updates.
    ///
    /// A bundled rule of the same name and port that covers as many sub-domains covers all of the rule, comes first among
    /// those that do, and is the only one that it replaces. What there is to find are then its anchors, its pins,
    /// enforcement and date, unless it says why, and its report hosts.
    func isNoWeaker(_ rule: PinnedHost, number: Int, at now: Date?) -> Bool {
        let same =
            number < rules.count && rules[number].hasSameName(as: rule)
            ? number : rulesOfHost[rule.host.description]?.first { rules[$0].port == rule.port }
        guard let same, rules[same].includesSubdomains == rule.includesSubdomains,
            rule.anchors.isNoWider(than: rules[same].anchors),
            rule.reportTo.isEmpty || rule.reportTo == rules[same].reportTo
        else { return false }
        guard rule.withdraws == nil, !rules[same].pins.isEmpty, rules[same].enforcement == .enforce else {
            return true
        }
        guard !rule.pins.isEmpty, rule.enforcement == .enforce else { return false }
        guard let now, case .systemTrust(let date) = rule.expiry, now >= date else { return true }
        return rules[same].isOver(at: now)
    }

    func findings(
        about rule: PinnedHost, overruling overruled: [Int], at now: Date?
    ) -> [(key: String, message: String)] {
        var findings: [(key: String, message: String)] = []
        let covering = covering(rule)
        if covering.isEmpty, !bundled.allowsUpdatesForAnyHost {
            findings.append(("host", "no bundled rule covers \(rule)"))
        }
        let base = covering.first.map { rules[$0].anchors } ?? .system
        if !rule.anchors.isNoWider(than: base) {
            findings.append(("anchors", "\(rule) would trust roots that the bundled rule does not"))
        }
        if rule.withdraws == nil {
            findings += lowered(rule, below: covering, at: now)
        }
        // What a rule takes the place of, it must not weaken either, whether or not that covers all of it.
        let replaced = (rulesOfHost[rule.host.description] ?? []).filter { rules[$0].port == rule.port }
        for old in replaced + overruled {
            for finding in weakened(old, by: rule, at: now) where !findings.contains(where: { $0.key == finding.key }) {
                findings.append(finding)
            }
        }
        for (position, url) in rule.reportTo.enumerated() {
            guard let host = ServerEndpoint(httpsURL: url)?.host, reportHosts.contains(host) else {
                findings.append(("reportTo[\(position)]", "the bundled policy sends no report there"))
                continue
            }
        }
        return findings
    }

    /// What one bundled rule holds that this one, which decides in its place, lets go of.
    private func weakened(
        _ number: Int, by rule: PinnedHost, at now: Date?
    ) -> [(key: String, message: String)] {
        let old = rules[number]
        var findings: [(key: String, message: String)] = []
        if !rule.anchors.isNoWider(than: old.anchors) {
            findings.append(("anchors", "\(rule) would trust roots that the bundled rule for \(old) does not"))
        }
        if old.hasSameName(as: rule), old.includesSubdomains, !rule.includesSubdomains,
            !old.anchors.includesSystem
        {
            findings.append(("includeSubdomains", "the sub-domains of \(rule) would trust the system's roots"))
        }
        if rule.withdraws == nil { findings += lowered(rule, below: [number], at: now) }
        return findings
    }

    /// The bundled rules for every port that a rule of the update takes a port away from, by that rule's index: a rule
    /// for the port comes before every other, however near the host that one is for.
    private func overruledRules(by update: [PinnedHost]) -> [Int: [Int]] {
        var portRules: [String: [Int]] = [:]
        for index in update.indices where update[index].port != nil {
            portRules[update[index].host.description, default: []].append(index)
        }
        guard !portRules.isEmpty else { return [:] }
        var overruled: [Int: [Int]] = [:]
        for (number, old) in rules.enumerated() where old.port == nil {
            // The nearest rule for a port decides, for the host and for what is under it.
            var hostPorts = Set<UInt16>()
            var subdomainPorts = Set<UInt16>()
            for (name, isOwn) in Self.names(over: old.host) {
                for index in portRules[name] ?? [] {
                    let rule = update[index]
                    guard let port = rule.port else { continue }
                    let takesHost = (isOwn || rule.includesSubdomains) && hostPorts.insert(port).inserted
                    let takesSubdomains =
                        old.includesSubdomains && rule.includesSubdomains && subdomainPorts.insert(port).inserted
                    if takesHost && !isOverruled(old.host, on: port, below: false)
                        || takesSubdomains && !isOverruled(old.host, on: port, below: true)
                    {
                        overruled[index, default: []].append(number)
                    }
                }
            }
        }
        return overruled
    }

    /// Whether a bundled rule for the port decides about the host, or about everything below it, today.
    private func isOverruled(_ host: ServerName, on port: UInt16, below: Bool) -> Bool {
        Self.names(over: host).contains { name, isOwn in
            (rulesOfHost[name] ?? []).contains { index in
                rules[index].port == port && (rules[index].includesSubdomains || isOwn && !below)
            }
        }
    }

    /// The host's own name, then its parent domains', the nearest first.
    private static func names(over host: ServerName) -> [(name: String, isOwn: Bool)] {
        var name = Substring(host.description)
        var names = [(String(name), true)]
        guard host.ipAddress == nil else { return names }
        while let dot = name.firstIndex(of: ".") {
            name = name[name.index(after: dot)...]
            names.append((String(name), false))
        }
        return names
    }

    /// What an enforcing bundled rule holds and this one lets go of, without saying why.
    private func lowered(
        _ rule: PinnedHost, below covering: [Int], at now: Date?
    ) -> [(key: String, message: String)] {
        // Where the bundled policy has a rule of the same name, that is the one that decides today, not its parents'.
        let same = covering.first { rules[$0].hasSameName(as: rule) }
        let enforcing = (same.map { [$0] } ?? covering).filter {
            !rules[$0].pins.isEmpty && rules[$0].enforcement == .enforce
        }
        guard !enforcing.isEmpty else { return [] }
        let remedy = "; say why in \"withdraws\""
        if rule.pins.isEmpty { return [("pins", "\(rule) would lose its pins\(remedy)")] }
        if rule.enforcement == .reportOnly {
            return [("enforcement", "\(rule) would no longer be enforced\(remedy)")]
        }
        if let now, case .systemTrust(let date) = rule.expiry, now >= date,
            !enforcing.contains(where: { rules[$0].isOver(at: now) })
        {
            return [("expiry", "the pins of \(rule) would be past their date at once\(remedy)")]
        }
        if !rule.includesSubdomains,
            enforcing.contains(where: { rules[$0].hasSameName(as: rule) && rules[$0].includesSubdomains })
        {
            return [("includeSubdomains", "the sub-domains of \(rule) would lose their pins\(remedy)")]
        }
        return []
    }

    /// The bundled rules that cover everything which `rule` covers: those for its port first, and the very host's before
    /// the nearest parent domain's.
    private func covering(_ rule: PinnedHost) -> [Int] {
        var found: [Int] = []
        let name = rule.host.description
        func take(_ host: String, isOwn: Bool) {
            for index in rulesOfHost[host] ?? [] {
                let includesSubdomains = rules[index].includesSubdomains
                guard includesSubdomains || isOwn && !rule.includesSubdomains else { continue }
                if rules[index].port == nil || rules[index].port == rule.port { found.append(index) }
            }
        }
        take(name, isOwn: true)
        if rule.host.ipAddress == nil {
            var rest = name.utf8[...]
            while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
                rest = rest[rest.index(after: dot)...]
                guard subdomainLengths & Self.bit(ofLength: rest.count) != 0 else { continue }
                take(String(Substring(rest)), isOwn: false)
            }
        }
        // With this port before without, as in the decision.
        guard found.count > 1 else { return found }
        return found.filter { rules[$0].port != nil } + found.filter { rules[$0].port == nil }
    }

    private static func bit(ofLength length: Int) -> UInt64 { 1 << UInt64(length & 63) }
}

extension PinnedHost {
    /// Whether both are for the same host and port.
    fileprivate func hasSameName(as other: PinnedHost) -> Bool { port == other.port && host == other.host }

    fileprivate func isOver(at instant: Date) -> Bool { expiry.date.map { instant >= $0 } ?? false }
}

extension TrustAnchors {
    /// Whether every root in it is in `other` too.
    fileprivate func isNoWider(than other: TrustAnchors) -> Bool {
        guard other.includesSystem || !includesSystem else { return false }
        return certificates.isEmpty || Set(certificates).isSubset(of: other.certificates)
    }
}
