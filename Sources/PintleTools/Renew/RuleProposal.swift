internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// The part of a proposal about one rule.
struct RuleProposal {
    private let host: PinnedHost
    private let rule: Int
    private let candidates: [RenewCandidate]
    private let authorities: RenewAuthorities
    /// The pins that the user says no server has.
    private let removals: Set<Pin.Subject>
    private let now: Date
    private var pins: [PolicyEdit.Element]
    private var backups: [PolicyEdit.Element]
    private(set) var changes: [RenewChange] = []
    private(set) var findings: [RenewProblem] = []
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - host: the rule of the current policy.
    ///   - candidates: those for this rule.
    init(
        _ host: PinnedHost, rule: Int, candidates: [RenewCandidate], authorities: RenewAuthorities,
        removals: Set<Pin.Subject>, now: Date
    ) {
        (self.host, self.rule, self.candidates) = (host, rule, candidates)
        (self.authorities, self.removals, self.now) = (authorities, removals, now)
        (pins, backups) = (Self.kept(.pins, host.pins), Self.kept(.backupPins, host.backupPins))
    }

    private static func kept(_ list: PinList, _ pins: [Pin]) -> [PolicyEdit.Element] {
        pins.indices.map { .kept(list, $0) }
    }

    /// The lists of the next policy that differ from the current ones.
    var changedLists: [PinList: [PolicyEdit.Element]] {
        var lists: [PinList: [PolicyEdit.Element]] = [:]
        if pins != Self.kept(.pins, host.pins) { lists[.pins] = pins }
        if backups != Self.kept(.backupPins, host.backupPins) { lists[.backupPins] = backups }
        return lists
    }

    /// - Parameter server: the rule's server; `nil` if it gives nothing to the proposal.
    mutating func propose(for server: MatchedServer?) {
        if let server, let end = host.expiry.date, end < server.leaf.validity.notAfter {
            notes.append("\(host): its pins expire on \(ValidityText.day(end)), before the server's certificate ends")
        }
        addCandidates(server)
        guard let server else { return }
        follow(server)
        removeStale(server)
    }

    private mutating func change(
        _ action: RenewChange.Action, _ pin: Pin, _ list: PinList, because: String, by: Date? = nil, from: Date? = nil
    ) {
        changes.append(
            RenewChange(action: action, rule: rule, pin: pin, list: list, because: because, by: by, from: from))
    }

    // MARK: Additions

    private mutating func addCandidates(_ server: MatchedServer?) {
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
            backups.append(.added(pin, note: candidate.note))
            let by = host.enforcement == .enforce ? server?.publicationDay(now: now) : nil
            change(.add, pin, .backupPins, because: candidate.source, by: by)
        }
    }

    /// Pins the key of a server that has moved away from the rule's pins. It was shown on a connection that the current
    /// policy trusts by another pin.
    private mutating func follow(_ server: MatchedServer) {
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
            return change(
                .move, host.backupPins[index], .pins, because: "\(server.endpoint) has moved to this backup key")
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
            return exchangeAuthorities(server)
        }
        let pin = Pin(key, at: host.requires == .leafAndCA ? .leaf : .any)
        pins.append(.added(pin, note: origin?.note ?? "served by \(server.endpoint) on \(ValidityText.day(now))"))
        change(
            .add, pin, .pins,
            because: "\(server.endpoint) shows this key on a connection that matched another pin of the rule; "
                + (origin.map { "it is \($0.source)" } ?? "compare it with the key that you installed"))
    }

    /// Lets the lists of a rule that pins only authorities change places, if the server has moved to a backup
    /// authority.
    private mutating func exchangeAuthorities(_ server: MatchedServer) {
        guard !host.pins.contains(where: server.isMatched),
            let used = host.backupPins.firstIndex(where: server.isMatched)
        else { return }
        pins = [.kept(.backupPins, used)]
        backups.removeAll { $0 == .kept(.backupPins, used) }
        change(
            .move, host.backupPins[used], .pins,
            because: "the certificate of \(server.endpoint) now comes from this authority")
        for (index, pin) in host.pins.enumerated() {
            backups.append(.kept(.pins, index))
            change(.move, pin, .backupPins, because: "later certificates may come from this authority again")
        }
    }

    // MARK: Removals

    private mutating func removeStale(_ server: MatchedServer) {
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
            let next = host.pinning(left.map(self.pin), backups: backups.map(self.pin))
            guard next.pins.contains(where: server.isMatched), next.problems.isEmpty else { continue }
            let day = server.removalDay
            // One handshake shows one machine. Only a person knows the others.
            let isDue = day <= now && removals.contains(pin.subject)
            if isDue { pins = left }
            change(
                isDue ? .remove : .removeLater, pin, .pins,
                because: "it matches nothing at "
                    + "\(server.endpoint)\(host.port == nil ? ", port \(server.endpoint.port)" : ""). "
                    + "Certificates from before \(ValidityText.day(server.leaf.validity.notBefore)) have usually "
                    + "ended by then"
                    + (isDue ? "" : "; if no other machine or port of that name has the key: --remove \(pin)"),
                from: day)
        }
    }

    private func pin(_ element: PolicyEdit.Element) -> Pin {
        switch element {
        case .added(let pin, _): pin
        case .kept(.pins, let index): host.pins[index]
        case .kept(.backupPins, let index): host.backupPins[index]
        }
    }
}

// MARK: Dates

extension MatchedServer {
    /// Returns the day by which to publish an update with another pin. Apps with the current policy then have it when
    /// the server's certificate ends.
    fileprivate func publicationDay(now: Date) -> Date {
        max(now, leaf.validity.notAfter.startOfDay.addingDays(-RotationPlan.defaultDaysToFetch))
    }

    /// The first day on which a pin that matches nothing on the server's path is not needed any more.
    ///
    /// A certificate that this one replaced was renewed after two thirds of its life, as ACME clients do. So it has
    /// ended a third of a life after this one began, and no machine of the server shows it any more.
    fileprivate var removalDay: Date {
        let start: Int = leaf.validity.notBefore.wholeSeconds
        let life = max(0, leaf.validity.notAfter.wholeSeconds - start)
        return PlanAdviser.withdrawalDay(after: Date(wholeSeconds: start + life / 3))
    }
}
