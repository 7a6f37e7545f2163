internal import Pintle

/// The changes to an update's policy that end the violations of its scope.
enum ScopeRemedy {
    static let anchorFile = "write the certificates into \"anchors\" as PEM text, as pintle sign does"
    static let tooManyHosts = "name fewer hosts, or fewer of them with a port"

    static func unpinnedHosts(_ bundled: PinningPolicy) -> String {
        "write \"unpinnedHosts\": \"\(bundled.unpinnedHosts.rawValue)\"; only a release can change it"
    }

    static func reportTo(_ rule: PinnedHost) -> String {
        "take the address out of \"reportTo\" of the rule for \(rule); only a release can add hosts for reports"
    }

    /// Returns the remedy for a rule that no bundled rule covers.
    ///
    /// - Parameters:
    ///   - rule: the rule of the update.
    ///   - bundled: the policy that the app ships. It allows no other hosts.
    ///   - names: the names of the rules of both policies.
    static func host(_ rule: PinnedHost, _ bundled: PinningPolicy, _ names: SuccessorNames) -> String {
        // The rule for a bundled host may cover more ports or more names than the bundled rule.
        let counterpart =
            names.bundledIndex(of: rule).map { bundled.hosts[$0] }
            ?? bundled.hosts.first { $0.host == rule.host && names.index(of: $0) == nil }
        guard let old = counterpart else {
            // Beyond the permission, an added host needs the system's roots, and pins if other hosts have no way in.
            let isPermitted =
                rule.anchors.isNoWider(than: .system)
                && (bundled.unpinnedHosts == .systemTrust || rule.withdrawalReason != nil
                    || OpenTimes(rule).isWithin(.never))
            return "take out the rule for \(rule); only apps whose bundled policy has it"
                + (isPermitted ? ", or \"updates\": {\"anyHost\": true}, take it" : " take it")
        }
        var members: [String] = []
        if old.port != rule.port { members.append(old.port.map { "\"port\": \($0)" } ?? "no \"port\"") }
        if old.includesSubdomains != rule.includesSubdomains {
            members.append("\"includeSubdomains\": \(old.includesSubdomains)")
        }
        return "give the rule for \(rule) what the bundled one for \(old) has: \(members.joined(separator: ", "))"
    }

    /// - Parameters:
    ///   - rule: the rule of the update.
    ///   - old: the bundled rule; `nil` for a host without one.
    static func anchors(_ rule: PinnedHost, as old: PinnedHost?) -> String {
        guard let old, !old.anchors.certificates.isEmpty else { return "take \"anchors\" out of the rule for \(rule)" }
        return "give the rule for \(rule) the same \"anchors\" as the bundled one for \(old)"
    }

    static func path(_ term: PathTerm, of rule: PinnedHost, as old: PinnedHost) -> String {
        let member =
            switch term {
            case .minimumPathLength: "\(old.minimumPathLength ?? 1)"
            case .issuerKey: "\"\(old.issuerKey.map(\.description) ?? "")\""
            }
        return "write \"\(term)\": \(member) into the rule for \(rule), whatever it withdraws"
    }

    static func withdrawal(of rule: PinnedHost) -> String {
        "if that is meant, say why in the rule for \(rule): \"withdraws\": \"why\""
    }

    static func coverage(of rule: PinnedHost) -> String {
        "write \"includeSubdomains\": true into the rule for \(rule), whatever it withdraws"
    }

    static func coverageOrWithdrawal(of rule: PinnedHost) -> String {
        "write \"includeSubdomains\": true into the rule for \(rule), or say why not: \"withdraws\": \"why\""
    }
}
