internal import Pintle
internal import PintlePolicyLint
package import PintleSystem

/// Finds changes that would keep versions from being locked out.
package struct PlanAdviser {
    let simulation: PlanSimulation
    private let families: AuthorityFamilies

    var plan: RotationPlan { simulation.plan }

    /// The limit of lock-outs that get advice, the earliest first. Readers would not read more.
    static let maximumLockOuts = 20

    init(_ simulation: PlanSimulation, families: AuthorityFamilies) {
        self.simulation = simulation
        self.families = families
    }

    func advice(_ lockOuts: [LockOut], _ exposures: [Exposure]) -> [PlanAdvice] {
        var advice: [PlanAdvice] = []
        for lockOut in lockOuts.prefix(Self.maximumLockOuts) {
            for item in self.advice(for: lockOut)
            where !advice.contains(where: { isAlike($0, item) }) {
                advice.append(item)
            }
        }
        // Two certificates may be for the same stolen key.
        for item in exposures.map(withdrawal) + spentBackups()
        where !advice.contains(where: { isAlike($0, item) }) {
            advice.append(item)
        }
        return advice
    }

    /// Returns `true` if both say the same about one server, which may be in the plan for several authorities.
    private func isAlike(_ item: PlanAdvice, _ other: PlanAdvice) -> Bool {
        item.text == other.text && plan.servers[item.server].endpoint == plan.servers[other.server].endpoint
    }

    private func advice(for lockOut: LockOut) -> [PlanAdvice] {
        let certificate = plan.certificates[lockOut.certificate]
        let name = "\"\(certificate.name)\""
        let apps = lockOut.victims.map(\.app)
        func item(_ kind: PlanAdvice.Kind, _ text: String, by: Date? = nil) -> [PlanAdvice] {
            [PlanAdvice(kind: kind, server: lockOut.server, text: text, by: by, apps: apps)]
        }
        switch (lockOut.rejection, lockOut.pathFailure) {
        case (.pinMismatch, _): return mismatch(lockOut)
        case (_, .expired):
            let key = plan.keys[certificate.keys.first ?? 0].name
            return item(
                .renew,
                "renew \(name) before it ends on \(PlanTime.text(certificate.notAfter)); with the same key \"\(key)\" "
                    + "every pin stays as it is",
                by: certificate.notAfter)
        case (_, .notYetValid):
            return item(.serveLater, "serve \(name) from \(PlanTime.text(certificate.notBefore)) on, not before")
        case (_, .untrustedRoot):
            return item(
                .trustRoot,
                "put the root of \(name) among the anchors of \(server(lockOut.server)) in the next release; an update "
                    + "cannot: it may not add roots",
                by: lockOut.from)
        case (.pinsExpired, _):
            return item(
                .laterExpiry,
                "give the pins of \(server(lockOut.server)) a later expiry, or \"then\": \"systemTrust\", in the next "
                    + "release, and in an update for the versions that fetch them",
                by: lockOut.from)
        case (.invalidPath, .other) where lockOut.isBySystem: return infoPlist(lockOut)
        case (.invalidPath, .other) where lockOut.issuerKey != nil:
            let issuer = certificate.keys.dropFirst().first.map { plan.keys[$0] }
            let change =
                issuer.map { "change it to \($0.pin) (key \"\($0.name)\"), or leave it out," } ?? "leave it out"
            return item(
                .changeIssuer,
                "the issuerKey of \(server(lockOut.server)) is not that of the issuer of \(name): \(change) in the "
                    + "next release, and in an update for the versions that fetch them",
                by: lockOut.from)
        case (.hostNotAllowed, _), (.unknownHost, _), (.invalidPath, _):
            return item(
                .addRule, "add a rule for \(server(lockOut.server)) to the policy of the next release", by: lockOut.from
            )
        }
    }

    func server(_ index: Int) -> String { plan.servers[index].name }

    // MARK: The system's pins

    /// Returns advice for a list of the Info.plist that cannot have a key, and for those that can.
    private func infoPlist(_ lockOut: LockOut) -> [PlanAdvice] {
        let apps = lockOut.victims.map(\.app)
        let path = plan.certificates[lockOut.certificate].keys
        var additions: [String] = []
        var wanted: [RotationPlan.Key] = []
        var unpinned: [RotationPlan.Key] = []
        var impossible: [String] = []
        let pins = newestPins(of: lockOut.server)
        for list in lockOut.unmatchedLists {
            let (title, keys) =
                list == .leaf
                ? ("NSPinnedLeafIdentities", path.prefix(1)) : ("NSPinnedCAIdentities", path.dropFirst())
            let lasting = keys.map { plan.keys[$0] }.filter { !$0.isMadeLater }
            let pinned = lasting.filter { key in
                pins.contains { $0.subject == .publicKey(key.pin) && ($0.position == list || $0.position == .any) }
            }
            let known = pinned.isEmpty ? lasting : pinned
            wanted += known
            if pinned.isEmpty { unpinned += lasting }
            if !known.isEmpty {
                additions.append(
                    known.map { "\($0.pin) (key \"\($0.name)\")" }.joined(separator: " or ") + " into \(title)")
            } else if list == .leaf {
                let setting = setting(ofCertificate: lockOut.certificate)
                impossible.append(
                    "\(title) cannot have a key that each renewal makes: keep one key at all renewals of "
                        + "\(server(lockOut.server))\(setting), or take the list out")
            } else {
                impossible.append("the path has no authority for \(title): take the list out")
            }
        }
        let steps = impossible + (additions.isEmpty ? [] : ["put \(additions.joined(separator: " and "))"])
        let (pronoun, verb) = apps.count == 1 ? ("it", "it has") : ("them", "they have")
        var text =
            "no update helps \(plan.versions(apps)): \(steps.joined(separator: "; ")) of the Info.plist of a release"
        if !additions.isEmpty {
            text += ", with pintle sync"
            if !unpinned.isEmpty {
                text += " once the policy pins \(unpinned.map { "\"\($0.name)\"" }.joined(separator: " or "))"
                let fingerprint = plan.certificates[lockOut.certificate].fingerprint
                if fingerprint != nil, pins.contains(where: { $0.fingerprint == fingerprint }) {
                    text += ": an Info.plist cannot have the pin of a certificate"
                }
            }
        }
        return [
            PlanAdvice(
                kind: .infoPlist, server: lockOut.server,
                text: "\(text); and serve keys that \(verb) there until the support for \(pronoun) ends",
                by: lockOut.from, pin: wanted.first?.pin, apps: apps)
        ]
    }

    /// Returns the pins of the newest version for a server.
    private func newestPins(of server: Int) -> [Pin] {
        guard let app = plan.apps.last,
            let rule = plan.policies[app.policy].rule(for: plan.servers[server].endpoint)
        else { return [] }
        let host = plan.policies[app.policy].hosts[rule.index]
        return host.pins + host.backupPins
    }

    // MARK: Stolen keys and spent backups

    private func withdrawal(_ exposure: Exposure) -> PlanAdvice {
        let key = plan.keys[exposure.key]
        let pin = "\(key.pin) (key \"\(key.name)\") out of the pins of \(server(exposure.server))"
        func advice(_ text: String, by: Date?) -> PlanAdvice {
            PlanAdvice(
                kind: .withdrawPin, server: exposure.server, text: text, by: by, pin: key.pin, apps: exposure.apps)
        }
        guard let last = lastUse(of: exposure.key, besides: exposure.server) else {
            return advice(
                "switch to a certificate for another key that they pin first: leaving \(pin) before that locks "
                    + "\(server(exposure.server)) out; then have the certificates for it revoked",
                by: exposure.from)
        }
        let safe = Self.withdrawalDay(after: last.until)
        let day =
            safe <= exposure.from
            ? "at once"
            : "from \(PlanTime.text(safe)) on, not before, because \(server(last.server)) serves it until "
                + PlanTime.text(last.until)
        return advice(
            "leave \(pin) in the next release, and in an update for the versions that fetch them, \(day); then have "
                + "the certificates for it revoked",
            by: max(exposure.from, safe))
    }

    /// Returns the first day on which the pin of a key can go that is served until an instant: the day after, because
    /// the machines of one server switch one after the other.
    package static func withdrawalDay(after last: Date) -> Date { last.startOfDay.addingDays(1) }

    /// Returns the instant at which all servers that share a rule with this one have switched away from a key; `nil` if
    /// one never does.
    private func lastUse(of key: Int, besides server: Int) -> (server: Int, until: Date)? {
        var last: (server: Int, until: Date) = (server, .distantPast)
        for (other, planned) in plan.servers.enumerated() where sharesRule(server, other) {
            let use = planned.switches.lastIndex { plan.certificates[$0.certificate].keys.contains(key) }
            guard let use else { continue }
            guard planned.switches.indices.contains(use + 1) else { return nil }
            if planned.switches[use + 1].from > last.until { last = (other, planned.switches[use + 1].from) }
        }
        return last
    }

    private func sharesRule(_ server: Int, _ other: Int) -> Bool {
        server == other
            || plan.policies.contains { policy in
                policy.rule(for: plan.servers[server].endpoint).map {
                    $0.index == policy.rule(for: plan.servers[other].endpoint)?.index
                } ?? false
            }
    }

    /// Returns advice for servers that end the plan on a former backup key: they have no backup left. Keys of
    /// authorities need none.
    private func spentBackups() -> [PlanAdvice] {
        var advice: [PlanAdvice] = []
        guard let app = plan.apps.indices.last, let last = simulation.instants.last else { return [] }
        let final = simulation.instants.count - 1
        for server in plan.servers.indices {
            guard let policy = simulation.possiblePolicies(ofApp: app, at: final).first,
                let phase = simulation.phase(ofServer: server, policy: policy, at: last),
                case .trusted(.pinMatched(let match)) = phase.decision, match.isBackup,
                let rule = plan.policies[policy].rule(for: plan.servers[server].endpoint),
                families.authority(ofBackup: match.pin, in: plan.policies[policy].hosts[rule.index]) == nil,
                let start = simulation.phases[server][policy].first(where: { $0.certificate == phase.certificate })?
                    .from
            else { continue }
            advice.append(
                PlanAdvice(
                    kind: .makeBackup, server: server,
                    text: "make a new backup key for \(self.server(server)) and put its pin into the next release: "
                        + "\(plan.versions([app])) has only its backup pin in use from \(PlanTime.text(start)) on"
                        + plan.condition(ofCertificate: phase.certificate),
                    by: start, apps: [app]))
        }
        return advice
    }
}

/// An item of advice.
struct PlanAdvice {
    enum Kind: String, CaseIterable {
        case addPin = "add-pin"
        case endSupport = "end-support"
        case holdBack = "hold-back"
        case useKnownKey = "use-known-key"
        case switchLater = "switch-later"
        case noLaterSwitch = "no-later-switch"
        case publishUpdate = "publish-update"
        case noUpdate = "no-update"
        case keepPin = "keep-pin"
        case renew = "renew"
        case serveLater = "serve-later"
        case trustRoot = "trust-root"
        case laterExpiry = "later-expiry"
        case addRule = "add-rule"
        case changeIssuer = "change-issuer"
        case infoPlist = "info-plist"
        case reuseKey = "reuse-key"
        case withdrawPin = "withdraw-pin"
        case makeBackup = "make-backup"
    }

    let kind: Kind
    let server: Int
    /// One line, lower case, no full stop.
    let text: String
    /// The last day for the advice. To withdraw a stolen key, the first day on which that is safe.
    var by: Date?
    var pin: PublicKeyPin?
    /// The versions that the advice is for.
    var apps: [Int] = []
}

/// The versions that lose a server, over the time of a simulation.
struct PlanLosses: Equatable {
    /// Booleans by app and instant.
    let isLost: [[Bool]]

    /// Returns the versions that lose the server between an instant and the next.
    func losers(at index: Int) -> [Int] { isLost.indices.filter { isLost[$0][index] } }

    /// Returns `true` if a version loses the server for less time than in `other`, and none at another time.
    func isBetter(than other: PlanLosses) -> Bool { !isWorse(than: other) && other.isWorse(than: self) }

    /// Returns `true` if a version loses the server at a time at which it does not in `other`.
    func isWorse(than other: PlanLosses) -> Bool { !losers(against: other).isEmpty }

    /// Returns the versions that lose the server at a time at which they do not in `other`.
    func losers(against other: PlanLosses) -> [Int] {
        isLost.indices.filter { app in zip(isLost[app], other.isLost[app]).contains { $0 && !$1 } }
    }
}
