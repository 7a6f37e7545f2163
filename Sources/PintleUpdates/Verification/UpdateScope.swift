internal import Pintle
internal import PintlePolicyFile

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Decides whether an update stays within its scope. An update may change the pins of hosts for which the app shipped
/// rules, and may not add trust.
///
/// The comparison is by effect: for every host, sub-domain and port that either policy distinguishes, the deciding
/// rules of both policies are compared. So an update cannot widen trust indirectly, by an added rule, by a rule that no
/// longer covers sub-domains, or by a rule for a single port.
struct UpdateScope: Sendable {
    private let bundled: PinningPolicy
    private let rules: [PinnedHost]
    private let allowance: Int

    /// The longest list that a person can still read.
    private static let maximumProblems = 1_000

    /// - Parameters:
    ///   - bundled: the policy that the app ships.
    ///   - allowance: as in ``EffectiveRules``; tests make it small.
    init(bundled: PinningPolicy, allowance: Int = EffectiveRules.allowance) {
        self.bundled = bundled
        self.allowance = allowance
        rules = bundled.hosts
    }

    /// Returns everything in the update's policy that exceeds the bundled policy, in the order of the update's policy.
    ///
    /// The result does not depend on the time, so a stored update that was accepted once stays accepted.
    func problems(of policy: EmbeddedPolicy) -> [ScopeViolation] {
        var found: [ScopeViolation] = []
        if policy.unpinnedHosts != bundled.unpinnedHosts {
            found.append(
                ScopeViolation(
                    path: "unpinnedHosts",
                    message: "\(policy.unpinnedHosts.rawValue), and the bundled policy says "
                        + bundled.unpinnedHosts.rawValue,
                    help: ScopeRemedy.unpinnedHosts(bundled)))
        }
        var problems = ScopeViolations(maximum: Self.maximumProblems)
        compareEffectiveRules(policy.hosts, &problems)
        let reportHosts = Set(rules.flatMap(\.reportTo).compactMap { ServerEndpoint(httpsURL: $0)?.host })
        for (index, rule) in policy.hosts.enumerated() where !rule.reportTo.isEmpty {
            for (position, url) in rule.reportTo.enumerated() where !problems.isFull {
                guard let host = ServerEndpoint(httpsURL: url)?.host, reportHosts.contains(host) else {
                    problems.add(.reportTo(position), of: index) {
                        "the bundled policy sends no report there"
                    } help: {
                        ScopeRemedy.reportTo(rule)
                    }
                    continue
                }
            }
        }
        found += problems.all
        for problem in policy.problems where problem.id == "anchor-file-not-allowed" {
            guard found.count < Self.maximumProblems else { break }
            found.append(
                ScopeViolation(
                    path: problem.path, message: "an anchor in a file is not among those of the bundled rule",
                    help: ScopeRemedy.anchorFile))
        }
        return Array(found.prefix(Self.maximumProblems))
    }

    /// Returns the bundled hosts that the update leaves out. Without a rule they would be unpinned.
    ///
    /// - Parameter hosts: all rules of the update.
    func missingHosts(in hosts: [PinnedHost]) -> [PolicyProblem] {
        let present = Set(hosts.map(\.description))
        return rules.lazy.filter { !present.contains($0.description) }.prefix(Self.maximumProblems).map { rule in
            let other = hosts.first { $0.host == rule.host }
            return PolicyProblem(
                id: "missing-host", at: .member("hosts"),
                message: other.map {
                    "the bundled policy has a rule for \(rule)\(rule.port == nil ? " and all its ports" : ""), "
                        + "the update has one for \($0) instead"
                } ?? "the bundled policy has a rule for \(rule), the update none",
                help: "an update replaces the whole policy: repeat every rule, or say why one withdraws its pins")
        }
    }

    /// Compares the deciding rules of both policies for each class of servers.
    private func compareEffectiveRules(_ hosts: [PinnedHost], _ problems: inout ScopeViolations) {
        var search = EffectiveRules(bundled: rules, update: hosts, allowance: allowance)
        let names = SuccessorNames(hosts, bundled: rules)
        var anchors = AnchorComparison()
        let isComplete = search.visit { servers, pair in
            guard !problems.isFull else { return 0 }
            let work = anchors.work
            judge(servers, pair, of: hosts, names, &anchors, &problems)
            return anchors.work - work
        }
        if !isComplete {
            problems.addUnplaced(
                path: "hosts", message: "too many hosts times ports to compare with the bundled policy",
                help: ScopeRemedy.tooManyHosts)
        }
    }

    private func judge(
        _ servers: ServerClass, _ pair: EffectiveRules.Pair, of hosts: [PinnedHost], _ names: SuccessorNames,
        _ anchors: inout AnchorComparison, _ problems: inout ScopeViolations
    ) {
        guard let number = pair.bundled else {
            if let index = pair.update { judgeAddition(hosts[index], index, names, &anchors, &problems) }
            return
        }
        let old = rules[number]
        if let index = pair.update, hosts[index].hasSameName(as: old) {
            if !anchors.isNoWider(hosts[index].anchors, than: old.anchors) {
                addAnchors(hosts[index], index, &problems) { ScopeRemedy.anchors(hosts[index], as: old) }
            }
            addLoosened(hosts[index], index, from: number, &problems)
            return
        }
        // `missingHosts` reports bundled rules that the update leaves out.
        guard let place = names.index(of: old) else { return }
        let next = pair.update.map { hosts[$0] }
        // The update's rule with the same name may no longer cover these servers. They then fall back to a parent's
        // rule or to no rule. A rule for a host below is not such a fallback: that host is meant to have its own rule.
        if old.includesSubdomains, !hosts[place].includesSubdomains,
            servers.isBelow || servers.host != old.host, next.map({ !$0.host.isBelow(old.host) }) ?? true
        {
            judgeNarrowing(of: old, by: hosts[place], place, to: next, &anchors, &problems)
            if let index = pair.update, !covered(hosts[index], by: names.bundledIndex(of: hosts[index])) {
                // A withdrawal returns the names to a rule that covered them before. Any other rule needs a withdrawal
                // of its own.
                addLoosened(hosts[index], index, from: number, &problems)
            }
        } else if let index = pair.update {
            if !anchors.isNoWider(hosts[index].anchors, than: old.anchors) {
                problems.add(.anchors, of: index) {
                    "\(hosts[index]) would trust roots that the bundled rule for \(old) does not"
                } help: {
                    ScopeRemedy.anchors(hosts[index], as: old)
                }
            }
            addLoosened(hosts[index], index, from: number, &problems)
        }
    }

    /// Judges a rule that decides where no bundled rule does.
    private func judgeAddition(
        _ rule: PinnedHost, _ index: Int, _ names: SuccessorNames, _ anchors: inout AnchorComparison,
        _ problems: inout ScopeViolations
    ) {
        if !bundled.allowsUpdatesForAnyHost {
            problems.add(.host, of: index) {
                "no bundled rule covers \(rule)"
            } help: {
                ScopeRemedy.host(rule, bundled, names)
            }
        }
        if !anchors.isNoWider(rule.anchors, than: .system) {
            addAnchors(rule, index, &problems) {
                bundled.allowsUpdatesForAnyHost
                    ? ScopeRemedy.anchors(rule, as: nil) : ScopeRemedy.host(rule, bundled, names)
            }
        }
        // The bundled policy refuses hosts without a rule. A rule with pins may permit such a host; a rule without pins
        // may not.
        if bundled.allowsUpdatesForAnyHost, bundled.unpinnedHosts != .systemTrust, rule.withdrawalReason == nil {
            addLoosened(rule, index, to: OpenTimes(rule), from: .never, &problems)
        }
    }

    /// Judges the names below a bundled rule's host that the update's rule with the same name no longer covers.
    ///
    /// - Parameters:
    ///   - old: the bundled rule.
    ///   - rule: the update's rule with the same name.
    ///   - index: the index of that rule in the update.
    ///   - next: the rule that now decides about the names; `nil` if none does.
    ///   - anchors: the comparison of the anchors.
    ///   - problems: receives the problems.
    private func judgeNarrowing(
        of old: PinnedHost, by rule: PinnedHost, _ index: Int, to next: PinnedHost?,
        _ anchors: inout AnchorComparison, _ problems: inout ScopeViolations
    ) {
        let names = "the sub-domains of \(rule)"
        switch (next, bundled.unpinnedHosts) {
        case (let next?, _) where !anchors.isNoWider(next.anchors, than: old.anchors):
            problems.add(.includeSubdomains, of: index) {
                "\(names) would trust the roots of \(next), which the bundled rule for \(old) does not"
            } help: {
                ScopeRemedy.coverage(of: rule)
            }
        case (nil, .systemTrust) where !old.anchors.includesSystem:
            problems.add(.includeSubdomains, of: index) {
                "\(names) would trust the system's roots"
            } help: {
                ScopeRemedy.coverage(of: rule)
            }
        case (nil, .askUser):
            problems.add(.includeSubdomains, of: index) {
                "\(names) would be left to the user"
            } help: {
                ScopeRemedy.coverage(of: rule)
            }
        case (nil, .reject): break
        case _ where !(next?.pathTerms ?? PathTerms()).loosened(from: old.pathTerms).isEmpty:
            problems.add(.includeSubdomains, of: index) {
                "\(names) would lose their terms about the path, which the bundled rule for \(old) has"
            } help: {
                ScopeRemedy.coverage(of: rule)
            }
        default:
            guard rule.withdrawalReason == nil else { return }
            // Any rule refuses plain HTTP to its names, also one that only reports.
            guard next != nil || !OpenTimes.always.isWithin(OpenTimes(old)) else {
                return problems.add(.includeSubdomains, of: index) {
                    "\(names) would be left without a rule, so that plain HTTP is allowed"
                } help: {
                    ScopeRemedy.coverageOrWithdrawal(of: rule)
                }
            }
            guard !OpenTimes.always.isWithin(OpenTimes(old)) else { return }
            problems.add(.includeSubdomains, of: index) {
                next.map { "\(names) would come under the rule for \($0) instead" }
                    ?? "\(names) would lose their pins"
            } help: {
                ScopeRemedy.coverageOrWithdrawal(of: rule)
            }
        }
    }

    /// Returns whether the bundled rule with the same name covers everything that a rule of the update covers.
    private func covered(_ rule: PinnedHost, by bundled: Int?) -> Bool {
        bundled.map { rules[$0].includesSubdomains || !rule.includesSubdomains } ?? false
    }

    private func addAnchors(
        _ rule: PinnedHost, _ index: Int, _ problems: inout ScopeViolations, help: () -> String
    ) {
        problems.add(.anchors, of: index, { "\(rule) would trust roots that the bundled rule does not" }, help: help)
    }

    /// - Parameters:
    ///   - rule: the rule of the update.
    ///   - index: the index of that rule in the update.
    ///   - number: the index of the bundled rule.
    ///   - problems: receives the problems.
    private func addLoosened(
        _ rule: PinnedHost, _ index: Int, from number: Int, _ problems: inout ScopeViolations
    ) {
        // A reason to withdraw pins does not justify a shorter path or another issuer.
        for term in rule.pathTerms.loosened(from: rules[number].pathTerms) {
            problems.add(.path(term), of: index) {
                loosening(of: term, rule, from: rules[number])
            } help: {
                ScopeRemedy.path(term, of: rule, as: rules[number])
            }
        }
        guard rule.withdrawalReason == nil else { return }
        let before = OpenTimes(rules[number])
        addLoosened(rule, index, to: OpenTimes(rule), from: before, &problems)
        if rules[number].requires == .leafAndCA, rule.requires == .anyPin, rules[number].enforcement == .enforce,
            !rule.pins.isEmpty,
            !OpenTimes.always.isWithin(before)
        {
            problems.add(.requires, of: index) {
                "\(rule) would be content with one pin where two had to match"
            } help: {
                ScopeRemedy.withdrawal(of: rule)
            }
        }
    }

    /// Returns the message about a term that a rule of the update drops or lowers.
    private func loosening(of term: PathTerm, _ rule: PinnedHost, from old: PinnedHost) -> String {
        switch term {
        case .minimumPathLength:
            "\(rule) would accept shorter paths than the bundled rule for \(old), which asks for "
                + "\(old.minimumPathLength ?? 1) certificates"
        case .issuerKey: "\(rule) would accept any issuer, and the bundled rule for \(old) names one"
        }
    }

    private func addLoosened(
        _ rule: PinnedHost, _ index: Int, to after: OpenTimes, from before: OpenTimes, _ problems: inout ScopeViolations
    ) {
        guard !after.isWithin(before) else { return }
        let (kind, message): (ScopeViolations.Kind, () -> String) =
            if rule.pins.isEmpty {
                (.pins, { "\(rule) would lose its pins" })
            } else if case .from(let date) = after {
                (
                    .expiry,
                    {
                        "the pins of \(rule) would end \(RFC3339.string(from: date)), before the bundled ones do"
                    }
                )
            } else if case (.before, .before) = (after, before) {
                (.expiry, { "\(rule) would be reported only for longer than the bundled rule says" })
            } else {
                (.enforcement, { "\(rule) would no longer be enforced" })
            }
        problems.add(kind, of: index, message) { ScopeRemedy.withdrawal(of: rule) }
    }
}

extension PinnedHost {
    /// Returns whether both rules are for the same host and port.
    func hasSameName(as other: PinnedHost) -> Bool { port == other.port && host == other.host }
}

extension ServerName {
    /// Returns whether this name is below the other. Both names must be equal, or one a parent of the other.
    fileprivate func isBelow(_ other: ServerName) -> Bool { description.utf8.count > other.description.utf8.count }
}

extension TrustAnchors {
    /// Returns whether every root in these anchors is also in `other`.
    func isNoWider(than other: TrustAnchors) -> Bool {
        guard other.includesSystem || !includesSystem else { return false }
        return certificates.isEmpty || certificates == other.certificates
            || Set(certificates).isSubset(of: other.certificates)
    }
}
