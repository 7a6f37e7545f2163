internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// A change of the next policy, or one that a later policy can make.
struct RenewChange {
    enum Action: String {
        /// The pin is new in the policy.
        case add
        /// The pin changes from one list to the other, because the server has moved to a backup pin.
        case move
        case remove
        /// The pin can be removed from ``RenewChange/from`` on. This proposal keeps it.
        case removeLater
    }

    let action: Action
    /// The index of the rule.
    let rule: Int
    let pin: Pin
    /// The list of the next policy, or for a removal that of the current one.
    let list: PinList
    /// The reason in words.
    let because: String
    /// The last day to publish the change.
    var by: Date?
    /// The first day on which the pin is not needed.
    var from: Date?
}

/// The next policy: the changes, and the file that makes them.
struct RenewProposal {
    let current: PinningPolicy
    /// The changes of the file, and those for later.
    private(set) var changes: [RenewChange] = []
    /// Rules that would be left without a backup pin.
    private(set) var findings: [RenewProblem] = []
    private(set) var notes: [String] = []
    private let now: Date
    /// The lists of each changed rule.
    private var lists: [Int: [PinList: [PolicyEdit.Element]]] = [:]

    /// A Boolean value that indicates whether the file changes.
    var isChanged: Bool { !lists.isEmpty }

    /// The update's number in the next policy; `nil` if the policy has none.
    var updateVersion: Int? { isChanged && current.updateVersion > 0 ? current.updateVersion + 1 : nil }

    init(
        of policy: PinningPolicy, _ servers: [MatchedServer], _ candidates: [RenewCandidate],
        _ authorities: RenewAuthorities, removing removals: Set<Pin.Subject> = [], notes: [String] = [], now: Date
    ) {
        current = policy
        self.notes = notes
        self.now = now
        for (index, host) in policy.hosts.enumerated() {
            var rule = RuleProposal(
                host, rule: index, candidates: candidates.filter { $0.rule == index }, authorities: authorities,
                removals: removals, now: now)
            rule.propose(for: servers.first { $0.rule == index })
            changes += rule.changes
            findings += rule.findings
            self.notes += rule.notes
            if !rule.changedLists.isEmpty { lists[index] = rule.changedLists }
        }
        for server in servers { findings += keptPins(server, policy.hosts[server.rule], removals) }
    }

    /// Returns a finding for each pin that the user wants to remove and that the proposal keeps.
    private func keptPins(
        _ server: MatchedServer, _ host: PinnedHost, _ removals: Set<Pin.Subject>
    ) -> [RenewProblem] {
        host.pins.filter { removals.contains($0.subject) }.compactMap { pin in
            let planned = changes.first { $0.rule == server.rule && $0.pin == pin && $0.list == .pins }
            if planned?.action == .remove { return nil }
            let (reason, help) =
                if server.isMatched(by: pin) {
                    ("\(server.endpoint) still matches it", "let the server use another pinned key first")
                } else if let day = planned?.from {
                    ("its day is \(ValidityText.day(day))", "give --remove again from that day on")
                } else {
                    ("a server may still need it", "the notes say why; remove it by hand if you know better")
                }
            return RenewProblem(
                id: "pin-kept", endpoint: server.endpoint, message: "--remove \(pin): kept, because \(reason)",
                help: help)
        }
    }

    // MARK: The file

    /// Returns the next policy's file: the current one with other lists of pins, and the next number if it has one.
    ///
    /// - Parameters:
    ///   - read: reads a policy with the anchors beside it, as the next policy's readers will.
    /// - Throws: an error if the file would differ in anything else, or would refuse a server that the current policy
    ///   trusts.
    func file(
        from bytes: [UInt8], _ servers: [MatchedServer], _ validator: PathValidator,
        read: ([UInt8]) throws(ToolError) -> PinningPolicy
    ) throws(ToolError) -> [UInt8] {
        var edit = try PolicyEdit(bytes)
        for (rule, lists) in lists {
            for (list, elements) in lists { edit.set(list, ofRule: rule, to: elements) }
        }
        if let updateVersion {
            guard PinningPolicy.updateVersions.contains(Int64(updateVersion)) else {
                throw .unusable("invalid-update-version", "there is no update version after \(current.updateVersion)")
            }
            edit.setUpdateVersion(updateVersion)
        }
        let result = edit.result
        let next = try read(result)
        guard isFaithful(next) else {
            throw .unusable(
                "unsafe-proposal", "the proposal would change more than its pins", hint: "change the policy by hand")
        }
        for server in servers {
            let evaluation = next.evaluate(
                server.endpoint, presented: server.presented, at: now, validate: validator.validate)
            guard case .trusted(.pinMatched) = evaluation.decision else {
                throw .unusable(
                    "unsafe-proposal", "the proposal would refuse \(server.endpoint): \(evaluation.decision.reason)",
                    hint: "change the policy by hand")
            }
        }
        return result
    }

    /// Returns `true` if all rules are the same but for their pins.
    private func isFaithful(_ next: PinningPolicy) -> Bool {
        func bare(_ host: PinnedHost) -> PinnedHost {
            var bare = host.pinning([], backups: [])
            bare.backupRequirement = .required
            return bare
        }
        return next.hosts.map(bare) == current.hosts.map(bare) && next.unpinnedHosts == current.unpinnedHosts
            && next.allowsUpdatesForAnyHost == current.allowsUpdatesForAnyHost
            && next.updateVersion == updateVersion ?? current.updateVersion
    }
}
