internal import Pintle
internal import PintleSystem

/// Advice for the server if versions do not pin its key: another key, or the same one later. The adviser simulates both
/// first, and leaves out advice that would lock out other versions.
extension PlanAdviser {
    /// The number of keys that are tried for a certificate.
    private static let maximumTrials = 4

    // MARK: Another key

    /// Returns advice to serve another planned key. All victims pin it, no thief has it before the certificate ends,
    /// and no other version refuses it.
    func knownKey(_ lockOut: LockOut) -> PlanAdvice? {
        let apps = lockOut.victims.map(\.app)
        let certificate = plan.certificates[lockOut.certificate]
        // A server cannot show a certificate for the key of an authority.
        let authorities = Set(plan.certificates.flatMap { $0.keys.dropFirst() })
        let served = authorities.union(certificate.keys)
        let known = plan.keys.indices.filter { key in
            guard !served.contains(key), !plan.keys[key].isMadeLater,
                plan.keys[key].compromised.map({ $0 > certificate.notAfter }) ?? true
            else {
                return false
            }
            return apps.allSatisfy { pins(key, ofServer: lockOut.server, inApp: $0) }
        }
        let helping = known.prefix(Self.maximumTrials).filter { helps($0, lockOut) }
        guard let first = helping.first else { return nil }
        let names = helping.map { "\"\(plan.keys[$0].name)\"" }.joined(separator: " or ")
        return PlanAdvice(
            kind: .useKnownKey, server: lockOut.server,
            text: (certificate.renewal == nil
                ? "or get \"\(certificate.name)\" for the key \(names), which "
                : "or renew for the key \(names) every time\(setting(ofCertificate: lockOut.certificate)), which ")
                + "\(plan.versions(apps)) \(apps.count == 1 ? "pins" : "pin") already",
            by: lockOut.from, pin: plan.keys[first].pin, apps: apps)
    }

    /// Returns the setting that keeps a key: ` (certbot: --reuse-key)`; empty if the plan names no client.
    func setting(ofCertificate certificate: Int) -> String {
        guard let client = plan.certificates[certificate].renewal?.client else { return "" }
        return " (\(client.rawValue): \(client.keepsKey))"
    }

    /// Returns `true` if the version shipped with a pin that a leaf with this key matches.
    private func pins(_ key: Int, ofServer server: Int, inApp app: Int) -> Bool {
        let policy = plan.policies[plan.apps[app].policy]
        guard let rule = policy.rule(for: plan.servers[server].endpoint) else { return false }
        let host = policy.hosts[rule.index]
        return host.requires == .anyPin
            && (host.pins + host.backupPins).contains {
                $0.subject == .publicKey(plan.keys[key].pin) && $0.position != .ca
            }
    }

    /// Returns `true` if versions lose the server for less time with this key, and no version loses more of any server
    /// that has the certificate.
    private func helps(_ key: Int, _ lockOut: LockOut) -> Bool {
        var certificate = plan.certificates[lockOut.certificate]
        certificate.keys = [key] + certificate.keys.dropFirst()
        let changed = plan.replacing(lockOut.certificate, by: certificate)
        func losses(_ server: Int) -> (planned: PlanLosses, tried: PlanLosses) {
            let switches = plan.servers[server].switches
            return (
                simulation.losses(ofServer: server),
                simulation.losses(ofServer: server, serving: switches, in: changed)
            )
        }
        let own = losses(lockOut.server)
        guard own.tried.isBetter(than: own.planned) else { return false }
        return plan.servers.indices.allSatisfy { server in
            let isServed = plan.servers[server].switches.contains { $0.certificate == lockOut.certificate }
            guard isServed, server != lockOut.server else { return true }
            let other = losses(server)
            return !other.tried.isWorse(than: other.planned)
        }
    }

    // MARK: A later switch

    func laterSwitch(_ lockOut: LockOut) -> PlanAdvice? {
        let server = plan.servers[lockOut.server]
        guard let index = server.switches.lastIndex(where: { $0.from <= lockOut.from }), index > 0 else { return nil }
        let current = server.switches[index]
        let certificate = plan.certificates[current.certificate]
        let earlier = server.switches[index - 1].certificate
        let previous = plan.certificates[earlier]
        let next = server.switches.indices.contains(index + 1) ? server.switches[index + 1].from : plan.until
        let end = min(next, plan.until, certificate.notAfter)
        let always = [RotationPlan.Server.Switch(from: .distantPast, certificate: current.certificate)]
        let lacking = simulation.losses(ofServer: lockOut.server, serving: always, in: plan)
        let last = simulation.instants.indices.last { index in
            let instant = simulation.instants[index]
            return instant >= lockOut.from && instant < end && !lacking.losers(at: index).isEmpty
        }
        guard let last else { return nil }
        let latest = simulation.instants[last]
        func none(_ reason: String) -> PlanAdvice {
            PlanAdvice(
                kind: .noLaterSwitch, server: lockOut.server, text: "a later switch does not help: \(reason)")
        }
        let day = latest.startOfDay.addingDays(1)
        guard day < end else {
            let apps = lacking.losers(at: last)
            return none(
                "on \(PlanTime.text(latest)) \(plan.versions(apps)) still \(apps.count == 1 ? "lacks" : "lack") the "
                    + "key of \"\(certificate.name)\"")
        }
        if let stolen = stolenKey(of: previous, insteadOf: certificate, before: day) { return none(stolen) }
        var switches = server.switches
        switches[index] = RotationPlan.Server.Switch(from: day, certificate: current.certificate)
        var renewed = previous
        renewed.notAfter = max(previous.notAfter, day)
        let losers = simulation.losses(
            ofServer: lockOut.server, serving: switches, in: plan.replacing(earlier, by: renewed)
        )
        .losers(against: simulation.losses(ofServer: lockOut.server))
        guard losers.isEmpty else {
            return none(
                "until \(PlanTime.text(day)) \(plan.versions(losers)) could not connect with \"\(previous.name)\"")
        }
        var text =
            "or switch to \"\(certificate.name)\" on \(PlanTime.text(day)): from then on no supported version "
            + "lacks its key"
        if previous.notAfter < day {
            text +=
                ", and renew \"\(previous.name)\", which ends \(PlanTime.text(previous.notAfter)), with the same "
                + "key until then"
        }
        return PlanAdvice(
            kind: .switchLater, server: lockOut.server, text: text, by: day, apps: lockOut.victims.map(\.app))
    }

    /// Returns the reason why the old certificate cannot stay until a day; `nil` if it can.
    private func stolenKey(
        of previous: RotationPlan.Certificate, insteadOf certificate: RotationPlan.Certificate, before day: Date
    ) -> String? {
        for key in previous.keys where !certificate.keys.contains(key) {
            guard let stolen = plan.keys[key].compromised, stolen < day else { continue }
            return "the key \"\(plan.keys[key].name)\" of \"\(previous.name)\" is stolen from "
                + "\(PlanTime.text(stolen)) on"
        }
        return nil
    }
}

/// Advice for versions of the app that do not pin a key, above all the release that adds the pin.
extension PlanAdviser {
    func mismatch(_ lockOut: LockOut) -> [PlanAdvice] {
        if needsLaterKey(lockOut) { return [reusedKey(lockOut), laterSwitch(lockOut)].compactMap(\.self) }
        if let update = lockOut.update { return [keptPin(lockOut, update)] }
        return releases(lockOut) + [knownKey(lockOut), laterSwitch(lockOut)].compactMap(\.self) + updates(lockOut)
    }

    /// Returns `true` if the rule of these versions requires a pin of the leaf, whose key is made at each renewal.
    private func needsLaterKey(_ lockOut: LockOut) -> Bool {
        guard let leaf = plan.certificates[lockOut.certificate].keys.first, plan.keys[leaf].isMadeLater,
            let app = lockOut.victims.first?.app
        else { return false }
        let policy = plan.policies[lockOut.update.map { plan.updates[$0].policy } ?? plan.apps[app].policy]
        return policy.rule(for: plan.servers[lockOut.server].endpoint)
            .map { policy.hosts[$0.index].requires == .leafAndCA } ?? false
    }

    private func reusedKey(_ lockOut: LockOut) -> PlanAdvice {
        let apps = lockOut.victims.map(\.app)
        return PlanAdvice(
            kind: .reuseKey, server: lockOut.server,
            text: "keep one key at all renewals of \(server(lockOut.server))"
                + "\(setting(ofCertificate: lockOut.certificate)), and pin it: \(plan.versions(apps)) "
                + "\(apps.count == 1 ? "requires" : "require") a pin of the leaf, and no policy can name a key before "
                + "it is made",
            by: lockOut.from, apps: apps)
    }

    /// Returns advice to keep a pin in an update that removed it too early, or never had it.
    private func keptPin(_ lockOut: LockOut, _ update: Int) -> PlanAdvice {
        let key = plan.keys[missingKey(lockOut)]
        let certificate = plan.certificates[lockOut.certificate]
        return PlanAdvice(
            kind: .keepPin, server: lockOut.server,
            text: "update \(plan.updates[update].version) needs \(key.pin) (key \"\(key.name)\") among the pins of "
                + "\(server(lockOut.server)) for as long as \"\(certificate.name)\" is served",
            by: plan.updates[update].published, pin: key.pin, apps: lockOut.victims.map(\.app))
    }

    // MARK: A release

    private func releases(_ lockOut: LockOut) -> [PlanAdvice] {
        let knowing = knowingApps(lockOut)
        let apps = lockOut.victims.map(\.app)
        // These versions are not released yet and do not pin the key, although an older version does.
        let early = apps.filter { app in
            plan.apps[app].released > simulation.now && knowing.contains { $0 < app }
        }
        let late = apps.filter { !early.contains($0) }
        guard let newest = late.max() else { return [heldBack(lockOut, early)] }
        // Users do not go back to an older version.
        return [release(lockOut, late, knowing.filter { $0 > newest })]
            + (early.isEmpty ? [] : [heldBack(lockOut, early)])
    }

    private func heldBack(_ lockOut: LockOut, _ apps: [Int]) -> PlanAdvice {
        let certificate = plan.certificates[lockOut.certificate]
        let key = plan.keys[missingKey(lockOut)]
        let next = plan.servers[lockOut.server].switches.first { $0.from > lockOut.from }
        let end = next.map { "until \(PlanTime.text($0.from))" } ?? "to the end of the plan"
        return PlanAdvice(
            kind: .holdBack, server: lockOut.server,
            text: "hold \(plan.versions(apps)) back, or release \(apps.count == 1 ? "it" : "them") with \(key.pin) "
                + "(key \"\(key.name)\") in the pins of \(server(lockOut.server)), which serves "
                + "\"\(certificate.name)\" \(end)",
            by: apps.map { plan.apps[$0].released }.min(), pin: key.pin, apps: apps)
    }

    /// - Parameter knowing: newer versions that pin the key.
    private func release(_ lockOut: LockOut, _ apps: [Int], _ knowing: [Int]) -> PlanAdvice {
        let certificate = plan.certificates[lockOut.certificate]
        let day = PlanTime.text(lockOut.from)
        let key = plan.keys[missingKey(lockOut)]
        guard !knowing.isEmpty else {
            let last = plan.apps.last.map { "the release after version \($0.version)" } ?? "the next release"
            return PlanAdvice(
                kind: .addPin, server: lockOut.server,
                text: "put \(key.pin) (key \"\(key.name)\") into the backup pins of "
                    + "\(server(lockOut.server)) in \(last); users need it by \(day), before "
                    + "\"\(certificate.name)\" is served",
                by: lockOut.from, pin: key.pin, apps: apps)
        }
        return PlanAdvice(
            kind: .endSupport, server: lockOut.server,
            text: "\(plan.versions(knowing)) \(knowing.count == 1 ? "knows" : "know") the key \"\(key.name)\": end the "
                + "support for \(plan.versions(apps)) by \(day)",
            by: lockOut.from, pin: key.pin, apps: apps)
    }

    /// Returns the versions that would connect with the policy that they shipped with.
    private func knowingApps(_ lockOut: LockOut) -> [Int] {
        plan.apps.indices.filter { app in
            decision(lockOut, under: simulation.policies[plan.apps[app].policy])?.isTrusted == true
        }
    }

    func decision(_ lockOut: LockOut, under policy: PinningPolicy) -> TrustDecision? {
        plan.decision(
            policy, about: plan.servers[lockOut.server].endpoint, serving: lockOut.certificate, at: lockOut.from)
    }

    /// Returns the key on the path that connecting versions pin. If no version connects, this is the leaf's key, or the
    /// root's if each renewal makes another key for the leaf.
    func missingKey(_ lockOut: LockOut) -> Int {
        let keys = plan.certificates[lockOut.certificate].keys
        for policy in simulation.policies {
            guard case .trusted(.pinMatched(let match)) = decision(lockOut, under: policy),
                keys.indices.contains(match.depth)
            else { continue }
            return keys[match.depth]
        }
        guard let leaf = keys.first else { return 0 }
        return plan.keys[leaf].isMadeLater ? keys.last ?? leaf : leaf
    }
}
