internal import FoundationEssentials
internal import Pintle

/// Something to do instead.
struct PlanAdvice {
    enum Kind: String, CaseIterable {
        case addPin = "add-pin"
        case reach = "reach"
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
        case withdrawPin = "withdraw-pin"
        case makeBackup = "make-backup"
    }

    let kind: Kind
    let server: Int
    /// One line, lower case, no full stop.
    let text: String
    /// The last day for it.
    var by: Date?
    var pin: PublicKeyPin?
    /// The share of users that must be reached by then.
    var share: UserShare?
    /// Whom it is about.
    var apps: [Int] = []
}

/// Finds what would keep users from being locked out.
struct PlanAdviser {
    let simulation: PlanSimulation
    let tolerance: UserShare

    var plan: RotationPlan { simulation.plan }

    /// Beyond them nobody reads on; the first ones come first.
    static let maximumLockOuts = 20

    init(_ simulation: PlanSimulation, tolerance: UserShare) {
        self.simulation = simulation
        self.tolerance = tolerance
    }

    func advice(_ lockOuts: [LockOut], _ exposures: [Exposure]) -> [PlanAdvice] {
        var advice: [PlanAdvice] = []
        for lockOut in lockOuts.prefix(Self.maximumLockOuts) {
            for item in self.advice(for: lockOut)
            where !advice.contains(where: { $0.server == item.server && $0.text == item.text }) {
                advice.append(item)
            }
        }
        advice += exposures.map(withdrawal)
        return advice + spentBackups()
    }

    private func advice(for lockOut: LockOut) -> [PlanAdvice] {
        let certificate = plan.certificates[lockOut.certificate]
        let name = "\"\(certificate.name)\""
        let apps = lockOut.victims.map(\.app)
        func item(_ kind: PlanAdvice.Kind, _ text: String, by: Date? = nil) -> [PlanAdvice] {
            [PlanAdvice(kind: kind, server: lockOut.server, text: text, by: by, apps: apps)]
        }
        switch (lockOut.reason, lockOut.pathFailure) {
        case ("pin-mismatch", _): return mismatch(lockOut)
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
        case ("pins-expired", _):
            return item(
                .laterExpiry,
                "give the pins of \(server(lockOut.server)) a later expiry, or \"then\": \"systemTrust\", in the next "
                    + "release, and in an update for the versions that fetch them",
                by: lockOut.from)
        default:
            return item(
                .addRule, "add a rule for \(server(lockOut.server)) to the policy of the next release", by: lockOut.from
            )
        }
    }

    func server(_ index: Int) -> String { plan.servers[index].name }

    func versions(_ apps: [Int]) -> String {
        let names = apps.map { plan.apps[$0].version }
        return (names.count == 1 ? "version " : "versions ") + names.joined(separator: ", ")
    }

    /// What may be left over.
    var wanted: UserShare { tolerance.rest }

    // MARK: Stolen keys and spent backups

    private func withdrawal(_ exposure: Exposure) -> PlanAdvice {
        let key = plan.keys[exposure.key]
        return PlanAdvice(
            kind: .withdrawPin, server: exposure.server,
            text: "leave \(key.pin) (key \"\(key.name)\") out of the pins of \(server(exposure.server)) in the next "
                + "release, and in an update at once for the versions that fetch them; have the certificates for it "
                + "revoked",
            by: exposure.from, pin: key.pin, apps: exposure.apps)
    }

    /// Servers that end the plan on what was a backup: nothing stands behind it any more.
    private func spentBackups() -> [PlanAdvice] {
        var advice: [PlanAdvice] = []
        guard let app = plan.apps.indices.last, let last = simulation.instants.last else { return [] }
        let final = simulation.instants.count - 1
        for server in plan.servers.indices {
            guard let policy = simulation.cohorts(ofApp: app, during: final).start.first?.policy,
                let phase = simulation.phase(ofServer: server, policy: policy, at: last),
                case .trusted(.pinMatched(let match)) = phase.decision, match.isBackup,
                let start = simulation.phases[server][policy].first(where: { $0.certificate == phase.certificate })?
                    .from
            else { continue }
            advice.append(
                PlanAdvice(
                    kind: .makeBackup, server: server,
                    text: "make a new backup key for \(self.server(server)) and put its pin into the next release: "
                        + "\(versions([app])) lives on its backup pin from \(PlanTime.text(start)) on",
                    by: start, apps: [app]))
        }
        return advice
    }
}
