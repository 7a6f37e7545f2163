internal import Pintle
internal import PintleConsole
internal import PintleText

/// Finds rules that would refuse every server in a format: those that pin authorities, where pins are compared with the
/// leaf, and those of which only backups would be written.
enum ExportLockOut {
    /// This many pins in use without a backup are taken for those of authorities: no server changes among five keys of
    /// its own.
    static let authorityCount = 5
    /// Pins in rules for this many domains, without a backup, are taken for those of authorities.
    static let domainCount = 4

    /// Looks for pins of authorities. The loss `position` names the rules for which the answer is uncertain.
    ///
    /// - Parameter stated: the position that the author gives to pins without one; `nil` if the author gives none.
    /// - Returns: the error; `nil` if no rule locks out.
    static func byAuthorities(
        in policy: PinningPolicy, to format: ForeignFormat, stated: PinPosition?
    ) -> ToolError? {
        let positions = format.traits.positions
        guard positions != .anywhere else { return nil }
        let shared = stated == nil ? sharedPins(policy) : []
        let hosts = policy.hosts.filter { host in
            guard host.enforcement == .enforce, !host.pins.isEmpty else { return false }
            if positions == .leaf, host.pins.allSatisfy({ $0.position(stated: stated) == .ca }) { return true }
            return stated == nil && isList(host, shared)
        }
        guard !hosts.isEmpty else { return nil }
        // No option changes a position that the policy states.
        let fixed = hosts.first { $0.pins.allSatisfy { $0.position == .ca } }
        let remedy = "if the pins are servers' own keys, say so: --pins-at leaf"
        let others = hosts.contains { $0.pins.contains { $0.position != .ca } } ? "\(remedy), for the others; " : ""
        return error(
            "\(format.title) would compare pins of authorities with the leaf and refuse every server of",
            hosts.map(\.description),
            hint: positions == .leaf
                ? "\(format.title) cannot pin an authority; "
                    + (fixed.map {
                        "\(others)add the server's own key to the rule: pintle pin \(ShellWord.quoted("\($0)"))"
                    }
                        ?? remedy)
                : "say whose keys the pins without a position are: --pins-at ca for authorities, "
                    + "--pins-at leaf for servers")
    }

    /// Looks for rules of which the format would get backups, but no pin in use.
    ///
    /// - Parameters:
    ///   - policy: the policy that `plan` reduces.
    ///   - stated: the position that the plan gives to pins without one.
    /// - Returns: the error; `nil` if no rule locks out.
    static func byBackups(in plan: ExportPlan, of policy: PinningPolicy, stated: PinPosition?) -> ToolError? {
        let rules = plan.rules.filter { $0.isPinned && $0.enforcement == .enforce }
        let hosts = policy.hosts
        func names(where isLockedOut: (ExportRule, PinnedHost) -> Bool) -> [String] {
            rules.filter { isLockedOut($0, hosts[$0.index]) }.map(\.name)
        }
        let withoutPins = names { rule, host in
            let inUse = Set(host.pins.map(\.subject))
            return rule.pins.allSatisfy { !inUse.contains($0.subject) }
        }
        guard withoutPins.isEmpty else {
            return error(
                "\(plan.format.title) would get only backups, which no server shows yet, and refuse every server of",
                withoutPins, hint: "pin a key in use that the format can hold: pintle pin prints the key of a server")
        }
        guard plan.format.traits.positions == .leafAndCA else { return nil }
        let withoutList = names { rule, host in
            let inUse = Set(host.pins.map { Pin($0.subject, at: $0.position(stated: stated)) })
            return Set(rule.pins.map(\.position)).count > 1
                && Set(rule.pins.filter { inUse.contains($0) }.map(\.position)).count < 2
        }
        guard !withoutList.isEmpty else { return nil }
        return error(
            "\(plan.format.title) wants both a leaf and an authority to match, and only backups would stand for one of "
                + "them: it would refuse every server of", withoutList,
            hint: "give the pins of a rule one position: --pins-at ca or --pins-at leaf for pins without a position, "
                + "\"at\" for the others")
    }

    /// Looks for rules to which a parent domain adds a list in which they pin nothing. Their servers pass only if they
    /// also have a key of that list, which is certain only if the rule itself pins one.
    static func byPooling(in plan: ExportPlan) -> ToolError? {
        let names = plan.pooledLists.filter { rule, parent in
            let position: PinPosition = rule.keys(at: .ca).isEmpty ? .ca : .leaf
            return Set(rule.keys).isDisjoint(with: parent.keys(at: position))
        }.map(\.rule.name)
        guard !names.isEmpty else { return nil }
        return error(
            "\(plan.format.title) also demands a pin of the parent domain, in the list in which the rule pins nothing: "
                + "it would refuse every server of", names,
            hint: "give the rule a pin of the same authorities or leaves as its parent domain with \"at\", and "
                + "\"requires\": \"leafAndCA\"; or take includeSubdomains from the parent")
    }

    /// Looks for rules for one port of a format without ports, in whose place a rule of the same host decides that has
    /// none of their pins.
    static func byPorts(in plan: ExportPlan, of policy: PinningPolicy) -> ToolError? {
        guard !plan.format.traits.hasPorts else { return nil }
        let written = Dictionary(plan.rules.map { ($0.host, $0) }, uniquingKeysWith: { first, _ in first })
        let names = policy.hosts.filter { host in
            guard let rule = written[host.host], rule.enforcement == .enforce, rule.isPinned, !host.pins.isEmpty
            else { return false }
            return Set(rule.pins.map(\.subject)).isDisjoint(with: (host.pins + host.backupPins).map(\.subject))
        }
        guard !names.isEmpty else { return nil }
        return error(
            "\(plan.format.title) has no ports, so another rule decides there that has none of the pins: it would "
                + "refuse every server of", names.map(\.description),
            hint: "give both rules a pin in common, or leave the host out of the file and pin it by the policy")
    }

    /// Returns whether the rule is probably one of an imported list of authorities.
    private static func isList(_ host: PinnedHost, _ shared: Set<Set<Pin>>) -> Bool {
        guard host.backupPins.isEmpty, host.pins.allSatisfy({ $0.position == .any }) else { return false }
        return host.pins.count >= authorityCount || shared.contains(Set(host.pins))
    }

    /// The sets of pins that several domains have.
    private static func sharedPins(_ policy: PinningPolicy) -> Set<Set<Pin>> {
        var domains: [Set<Pin>: Set<String>] = [:]
        for host in policy.hosts where host.host.ipAddress == nil && !host.pins.isEmpty {
            domains[Set(host.pins), default: []].insert(host.host.labels.suffix(2).joined(separator: "."))
        }
        return Set(domains.filter { $0.value.count >= domainCount }.keys)
    }

    private static func error(_ reason: String, _ hosts: [String], hint: String) -> ToolError {
        let few = hosts.prefix(3).joined(separator: ", ")
        let names = hosts.count > 3 ? "\(few) and \(hosts.count - 3) more" : few
        return .unusable("locks-out", "nothing is written: \(reason) \(names)", hint: hint)
    }
}

extension ExportPlan {
    /// Plans an export, unless the format would refuse every server of a rule.
    ///
    /// - Parameter stated: the position that the author gives to pins without one; `nil` if the author gives none.
    static func checked(
        _ policy: PinningPolicy, to format: ForeignFormat, _ libraries: any Libraries, stated: PinPosition?
    ) throws(ToolError) -> ExportPlan {
        if let error = ExportLockOut.byAuthorities(in: policy, to: format, stated: stated) { throw error }
        // The loss "position" names it.
        let stated = stated ?? (needsPositions(policy, for: format) ? .leaf : nil)
        let plan = ExportPlan(policy, to: format, libraries, positionless: stated)
        if let error = ExportLockOut.byBackups(in: plan, of: policy, stated: stated) { throw error }
        if let error = ExportLockOut.byPooling(in: plan) { throw error }
        return plan
    }
}

extension Pin {
    /// Returns the position, or `stated` for a pin without one.
    fileprivate func position(stated: PinPosition?) -> PinPosition { position == .any ? stated ?? .any : position }
}
