internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an update may do: change the pins of hosts that the app shipped rules for, and nothing that adds trust.
struct UpdateScope {
    private let bundled: PinningPolicy
    private let rules: [PinnedHost]
    /// The bundled rules of a host.
    private var rulesOfHost: [String: [Int]] = [:]
    private let reportHosts: Set<ServerName>

    /// More would be read by nobody.
    private static let maximumViolations = 1_000

    init(bundled: PinningPolicy) {
        self.bundled = bundled
        rules = Array(bundled.hosts)
        for (index, rule) in rules.enumerated() { rulesOfHost[rule.host.description, default: []].append(index) }
        reportHosts = Set(rules.flatMap(\.reportTo).compactMap { ServerEndpoint(httpsURL: $0)?.host })
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
    func missingHosts(in policy: PinningPolicy) -> [PolicyProblem] {
        let present = Set(policy.hosts.map(\.description))
        return rules.lazy.filter { !present.contains($0.description) }.prefix(Self.maximumViolations).map { rule in
            PolicyProblem(
                id: "missing-host", path: "hosts",
                message: "the bundled policy has a rule for \(rule), the update none",
                help: "an update replaces the whole policy: repeat every rule, or say why one withdraws its pins")
        }
    }

    private func findings(
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
            findings += lowered(rule, below: covering.map { rules[$0] }, at: now)
        }
        // What a rule takes the place of, it must not weaken either, whether or not that covers all of it.
        let replaced = (rulesOfHost[rule.host.description] ?? []).filter { rules[$0].port == rule.port }
        for old in (replaced + overruled).map({ rules[$0] }) {
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
        _ old: PinnedHost, by rule: PinnedHost, at now: Date?
    ) -> [(key: String, message: String)] {
        var findings: [(key: String, message: String)] = []
        if !rule.anchors.isNoWider(than: old.anchors) {
            findings.append(("anchors", "\(rule) would trust roots that the bundled rule for \(old) does not"))
        }
        if old.description == rule.description, old.includesSubdomains, !rule.includesSubdomains,
            !old.anchors.includesSystem
        {
            findings.append(("includeSubdomains", "the sub-domains of \(rule) would trust the system's roots"))
        }
        if rule.withdraws == nil { findings += lowered(rule, below: [old], at: now) }
        return findings
    }

    /// The bundled rules for every port that a rule of the update takes a port away from, by that rule's index: a rule
    /// for the port comes before every other, however near the host that one is for.
    private func overruledRules(by update: [PinnedHost]) -> [Int: [Int]] {
        var portRules: [String: [Int]] = [:]
        for (index, rule) in update.enumerated() where rule.port != nil {
            portRules[rule.host.description, default: []].append(index)
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
        _ rule: PinnedHost, below bundled: [PinnedHost], at now: Date?
    ) -> [(key: String, message: String)] {
        // Where the bundled policy has a rule of the same name, that is the one that decides today, not its parents'.
        let bundled = bundled.first { $0.description == rule.description }.map { [$0] } ?? bundled
        let enforcing = bundled.filter { !$0.pins.isEmpty && $0.enforcement == .enforce }
        guard !enforcing.isEmpty else { return [] }
        let remedy = "; say why in \"withdraws\""
        if rule.pins.isEmpty { return [("pins", "\(rule) would lose its pins\(remedy)")] }
        if rule.enforcement == .reportOnly {
            return [("enforcement", "\(rule) would no longer be enforced\(remedy)")]
        }
        if let now, case .systemTrust(let date) = rule.expiry, now >= date,
            !enforcing.contains(where: { $0.isOver(at: now) })
        {
            return [("expiry", "the pins of \(rule) would be past their date at once\(remedy)")]
        }
        if !rule.includesSubdomains,
            enforcing.contains(where: { $0.description == rule.description && $0.includesSubdomains })
        {
            return [("includeSubdomains", "the sub-domains of \(rule) would lose their pins\(remedy)")]
        }
        return []
    }

    /// The bundled rules that cover everything which `rule` covers: those for its port first, and the very host's before
    /// the nearest parent domain's.
    private func covering(_ rule: PinnedHost) -> [Int] {
        var found: [Int] = []
        func take(_ host: String) {
            let candidates = (rulesOfHost[host] ?? []).filter { index in
                let bundled = rules[index]
                let coversHost = bundled.includesSubdomains || host.utf8.count == rule.host.description.utf8.count
                let coversSubdomains = bundled.includesSubdomains || !rule.includesSubdomains
                return coversHost && coversSubdomains && (bundled.port == nil || bundled.port == rule.port)
            }
            found += candidates
        }
        for (name, _) in Self.names(over: rule.host) { take(name) }
        // With this port before without, as in the decision.
        return found.filter { rules[$0].port != nil } + found.filter { rules[$0].port == nil }
    }
}

extension PinnedHost {
    fileprivate func isOver(at instant: Date) -> Bool { expiry.date.map { instant >= $0 } ?? false }
}

extension TrustAnchors {
    /// Whether every root in it is in `other` too.
    fileprivate func isNoWider(than other: TrustAnchors) -> Bool {
        guard other.includesSystem || !includesSystem else { return false }
        return Set(certificates).isSubset(of: other.certificates)
    }
}
