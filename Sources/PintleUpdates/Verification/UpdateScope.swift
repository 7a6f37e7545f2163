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
    func violations(of policy: PinningPolicy, at now: Date?) -> [ScopeViolation] {
        var violations: [ScopeViolation] = []
        if policy.unpinnedHosts != bundled.unpinnedHosts {
            violations.append(
                ScopeViolation(
                    path: "unpinnedHosts",
                    message: "\(policy.unpinnedHosts.rawValue), and the bundled policy says "
                        + bundled.unpinnedHosts.rawValue))
        }
        for (index, rule) in policy.hosts.enumerated() {
            guard violations.count < Self.maximumViolations else { break }
            for (key, message) in findings(about: rule, at: now) {
                violations.append(ScopeViolation(path: "hosts[\(index)].\(key)", message: message))
            }
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

    private func findings(about rule: PinnedHost, at now: Date?) -> [(key: String, message: String)] {
        var findings: [(String, String)] = []
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
        for (position, url) in rule.reportTo.enumerated() {
            guard let host = ServerEndpoint(httpsURL: url)?.host, reportHosts.contains(host) else {
                findings.append(("reportTo[\(position)]", "the bundled policy sends no report there"))
                continue
            }
        }
        return findings
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

    /// The bundled rules that cover everything which `rule` covers, the one for the very host first, then the nearest
    /// parent domain's.
    private func covering(_ rule: PinnedHost) -> [Int] {
        var found: [Int] = []
        func take(_ host: Substring) {
            let candidates = (rulesOfHost[String(host)] ?? []).filter { index in
                let bundled = rules[index]
                let coversHost = bundled.includesSubdomains || host.utf8.count == rule.host.description.utf8.count
                let coversSubdomains = bundled.includesSubdomains || !rule.includesSubdomains
                return coversHost && coversSubdomains && (bundled.port == nil || bundled.port == rule.port)
            }
            // With this port before without.
            found += candidates.filter { rules[$0].port != nil } + candidates.filter { rules[$0].port == nil }
        }
        var host = Substring(rule.host.description)
        take(host)
        guard rule.host.ipAddress == nil else { return found }
        while let dot = host.firstIndex(of: ".") {
            host = host[host.index(after: dot)...]
            take(host)
        }
        return found
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
