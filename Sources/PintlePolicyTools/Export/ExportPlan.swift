internal import Pintle
internal import PintleConsole
internal import PintleSystem

/// A policy reduced to the features of a format, with every loss.
///
/// The writers of the formats write exactly these rules and lose nothing more.
struct ExportPlan {
    let format: ForeignFormat
    /// The rules that are written, in the order of the policy.
    private(set) var rules: [ExportRule] = []
    private(set) var losses = LossList()
    /// Rules that pin in one list, and their parents, which add the other list.
    private(set) var pooledLists: [(rule: ExportRule, parent: ExportRule)] = []
    private let traits: FormatTraits
    /// The position of a pin that has none; `nil` for a pin that matches anywhere.
    private let positionless: PinPosition?
    private let libraries: any Libraries

    /// - Parameter positionless: `.leaf` or `.ca`, if the author knows the position of pins without one.
    init(
        _ policy: PinningPolicy, to format: ForeignFormat, _ libraries: any Libraries, positionless: PinPosition? = nil
    ) {
        self.format = format
        self.libraries = libraries
        traits = format.traits
        self.positionless = positionless
        loseTerms(of: policy)
        let hosts = policy.hosts
        for index in selection(of: policy) {
            let host = hosts[index]
            // A rule for every port is written for port 443. If another rule decides there, it has no entry, and loses
            // all.
            let isEveryPort = traits.hasPorts && host.port == nil
            let isOverruled = isEveryPort && policy.rule(for: ServerEndpoint(host: host.host))?.index != index
            let message = isOverruled ? "another rule decides at port 443" : "only an entry for port 443 is written"
            guard var rule = cut(host, index, isEveryPort ? message : nil) else { continue }
            if !isOverruled {
                rules.append(rule)
            } else if rule.includesSubdomains {
                loseSubdomains(&rule)
            }
        }
        relate()
        if let reach = format.reach { lose(.stacks, .other, reach) }
    }

    /// Returns whether a policy has pins without a position that the format cannot keep.
    static func needsPositions(_ policy: PinningPolicy, for format: ForeignFormat) -> Bool {
        guard format.traits.positions == .leafAndCA else { return false }
        return policy.hosts.contains { host in
            host.enforcement == .enforce
                && (host.pins + host.backupPins).contains { $0.key != nil && $0.position == .any }
        }
    }

    mutating func lose(
        _ kind: PolicyLoss.Kind, _ effect: PolicyLoss.Effect, _ message: String, _ rule: ExportRule? = nil
    ) {
        losses.add(kind, effect, message, rule?.name)
    }

    // MARK: The policy as a whole

    private mutating func loseTerms(of policy: PinningPolicy) {
        switch policy.unpinnedHosts {
        case .systemTrust: break
        case .reject: lose(.unpinnedHosts, .weaker, "hosts without a rule are left to the system, not refused")
        case .askUser:
            lose(.unpinnedHosts, .weaker, "hosts without a rule are left to the system, and the user is not asked")
        }
        if policy.updateVersion > 0 || policy.allowsUpdatesForAnyHost {
            lose(.updates, .other, "there are no signed updates, so their version and scope are left out")
        }
    }

    // MARK: Ports

    /// Returns the rules that are kept: for a format without ports, one for each host.
    private mutating func selection(of policy: PinningPolicy) -> [Int] {
        let hosts = policy.hosts
        if traits.hasPorts { return Array(hosts.indices) }
        var ports: Set<UInt16> = []
        var chosen: [ServerName: Int] = [:]
        var order: [ServerName] = []
        for (index, host) in hosts.enumerated() {
            if let port = host.port { ports.insert(port) }
            if let known = chosen[host.host] {
                if Self.isPreferred(host.port, to: hosts[known].port) { chosen[host.host] = index }
            } else {
                chosen[host.host] = index
                order.append(host.host)
            }
        }
        if ports.isEmpty { return Array(hosts.indices) }
        for (index, host) in hosts.enumerated() {
            guard let kept = chosen[host.host], kept != index else { continue }
            if !host.hasTerms(of: hosts[kept]) {
                exchange("there are no ports: another rule for the same host decides in its place", host)
            }
        }
        for host in order {
            guard let index = chosen[host] else { continue }
            let rule = hosts[index]
            if rule.port != nil {
                losses.add(.port, .stricter, "there are no ports: the rule holds for all of them", rule.description)
                loseOtherPorts(of: rule, in: policy, named: ports)
            }
            // A rule with a port decides before a rule without one, also if the other name is longer.
            let overruled = ports.contains { port in
                guard let choice = policy.rule(for: ServerEndpoint(host: host, port: port)) else { return false }
                return hosts[choice.index].host != host
            }
            if overruled { exchange("there are no ports: this rule decides where one with a port came first", rule) }
        }
        return order.compactMap { chosen[$0] }
    }

    /// Reports a rule for one port that now decides for other ports too, which another rule or no rule decided before.
    private mutating func loseOtherPorts(of rule: PinnedHost, in policy: PinningPolicy, named ports: Set<UInt16>) {
        guard let other = (1...UInt16.max).first(where: { !ports.contains($0) }) else { return }
        if let choice = policy.rule(for: ServerEndpoint(host: rule.host, port: other)) {
            if choice.host != rule.host {
                exchange("there are no ports: this rule decides where one without a port did", rule)
            }
        } else if !rule.anchors.certificates.isEmpty, traits.anchors != .none {
            losses.add(
                .port, .weaker, "there are no ports: private roots count where the system's trust decided",
                rule.description)
        }
    }

    /// Reports a rule that replaces another: each accepts servers that the other refuses.
    private mutating func exchange(_ message: String, _ rule: PinnedHost) {
        for effect in [PolicyLoss.Effect.weaker, .stricter] {
            losses.add(.portRule, effect, message, rule.description)
        }
    }

    /// Returns 443, else every port, else the lowest port.
    private static func isPreferred(_ port: UInt16?, to other: UInt16?) -> Bool {
        func rank(_ port: UInt16?) -> Int { port == 443 ? -2 : port.map(Int.init) ?? -1 }
        return rank(port) < rank(other)
    }

    // MARK: A rule by itself

    /// Returns the rule in the foreign format; `nil` if the format can say nothing of it.
    ///
    /// - Parameter message: the reason why an entry is not for every port; `nil` if the rule has a port.
    private mutating func cut(_ host: PinnedHost, _ index: Int, _ message: String?) -> ExportRule? {
        var rule = ExportRule(host, index: index)
        for term in host.pathTerms.effective {
            let loss = term.loss
            lose(loss.kind, .weaker, loss.message, rule)
        }
        guard holdsName(of: rule) else {
            let names = traits.hasLabels ? "addresses" : "addresses and names of one label"
            leaveOut(rule, .address, "\(names) are left out")
            return nil
        }
        if let reason = refusal(of: rule) {
            leaveOut(rule, .name, reason)
            return nil
        }
        if let message { loseEveryPort(message, rule) }
        if !host.backupPins.isEmpty { lose(.backups, .other, "which pins are backups is not kept", rule) }
        if host.withdrawalReason != nil { lose(.updates, .other, "the reason for withdrawn pins is left out", rule) }
        loseReports(&rule)
        loseAnchors(&rule)
        loseEnforcement(&rule)
        if rule.isPinned {
            loseCertificatePins(&rule)
            placePins(&rule)
            loseExpiry(&rule)
        }
        if rule.isPinned, rule.includesSubdomains, rule.host.description.utf8.count > traits.longestParent {
            let limit = traits.longestParent
            lose(.subdomains, .weaker, "names of more than \(limit) characters have no pattern for sub-domains", rule)
            rule.includesSubdomains = false
        }
        if rule.isPinned, rule.enforcement == .enforce, rule.keys.count + rule.fingerprints.count < traits.minimumPins {
            lose(.tooFewPins, .other, "at least two pins are required: the second one is not the hash of a key", rule)
        }
        return rule
    }

    private mutating func loseEveryPort(_ message: String, _ rule: ExportRule) {
        if rule.refuses {
            lose(.port, .weaker, "\(message): at others the system's trust decides", rule)
        }
        if !rule.anchors.certificates.isEmpty {
            lose(.port, .stricter, "\(message): at others private roots do not count", rule)
        }
        if !rule.refuses, rule.anchors == .system { lose(.port, .other, message, rule) }
    }

    private func holdsName(of rule: ExportRule) -> Bool {
        if rule.host.ipAddress != nil { return traits.hasAddresses }
        return traits.hasLabels || rule.host.labels.count > 1
    }

    /// Returns the reason why the target refuses a file with this rule.
    private func refusal(of rule: ExportRule) -> String? {
        guard traits.hasOnlyRegisteredNames, rule.isPinned else { return nil }
        return switch TrustKitName(rule.host, isSuffix: libraries.isListedSuffix) {
        case .unknown:
            "TrustKit ends the app at launch for names below no top-level domain that it knows: they are left out"
        case .suffix where rule.includesSubdomains:
            "TrustKit ends the app at launch for public suffixes with sub-domains: they are left out"
        case .suffix, .registered: nil
        }
    }

    /// The error if nothing would be pinned: no rule has a pin or a private root.
    var refusal: ToolError? {
        guard rules.allSatisfy({ !$0.isPinned && $0.anchors == .system }) else { return nil }
        let names = losses.losses.filter { $0.kind == .name || $0.kind == .address }.flatMap(\.hosts)
        let reporting = losses.losses.filter { $0.kind == .reportOnly }.flatMap(\.hosts)
        let end = traits.refusesNoRules ? "ends the app at launch if no host is pinned" : "would pin no host"
        let reason = names.isEmpty ? "" : ", and it cannot hold \(names.prefix(3).joined(separator: ", "))"
        let kind = traits.hasOnlyRegisteredNames ? "under a public top-level domain" : "with a dot"
        return .unusable(
            "nothing-pinned", "nothing is written: \(format.title) \(end)\(reason)",
            hint: !names.isEmpty
                ? "pin a name \(kind), or pin the others with a policy or --as swift"
                : reporting.isEmpty
                    ? "give a rule a pin of a key: pintle pin HOST"
                    : "write \"enforcement\": \"enforce\" for \(reporting.prefix(3).joined(separator: ", ")): "
                        + "\(format.title) has no pins that only report")
    }

    private mutating func leaveOut(_ rule: ExportRule, _ kind: PolicyLoss.Kind, _ message: String) {
        if rule.refuses {
            lose(kind, .weaker, "\(message): the system's trust decides", rule)
        }
        if !rule.anchors.certificates.isEmpty {
            lose(kind, .stricter, "\(message): private roots do not count", rule)
        }
        if !rule.refuses, rule.anchors.certificates.isEmpty { lose(kind, .other, message, rule) }
    }

    private mutating func loseReports(_ rule: inout ExportRule) {
        guard rule.reportTo.count > traits.maximumReports else { return }
        let rest = traits.maximumReports == 0 ? "no reports are sent" : "reports go only to the first address"
        lose(.reports, .other, rest, rule)
        rule.reportTo = Array(rule.reportTo.prefix(traits.maximumReports))
    }

    private mutating func loseAnchors(_ rule: inout ExportRule) {
        guard rule.anchors != .system else { return }
        switch traits.anchors {
        case .both: return
        case .either:
            guard rule.anchors.includesSystem, !rule.anchors.certificates.isEmpty else { return }
            lose(.anchors, .stricter, "the system's roots do not count beside private ones", rule)
            rule.anchors = .only(rule.anchors.certificates)
        case .none:
            if !rule.anchors.includesSystem {
                lose(.anchors, .weaker, "the system's roots count: a private root cannot be the only one", rule)
            }
            lose(
                .anchors, .stricter, "private roots are left out: paths to them are valid where a device has them", rule
            )
            rule.anchors = .system
        }
    }

    private mutating func loseEnforcement(_ rule: inout ExportRule) {
        guard rule.isPinned, rule.enforcement == .reportOnly, !traits.hasReportOnly else { return }
        lose(
            .reportOnly, .other,
            "reporting without enforcing is not possible: the pins are left out, and mismatches are not reported", rule
        )
        if case .rejecting = rule.expiry {
            lose(.expiry, .weaker, "after the pins' date the system's trust decides, and nothing is refused", rule)
        }
        rule.unpin()
    }

    private mutating func loseExpiry(_ rule: inout ExportRule) {
        guard let date = rule.expiry.date else { return }
        let rejects = if case .rejecting = rule.expiry { true } else { false }
        if traits.expiry == .none {
            if rejects {
                lose(.expiry, .weaker, "pins do not expire: they are still accepted after their date", rule)
            } else {
                lose(.expiry, .stricter, "pins do not expire: apps without updates are locked out one day", rule)
            }
            rule.expiry = .never
            return
        }
        if rejects {
            lose(.expiry, .weaker, "after the pins' date the system's trust decides, and nothing is refused", rule)
        }
        let day = (date.timeIntervalSince1970 / 86_400).rounded(.up) * 86_400
        if day != date.timeIntervalSince1970 {
            // Pins that are not enforced refuse nothing, and a rule that refuses without them does so only later.
            let effect: PolicyLoss.Effect = rejects ? .weaker : rule.enforcement == .enforce ? .stricter : .other
            lose(.expiryTime, effect, "pins end with the day, not at a time of day", rule)
        }
        if traits.expiry == .localDay {
            lose(
                .expiryTime, .other,
                "pins end at midnight in the device's time zone: up to 14 hours earlier, or 12 later",
                rule)
        }
        rule.expiry = .systemTrust(after: Date(timeIntervalSince1970: day))
    }

    // MARK: Pins

    /// Names a loss of pins, which changes no decision if the rule only reports.
    private mutating func losePins(
        _ kind: PolicyLoss.Kind, _ effect: PolicyLoss.Effect, _ message: String, _ rule: ExportRule
    ) {
        lose(kind, rule.enforcement == .enforce ? effect : .other, message, rule)
    }

    private mutating func loseCertificatePins(_ rule: inout ExportRule) {
        guard !traits.hasCertificatePins, !rule.fingerprints.isEmpty else { return }
        drop(.certificatePins, "certificates cannot be pinned", from: &rule) { $0.fingerprint != nil }
    }

    /// Removes pins. Servers are refused as long as other pins are left; if none is left, all are accepted.
    private mutating func drop(
        _ kind: PolicyLoss.Kind, _ reason: String, from rule: inout ExportRule,
        where isDropped: (Pin) -> Bool
    ) {
        let kept = rule.pins.filter { !isDropped($0) }
        guard kept.count < rule.pins.count else { return }
        if kept.isEmpty {
            let effect: PolicyLoss.Effect = rule.refuses ? .weaker : .other
            lose(kind, effect, "\(reason), and there are no others: nothing is pinned", rule)
            return rule.unpin()
        }
        let keptPositions = Set(kept.map(\.position))
        let droppedPositions = Set(rule.pins.filter(isDropped).map(\.position))
        var isStricter = true
        if rule.requires == .leafAndCA, keptPositions.count < 2 {
            losePins(.requires, .weaker, "\(reason): of the pins for leaf and ca one kind is left", rule)
            rule.requires = .anyPin
            isStricter = !droppedPositions.isDisjoint(with: keptPositions)
        } else if rule.requires == .leafAndCA, traits.positions == .anywhere {
            // A server that matched by a dropped pin also matched by one of the other kind.
            isStricter = droppedPositions.count > 1
        }
        if isStricter {
            losePins(kind, .stricter, "\(reason): servers that match only by those pins are refused", rule)
        }
        rule.pins = kept
    }

    private mutating func placePins(_ rule: inout ExportRule) {
        guard rule.isPinned else { return }
        if traits.positions != .anywhere, let positionless, rule.pins.contains(where: { $0.position == .any }) {
            let risk = positionless == .leaf ? ": if they are authorities', every server is refused" : ""
            losePins(
                .position, .stricter, "pins without a position are taken for those of \(positionless.phrase)\(risk)",
                rule)
            rule.pins = rule.pins.map { $0.position == .any ? Pin($0.subject, at: positionless) : $0 }
        }
        switch traits.positions {
        case .anywhere: forgetPositions(&rule)
        case .leafAndCA:
            if rule.requires == .anyPin, Set(rule.pins.map(\.position)).count > 1 {
                losePins(.requires, .stricter, "a leaf and a ca must match, where one pin would have been enough", rule)
                rule.requires = .leafAndCA
                rule.isTightened = true
            }
        case .leaf: limitPinsToLeaf(&rule)
        }
    }

    private mutating func forgetPositions(_ rule: inout ExportRule) {
        if rule.requires == .leafAndCA {
            losePins(.requires, .weaker, "one pin is enough, where a leaf and a ca had to match", rule)
            rule.requires = .anyPin
        }
        guard rule.pins.contains(where: { $0.position != .any }) else { return }
        let positions = Dictionary(grouping: rule.pins, by: \.subject).values.map { Set($0.map(\.position)) }
        if positions.contains(where: { !$0.contains(.any) && $0.count < 2 }) {
            losePins(.position, .weaker, "a pin matches anywhere on the path, whatever its position", rule)
        }
        rule.pins = rule.pins.map { Pin($0.subject) }
    }

    private mutating func limitPinsToLeaf(_ rule: inout ExportRule) {
        drop(.position, "pins of a ca cannot be compared", from: &rule) { $0.position == .ca }
        guard rule.isPinned, rule.pins.contains(where: { $0.position == .any }) else { return }
        losePins(
            .position, .stricter,
            "pins are compared with the leaf only: if they are authorities', every server is refused", rule)
        rule.pins = rule.pins.map { Pin($0.subject, at: .leaf) }
    }

    // MARK: Rules together

    private mutating func relate() {
        let places = Dictionary(rules.enumerated().map { ($1.host, $0) }) { first, _ in first }
        var kept: [ExportRule] = []
        for var rule in rules {
            let parents = parents(of: rule, places)
            if rule.includesSubdomains { loseSubdomains(&rule) }
            if rule.isPinned {
                losePooling(rule, parents)
                kept.append(rule)
            } else if needsEntry(&rule, isUnderPins: !parents.isEmpty) {
                kept.append(rule)
            }
        }
        rules = kept
    }

    /// Names the pins of parent domains that join those of a rule. The effect is that of the joined pins on the host.
    private mutating func losePooling(_ rule: ExportRule, _ parents: [ExportRule]) {
        let message = "the pins of the parent domain are accepted too"
        switch traits.pooling {
        case .none: break
        case .pins:
            if parents.contains(where: { !Set($0.keys).isSubset(of: rule.keys) }) {
                lose(.pooling, .weaker, message, rule)
            }
        case .lists:
            guard let parent = parents.first else { return }
            let lists = [PinPosition.leaf, .ca].map { (own: Set(rule.keys(at: $0)), added: Set(parent.keys(at: $0))) }
            // If one pin was enough, a server that the policy refuses needs new pins in both lists.
            let grown = lists.count { !$0.own.isEmpty && !$0.added.isSubset(of: $0.own) }
            if grown > (rule.isTightened ? 1 : 0) {
                lose(.pooling, .weaker, message, rule)
            }
            if lists.contains(where: { $0.own.isEmpty && !$0.added.isEmpty }) {
                pooledLists.append((rule, parent))
                lose(
                    .pooling, .stricter, "the parent domain pins in the other list, and both lists must match", rule)
            }
        }
    }

    /// Returns the rules with pins that would apply to the host if it had none of its own, nearest first.
    private func parents(of rule: ExportRule, _ places: [ServerName: Int]) -> [ExportRule] {
        guard traits.subdomains != .none else { return [] }
        var labels = rule.host.labels[...]
        var found: [ExportRule] = []
        while labels.count > 1 {
            labels = labels.dropFirst()
            if let name = try? ServerName(labels.joined(separator: ".")), let place = places[name] {
                let parent = rules[place]
                if parent.isPinned, parent.includesSubdomains { found.append(parent) }
            }
            if traits.subdomains == .oneLabel { break }
        }
        return found
    }

    private mutating func loseSubdomains(_ rule: inout ExportRule) {
        switch traits.subdomains {
        case .everyDepth: break
        case .oneLabel:
            guard rule.isPinned else { return }
            lose(.subdomains, .weaker, "only sub-domains that are one label longer are pinned", rule)
        case .none:
            if rule.isPinned || !rule.anchors.includesSystem {
                lose(.subdomains, .weaker, "sub-domains have no entry: the system's trust decides", rule)
            }
            if !rule.anchors.certificates.isEmpty {
                lose(.subdomains, .stricter, "sub-domains have no entry: private roots do not count", rule)
            }
            rule.includesSubdomains = false
        }
    }

    /// Returns whether a rule without pins has an entry. If no pins would apply to the host anyway, it needs none.
    private mutating func needsEntry(_ rule: inout ExportRule, isUnderPins: Bool) -> Bool {
        switch traits.exclusions {
        case .full:
            return true
        case .hostAlone where isUnderPins:
            if rule.includesSubdomains {
                lose(
                    .exclusion, .stricter, "the host is excluded from its parent's pins, its sub-domains are not", rule)
                rule.includesSubdomains = false
            }
            return true
        case .none where isUnderPins:
            lose(.exclusion, .stricter, "a host cannot be excluded from its parent's pins: they apply to it", rule)
            return false
        case .none, .hostAlone: return false
        }
    }
}

extension PinPosition {
    fileprivate var phrase: String { self == .ca ? "a ca" : "the leaf" }
}

extension PinnedHost {
    /// Returns whether it demands the same as another rule, on any port.
    fileprivate func hasTerms(of other: PinnedHost) -> Bool {
        includesSubdomains == other.includesSubdomains && Set(pins + backupPins) == Set(other.pins + other.backupPins)
            && requires == other.requires && expiry == other.expiry && enforcement == other.enforcement
            && anchors == other.anchors && pathTerms == other.pathTerms
    }
}
