internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Decides what an update may do: change the pins of hosts that the app shipped rules for, and nothing that adds trust.
///
/// The rules of the two policies are compared where they take effect: for every host, names below it and port that
/// either policy tells apart. So it does not matter by which way a server comes under another rule: a rule that is added, one
/// that no longer covers names below its host, or one for a port.
struct UpdateScope: Sendable {
    private let bundled: PinningPolicy
    private let rules: [PinnedHost]
    private let reportHosts: Set<ServerName>
    private let allowance: Int

    /// A list that a person can still read.
    private static let maximumViolations = 1_000

    /// - Parameter allowance: as ``EffectiveRules`` has it; tests make it small.
    init(bundled: PinningPolicy, allowance: Int = EffectiveRules.allowance) {
        self.bundled = bundled
        self.allowance = allowance
        rules = Array(bundled.hosts)
        var reportHosts: Set<ServerName> = []
        for rule in rules {
            for url in rule.reportTo {
                if let host = ServerEndpoint(httpsURL: url)?.host { reportHosts.insert(host) }
            }
        }
        self.reportHosts = reportHosts
    }

    /// Everything that goes beyond the bundled policy, in the order of the update's policy.
    ///
    /// The result does not depend on the time, so a stored update that was once accepted stays accepted.
    func violations(of policy: EmbeddedPolicy) -> [ScopeViolation] {
        violations(of: policy, comparing: repeatsNames(policy.hosts) ? repeatedRules : effectiveRules)
    }

    /// - Parameter compare: finds what ``repeatedRules(_:_:)`` or ``effectiveRules(_:_:)`` finds.
    func violations(
        of policy: EmbeddedPolicy, comparing compare: ([PinnedHost], inout ScopeFindings) -> Void
    ) -> [ScopeViolation] {
        var violations: [ScopeViolation] = []
        if policy.unpinnedHosts != bundled.unpinnedHosts {
            violations.append(
                ScopeViolation(
                    path: "unpinnedHosts",
                    message: "\(policy.unpinnedHosts.rawValue), and the bundled policy says "
                        + bundled.unpinnedHosts.rawValue))
        }
        var findings = ScopeFindings(maximum: Self.maximumViolations)
        compare(policy.hosts, &findings)
        for (index, rule) in policy.hosts.enumerated() where !rule.reportTo.isEmpty {
            for (position, url) in rule.reportTo.enumerated() where !findings.isFull {
                guard let host = ServerEndpoint(httpsURL: url)?.host, reportHosts.contains(host) else {
                    findings.add(.reportTo(position), of: index) { "the bundled policy sends no report there" }
                    continue
                }
            }
        }
        violations += findings.violations
        for problem in policy.problems where problem.id == "anchor-file-not-allowed" {
            guard violations.count < Self.maximumViolations else { break }
            violations.append(
                ScopeViolation(path: problem.path, message: "an anchor in a file is not among those of the bundled rule"))
        }
        return Array(violations.prefix(Self.maximumViolations))
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
                id: "missing-host", at: .member("hosts"),
                message: "the bundled policy has a rule for \(rule), the update none",
                help: "an update replaces the whole policy: repeat every rule, or say why one withdraws its pins")
        }
    }

    /// Returns whether the update has the bundled rules' hosts, ports and sub-domains, in their order. Then each of its
    /// rules decides exactly where the bundled rule of the same number does. Most updates only change pins.
    func repeatsNames(_ hosts: [PinnedHost]) -> Bool {
        hosts.count == rules.count
            && hosts.indices.allSatisfy {
                rules[$0].includesSubdomains == hosts[$0].includesSubdomains && rules[$0].hasSameName(as: hosts[$0])
            }
    }

    /// Compares each rule with the bundled rule of the same number: right for updates that ``repeatsNames(_:)``.
    func repeatedRules(_ hosts: [PinnedHost], _ findings: inout ScopeFindings) {
        // By number: a rule that is taken out of its array is copied with all that it holds.
        for index in hosts.indices.prefix(rules.count) where !findings.isFull {
            if !hosts[index].anchors.isNoWider(than: rules[index].anchors) {
                addAnchors(hosts[index], index, &findings)
            }
            addLoosened(hosts[index], index, from: index, &findings)
        }
    }

    /// Compares the rules that decide, for all servers that one of the policies tells apart.
    func effectiveRules(_ hosts: [PinnedHost], _ findings: inout ScopeFindings) {
        var search = EffectiveRules(bundled: rules, update: hosts, allowance: allowance)
        var names = SuccessorNames(hosts, bundled: rules)
        var anchors = AnchorComparison()
        let isComplete = search.visit { servers, pair in
            guard !findings.isFull else { return 0 }
            let work = anchors.work
            judge(servers, pair, of: hosts, &names, &anchors, &findings)
            return anchors.work - work
        }
        if !isComplete {
            findings.addUnplaced(
                path: "hosts", message: "too many hosts times ports to compare with the bundled policy")
        }
    }

    private func judge(
        _ servers: ServerClass, _ pair: EffectiveRules.Pair, of hosts: [PinnedHost], _ names: inout SuccessorNames,
        _ anchors: inout AnchorComparison, _ findings: inout ScopeFindings
    ) {
        guard let number = pair.bundled else {
            if let index = pair.update { judgeAddition(hosts[index], index, &anchors, &findings) }
            return
        }
        let old = rules[number]
        if let index = pair.update, hosts[index].hasSameName(as: old) {
            if !anchors.isNoWider(hosts[index].anchors, than: old.anchors) {
                addAnchors(hosts[index], index, &findings)
            }
            addLoosened(hosts[index], index, from: number, &findings)
            return
        }
        // `missingHosts` reports a bundled rule that the update leaves out.
        guard let place = names.index(of: old) else { return }
        let next = pair.update.map { hosts[$0] }
        // The update's rule of the same name may no longer cover these servers, so that they fall to a parent's rule or
        // to none. A rule for a host below is no such fall: the update has it to decide there.
        if old.includesSubdomains, !hosts[place].includesSubdomains,
            servers.isBelow || servers.host != old.host, next.map({ !$0.host.isBelow(old.host) }) ?? true
        {
            judgeNarrowing(of: old, by: hosts[place], place, to: next, &anchors, &findings)
            if let index = pair.update, !covered(hosts[index], by: names.bundledIndex(of: hosts[index])) {
                // A withdrawal hands the names back to a rule that already covered them. Another rule needs its own.
                addLoosened(hosts[index], index, from: number, &findings)
            }
        } else if let index = pair.update {
            if !anchors.isNoWider(hosts[index].anchors, than: old.anchors) {
                findings.add(.anchors, of: index) {
                    "\(hosts[index]) would trust roots that the bundled rule for \(old) does not"
                }
            }
            addLoosened(hosts[index], index, from: number, &findings)
        }
    }

    /// A rule that decides where no bundled rule does.
    private func judgeAddition(
        _ rule: PinnedHost, _ index: Int, _ anchors: inout AnchorComparison, _ findings: inout ScopeFindings
    ) {
        if !bundled.allowsUpdatesForAnyHost {
            findings.add(.host, of: index) { "no bundled rule covers \(rule)" }
        }
        if !anchors.isNoWider(rule.anchors, than: .system) { addAnchors(rule, index, &findings) }
        // Where the bundled policy refuses a host, a pin may let it in, and nothing less.
        if bundled.allowsUpdatesForAnyHost, bundled.unpinnedHosts != .systemTrust, rule.withdrawalReason == nil {
            addLoosened(rule, index, to: OpenTimes(rule), from: .never, &findings)
        }
    }

    /// The names below a bundled rule's host, which the update's rule of the same name no longer covers.
    ///
    /// - Parameter next: the rule that decides about them in its place, if one does.
    private func judgeNarrowing(
        of old: PinnedHost, by rule: PinnedHost, _ index: Int, to next: PinnedHost?,
        _ anchors: inout AnchorComparison, _ findings: inout ScopeFindings
    ) {
        let names = "the sub-domains of \(rule)"
        switch (next, bundled.unpinnedHosts) {
        case (let next?, _) where !anchors.isNoWider(next.anchors, than: old.anchors):
            findings.add(.includeSubdomains, of: index) {
                "\(names) would trust the roots of \(next), which the bundled rule for \(old) does not"
            }
        case (nil, .systemTrust) where !old.anchors.includesSystem:
            findings.add(.includeSubdomains, of: index) { "\(names) would trust the system's roots" }
        case (nil, .askUser):
            findings.add(.includeSubdomains, of: index) { "\(names) would be left to the user" }
        case (nil, .reject): break
        case _ where (next?.pathTerms ?? .none).firstLoosened(from: old.pathTerms) != nil:
            findings.add(.includeSubdomains, of: index) {
                "\(names) would lose their terms about the path, which the bundled rule for \(old) has"
            }
        default:
            guard rule.withdrawalReason == nil, !OpenTimes.always.isWithin(OpenTimes(old)) else { return }
            findings.add(.includeSubdomains, of: index) { "\(names) would lose their pins\(Self.remedy)" }
        }
    }

    /// Returns whether the bundled rule of the same name covers everything that a rule of the update covers.
    private func covered(_ rule: PinnedHost, by bundled: Int?) -> Bool {
        bundled.map { rules[$0].includesSubdomains || !rule.includesSubdomains } ?? false
    }

    private func addAnchors(_ rule: PinnedHost, _ index: Int, _ findings: inout ScopeFindings) {
        findings.add(.anchors, of: index) { "\(rule) would trust roots that the bundled rule does not" }
    }

    /// - Parameter number: of the bundled rule.
    private func addLoosened(
        _ rule: PinnedHost, _ index: Int, from number: Int, _ findings: inout ScopeFindings
    ) {
        // No reason to withdraw pins makes a shorter path or another authority a good one.
        if rule.pathTerms.isShorter(than: rules[number].pathTerms) {
            findings.add(.minimumPathLength, of: index) {
                "\(rule) would accept shorter paths than the bundled rule for \(rules[number]), which asks for "
                    + "\(rules[number].minimumPathLength ?? 1) certificates"
            }
        }
        if rule.pathTerms.dropsIssuer(of: rules[number].pathTerms) {
            findings.add(.issuerKey, of: index) {
                "\(rule) would accept any issuer, and the bundled rule for \(rules[number]) names one"
            }
        }
        guard rule.withdrawalReason == nil else { return }
        let before = OpenTimes(rules[number])
        addLoosened(rule, index, to: OpenTimes(rule), from: before, &findings)
        if rules[number].requires == .leafAndCA, rule.requires == .anyPin, rules[number].enforcement == .enforce,
            !rule.pins.isEmpty,
            !OpenTimes.always.isWithin(before)
        {
            findings.add(.requires, of: index) {
                "\(rule) would be content with one pin where two had to match\(Self.remedy)"
            }
        }
    }

    private func addLoosened(
        _ rule: PinnedHost, _ index: Int, to after: OpenTimes, from before: OpenTimes, _ findings: inout ScopeFindings
    ) {
        guard !after.isWithin(before) else { return }
        if rule.pins.isEmpty {
            findings.add(.pins, of: index) { "\(rule) would lose its pins\(Self.remedy)" }
        } else if case .from(let date) = after {
            findings.add(.expiry, of: index) {
                "the pins of \(rule) would end \(RFC3339.string(from: date)), before the bundled ones do\(Self.remedy)"
            }
        } else if case (.before, .before) = (after, before) {
            findings.add(.expiry, of: index) {
                "\(rule) would be reported only for longer than the bundled rule says\(Self.remedy)"
            }
        } else {
            findings.add(.enforcement, of: index) { "\(rule) would no longer be enforced\(Self.remedy)" }
        }
    }

    private static let remedy = "; say why in \"withdraws\""
}

extension PinnedHost {
    /// Whether both are for the same host and port.
    func hasSameName(as other: PinnedHost) -> Bool { port == other.port && host == other.host }
}

extension ServerName {
    /// For two names of which one is the other, or a parent of it.
    fileprivate func isBelow(_ other: ServerName) -> Bool { description.utf8.count > other.description.utf8.count }
}

extension TrustAnchors {
    /// Whether every root in it is in `other` too.
    func isNoWider(than other: TrustAnchors) -> Bool {
        guard other.includesSystem || !includesSystem else { return false }
        return certificates.isEmpty || certificates == other.certificates
            || Set(certificates).isSubset(of: other.certificates)
    }
}
