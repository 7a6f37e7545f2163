internal import Pintle
internal import PintleOpenSSL
internal import PintleSystem

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
    private let authorities: RenewAuthorities
    /// The pins that the user says no server has.
    private let removals: Set<Pin.Subject>
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
    ) throws(ToolError) {
        current = policy
        self.authorities = authorities
        self.removals = removals
        self.notes = notes
        self.now = now
        for rule in policy.hosts.indices {
            try propose(rule, servers.filter { $0.rule == rule }, candidates.filter { $0.rule == rule })
        }
        for server in servers { findings += keptPins(server, policy.hosts[server.rule]) }
    }

    /// Returns a finding for each pin that the user wants to remove and that the proposal keeps.
    private func keptPins(_ server: MatchedServer, _ host: PinnedHost) -> [RenewProblem] {
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

    private mutating func propose(
        _ rule: Int, _ servers: [MatchedServer], _ candidates: [RenewCandidate]
    ) throws(ToolError) {
        let host = current.hosts[rule]
        var pins = host.pins.indices.map { PolicyEdit.Element.kept(.pins, $0) }
        var backups = host.backupPins.indices.map { PolicyEdit.Element.kept(.backupPins, $0) }
        let before = [pins, backups]
        if let server = servers.first, let end = host.expiry.date, end < server.leaf.validity.notAfter {
            notes.append("\(host): its pins expire on \(ValidityText.day(end)), before the server's certificate ends")
        }
        try addCandidates(candidates, host, servers.first, rule, to: &backups)
        if let server = servers.first {
            followServer(server, host, rule, candidates, &pins, &backups)
            try removeStale(server, host, rule, candidates, &pins, backups)
        }
        guard [pins, backups] != before else { return }
        lists[rule] = [:]
        if pins != before[0] { lists[rule]?[.pins] = pins }
        if backups != before[1] { lists[rule]?[.backupPins] = backups }
    }

    // MARK: Additions

    private mutating func addCandidates(
        _ candidates: [RenewCandidate], _ host: PinnedHost, _ server: MatchedServer?, _ rule: Int,
        to backups: inout [PolicyEdit.Element]
    ) throws(ToolError) {
        for candidate in candidates {
            let subject = Pin.Subject.publicKey(candidate.pin)
            guard !(host.pins + host.backupPins).contains(where: { $0.subject == subject }) else {
                notes.append("\(host): \(candidate.pin), \(candidate.source), is pinned already")
                continue
            }
            // A key in use is no backup. It becomes a pin below.
            let pin = Pin(subject, at: candidate.position)
            if let server, server.isLeafMatched(by: pin) { continue }
            if let server, server.isMatched(by: Pin(subject)) {
                notes.append(
                    "\(host): \(candidate.source) signs the certificate of \(server.endpoint): it is not a backup")
                continue
            }
            let by: Date? =
                if let server { try RenewDates(host, server, now: now).publication(of: candidate.pin) } else { nil }
            backups.append(.added(pin, note: candidate.note))
            changes.append(
                RenewChange(
                    action: .add, rule: rule, pin: pin, list: .backupPins,
                    because: candidate.source, by: by))
        }
    }

    /// Pins the key of a server that has moved away from the rule's pins. It was shown on a connection that the current
    /// policy trusts by another pin.
    private mutating func followServer(
        _ server: MatchedServer, _ host: PinnedHost, _ rule: Int, _ candidates: [RenewCandidate],
        _ pins: inout [PolicyEdit.Element], _ backups: inout [PolicyEdit.Element]
    ) {
        let key = Pin.Subject.publicKey(server.leaf.publicKeyPin)
        let origin = candidates.first { .publicKey($0.pin) == key }
        let leaves = host.pins.filter(server.isLeafMatched)
        // A fingerprint ends with its certificate. The key on disk outlives it.
        if !leaves.isEmpty, origin == nil || leaves.contains(where: { $0.subject == key }) { return }
        if leaves.isEmpty, let index = host.backupPins.firstIndex(where: server.isLeafMatched) {
            guard backups.count > 1 || host.backupRequirement == .noneAccepted || host.enforcement == .reportOnly else {
                findings.append(
                    RenewProblem(
                        id: "no-backup-left", endpoint: server.endpoint,
                        message: "\(server.endpoint) has moved to the last backup pin of its rule",
                        help: "make a key, keep it offline, and give its request or public key: --key backup.csr"))
                return
            }
            backups.removeAll { $0 == .kept(.backupPins, index) }
            pins.append(.kept(.backupPins, index))
            changes.append(
                RenewChange(
                    action: .move, rule: rule, pin: host.backupPins[index], list: .pins,
                    because: "\(server.endpoint) has moved to this backup key"))
            return
        }
        // Rules that pin only authorities stay so. Another pin that matches nothing may be that of the server's old
        // key, but beside a pinned intermediate it may be another intermediate.
        guard
            origin != nil
                || !host.pins.contains(where: server.isIntermediateMatched)
                    && host.pins.contains(where: { !server.isMatched(by: $0) && !authorities.contain($0, of: host) })
        else {
            if leaves.isEmpty, host.pins.contains(where: server.isIntermediateMatched) {
                notes.append(
                    "\(host): only an intermediate of \(server.endpoint) is pinned; to pin the server's own key too, "
                        + "give its file: --key FILE")
            }
            return exchangeAuthorities(server, host, rule, &pins, &backups)
        }
        let pin = Pin(key, at: host.requires == .leafAndCA ? .leaf : .any)
        pins.append(.added(pin, note: origin?.note ?? "served by \(server.endpoint) on \(ValidityText.day(now))"))
        changes.append(
            RenewChange(
                action: .add, rule: rule, pin: pin, list: .pins,
                because: "\(server.endpoint) shows this key on a connection that matched another pin of the rule; "
                    + (origin.map { "it is \($0.source)" } ?? "compare it with the key that you installed")))
    }

    /// Lets the lists of a rule that pins only authorities change places, if the server has moved to a backup
    /// authority.
    private mutating func exchangeAuthorities(
        _ server: MatchedServer, _ host: PinnedHost, _ rule: Int,
        _ pins: inout [PolicyEdit.Element], _ backups: inout [PolicyEdit.Element]
    ) {
        guard !host.pins.contains(where: server.isMatched),
            let used = host.backupPins.firstIndex(where: server.isMatched)
        else { return }
        pins = [.kept(.backupPins, used)]
        backups.removeAll { $0 == .kept(.backupPins, used) }
        changes.append(
            RenewChange(
                action: .move, rule: rule, pin: host.backupPins[used], list: .pins,
                because: "the certificate of \(server.endpoint) now comes from this authority"))
        for (index, pin) in host.pins.enumerated() {
            backups.append(.kept(.pins, index))
            changes.append(
                RenewChange(
                    action: .move, rule: rule, pin: pin, list: .backupPins,
                    because: "later certificates may come from this authority again"))
        }
    }

    // MARK: Removals

    private mutating func removeStale(
        _ server: MatchedServer, _ host: PinnedHost, _ rule: Int, _ candidates: [RenewCandidate],
        _ pins: inout [PolicyEdit.Element], _ backups: [PolicyEdit.Element]
    ) throws(ToolError) {
        for (index, pin) in host.pins.enumerated() where !server.isMatched(by: pin) {
            guard !candidates.contains(where: { .publicKey($0.pin) == pin.subject }) else { continue }
            guard !authorities.contain(pin, of: host) else {
                if pins.contains(.kept(.pins, index)) {
                    notes.append(
                        "\(host): \(pin) matches nothing at \(server.endpoint), but later certificates may come from "
                            + "this authority")
                }
                continue
            }
            guard !host.includesSubdomains else {
                notes.append(
                    "\(host): \(pin) matches nothing at \(server.endpoint), "
                        + "but a server of a subdomain may have its key"
                )
                continue
            }
            guard !host.pins.contains(where: server.isIntermediateMatched) || pin.position == .leaf else {
                notes.append("\(host): \(pin) matches nothing at \(server.endpoint), and may be another intermediate")
                continue
            }
            let left = pins.filter { $0 != .kept(.pins, index) }
            let next = host.pinning(left.map { self.pin($0, host) }, backups: backups.map { self.pin($0, host) })
            guard next.pins.contains(where: server.isMatched),
                next.problems.isEmpty, let day = try RenewDates(host, server, now: now).removal(of: pin, leaving: next)
            else { continue }
            // One handshake shows one machine. Only a person knows the others.
            let isDue = day <= now && removals.contains(pin.subject)
            if isDue { pins = left }
            changes.append(
                RenewChange(
                    action: isDue ? .remove : .removeLater, rule: rule, pin: pin, list: .pins,
                    because:
                        "it matches nothing at "
                        + "\(server.endpoint)\(host.port == nil ? ", port \(server.endpoint.port)" : ""). "
                        + "Certificates from before \(ValidityText.day(server.leaf.validity.notBefore)) have usually "
                        + "ended by then"
                        + (isDue ? "" : "; if no other machine or port of that name has the key: --remove \(pin)"),
                    from: day))
        }
    }

    private func pin(_ element: PolicyEdit.Element, _ host: PinnedHost) -> Pin {
        switch element {
        case .added(let pin, _): pin
        case .kept(.pins, let index): host.pins[index]
        case .kept(.backupPins, let index): host.backupPins[index]
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
            guard updateVersion <= 9_007_199_254_740_991 else {
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
