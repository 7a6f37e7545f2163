internal import FoundationEssentials
internal import Pintle
internal import PintleUpdates

/// What to do about versions of the app that do not pin a key: release, wait, or update.
extension PlanAdviser {
    func mismatch(_ lockOut: LockOut) -> [PlanAdvice] {
        if let update = lockOut.update { return [keptPin(lockOut, update)] }
        return [release(lockOut), knownKey(lockOut), laterSwitch(lockOut)].compactMap(\.self) + updates(lockOut)
    }

    /// An update has taken a pin away that is still needed, or has never had it.
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

    private func release(_ lockOut: LockOut) -> PlanAdvice? {
        let certificate = plan.certificates[lockOut.certificate]
        let knowing = knowingApps(lockOut)
        let day = PlanTime.text(lockOut.from)
        let key = plan.keys[missingKey(lockOut)]
        guard !knowing.isEmpty else {
            let last = plan.apps.last.map { "the release after version \($0.version)" } ?? "the next release"
            return PlanAdvice(
                kind: .addPin, server: lockOut.server,
                text: "put \(key.pin) (key \"\(key.name)\") into the backup pins of "
                    + "\(server(lockOut.server)) in \(last); it must have reached \(wanted) of users by \(day), before "
                    + "\"\(certificate.name)\" is served",
                by: lockOut.from, pin: key.pin, share: wanted, apps: lockOut.victims.map(\.app))
        }
        let share = knowing.reduce(UserShare.none) { $0 + plan.apps[$1].share(at: lockOut.from) }
        let known = knowing.count == 1 ? "knows" : "know"
        return PlanAdvice(
            kind: .reach, server: lockOut.server,
            text: "\(versions(knowing)) \(known) the key \"\(key.name)\" and will have \(share) of users on \(day): "
                + "bring \(knowing.count == 1 ? "it" : "them") to \(wanted) by then",
            by: lockOut.from, pin: key.pin, share: wanted, apps: knowing)
    }

    /// Versions that would connect, by what they shipped with.
    private func knowingApps(_ lockOut: LockOut) -> [Int] {
        plan.apps.indices.filter { app in
            decision(lockOut, under: simulation.policies[plan.apps[app].policy])?.isTrusted == true
        }
    }

    private func decision(_ lockOut: LockOut, under policy: PinningPolicy) -> TrustDecision? {
        simulation.standIns.decision(
            policy, about: plan.servers[lockOut.server].endpoint, serving: lockOut.certificate, at: lockOut.from)
    }

    /// The key on the path that those who connect know it by; where nobody does, the leaf's.
    func missingKey(_ lockOut: LockOut) -> Int {
        let keys = plan.certificates[lockOut.certificate].keys
        for policy in simulation.policies {
            guard case .trusted(.pinMatched(let match)) = decision(lockOut, under: policy),
                keys.indices.contains(match.depth)
            else { continue }
            return keys[match.depth]
        }
        return keys.first ?? 0
    }

    // MARK: Another key

    /// A planned key that all of them pin, and that only they who own the server have.
    private func knownKey(_ lockOut: LockOut) -> PlanAdvice? {
        let apps = lockOut.victims.map(\.app)
        // Keys of authorities are none that a server could show a certificate for.
        let authorities = Set(plan.certificates.flatMap { $0.keys.dropFirst() })
        let served = authorities.union(plan.certificates[lockOut.certificate].keys)
        let known = plan.keys.indices.filter { key in
            guard !served.contains(key), plan.keys[key].compromised.map({ $0 > lockOut.from }) ?? true else {
                return false
            }
            return apps.allSatisfy { pins(key, ofServer: lockOut.server, inApp: $0) }
        }
        guard let first = known.first else { return nil }
        let names = known.map { "\"\(plan.keys[$0].name)\"" }.joined(separator: " or ")
        return PlanAdvice(
            kind: .useKnownKey, server: lockOut.server,
            text: "or get \"\(plan.certificates[lockOut.certificate].name)\" for the key \(names), which "
                + "\(versions(apps)) \(apps.count == 1 ? "pins" : "pin") already",
            by: lockOut.from, pin: plan.keys[first].pin, apps: apps)
    }

    /// Whether the version shipped with a pin that lets a leaf with this key in.
    private func pins(_ key: Int, ofServer server: Int, inApp app: Int) -> Bool {
        let policy = plan.policies[plan.apps[app].policy]
        guard let rule = policy.rule(for: plan.servers[server].endpoint) else { return false }
        let host = policy.hosts[rule.index]
        return host.requires == .anyPin
            && (host.pins + host.backupPins).contains {
                $0.subject == .publicKey(plan.keys[key].pin) && $0.position != .ca
            }
    }

    // MARK: A later switch

    private func laterSwitch(_ lockOut: LockOut) -> PlanAdvice? {
        let server = plan.servers[lockOut.server]
        guard let index = server.switches.lastIndex(where: { $0.from <= lockOut.from }), index > 0 else { return nil }
        let current = server.switches[index]
        let certificate = plan.certificates[current.certificate]
        let previous = plan.certificates[server.switches[index - 1].certificate]
        let next = server.switches.indices.contains(index + 1) ? server.switches[index + 1].from : plan.until
        let end = min(next, plan.until, certificate.notAfter)
        let always = [RotationPlan.Server.Switch(from: .distantPast, certificate: current.certificate)]
        let phases = simulation.policies.map {
            PlanSimulation.phases(
                of: server.endpoint, always, under: $0, plan, simulation.standIns, from: simulation.now)
        }
        var left = UserShare.none
        var latest: Date?
        for (index, instant) in simulation.instants.enumerated() where instant >= lockOut.from && instant < end {
            let share = refused(phases, during: index)
            if share > tolerance { (latest, left) = (instant, share) }
        }
        guard let latest else { return nil }
        let day = latest.startOfDay.addingDays(1)
        guard day < end else {
            return PlanAdvice(
                kind: .noLaterSwitch, server: lockOut.server,
                text: "waiting alone does not help: on \(PlanTime.text(latest)) still \(left) of users lack the key of "
                    + "\"\(certificate.name)\"")
        }
        var text =
            "or switch to \"\(certificate.name)\" on \(PlanTime.text(day)): from then on "
            + (tolerance == .none ? "nobody lacks" : "no more than \(tolerance) of users lack") + " its key"
        if previous.notAfter < day {
            text +=
                ", and renew \"\(previous.name)\", which ends \(PlanTime.text(previous.notAfter)), with the same "
                + "key until then"
        }
        return PlanAdvice(
            kind: .switchLater, server: lockOut.server, text: text, by: day, apps: lockOut.victims.map(\.app))
    }

    private func refused(_ phases: [[PlanSimulation.Phase]], during index: Int) -> UserShare {
        func sum(at instant: Date, _ cohorts: (Int) -> [PlanSimulation.Cohort]) -> UserShare {
            plan.apps.indices.reduce(.none) { sum, app in
                let part = cohorts(app).reduce(UserShare.none) { part, cohort in
                    let phases = phases[cohort.policy]
                    guard let phase = phases.last(before: instant), phases[phase].decision?.isTrusted == false else {
                        return part
                    }
                    return part + cohort.part
                }
                return sum + plan.apps[app].share(at: instant).part(part)
            }
        }
        return max(
            sum(at: simulation.instants[index]) { simulation.cohorts(ofApp: $0, during: index).start },
            sum(at: simulation.middle(index)) { simulation.cohorts(ofApp: $0, during: index).middle })
    }

    // MARK: An update

    /// The update that would help, and whom it would reach.
    private func updates(_ lockOut: LockOut) -> [PlanAdvice] {
        let apps = lockOut.victims.map(\.app)
        let (fetching, deaf) = (
            apps.filter { plan.apps[$0].fetchesUpdates }, apps.filter { !plan.apps[$0].fetchesUpdates }
        )
        var advice: [PlanAdvice] = []
        var takers: [Int] = []
        var refusals: [String: [Int]] = [:]
        for app in fetching {
            if let refusal = refusal(of: app, lockOut) {
                refusals[refusal, default: []].append(app)
            } else {
                takers.append(app)
            }
        }
        let key = plan.keys[missingKey(lockOut)]
        if !takers.isEmpty {
            let days = plan.updates.last?.reach.last?.day ?? 1
            let by = lockOut.from.addingDays(-days).startOfDay
            let late = by < simulation.now
            let day = late ? "at once" : "by \(PlanTime.text(by))"
            let fetches = takers.count == 1 ? "fetches updates and takes it" : "fetch updates and take it"
            advice.append(
                PlanAdvice(
                    kind: .publishUpdate, server: lockOut.server,
                    text: "or publish an update \(day) with \(key.pin) (key \"\(key.name)\") in the pins of "
                        + "\(server(lockOut.server)): \(versions(takers)) \(fetches) within "
                        + "\(ValidityText.counted(days, "day")), after the lock-out too, since updates come without "
                        + "pins",
                    by: late ? simulation.now : by, pin: key.pin, apps: takers))
        }
        for (refusal, apps) in refusals.sorted(by: { $0.key < $1.key }) {
            advice.append(
                PlanAdvice(
                    kind: .noUpdate, server: lockOut.server,
                    text: "such an update does not help \(versions(apps)): \(refusal)", apps: apps))
        }
        if !deaf.isEmpty {
            let fetch = deaf.count == 1 ? "fetches none" : "fetch none"
            advice.append(
                PlanAdvice(
                    kind: .noUpdate, server: lockOut.server,
                    text: "no update reaches \(versions(deaf)): \(deaf.count == 1 ? "it" : "they") \(fetch)", apps: deaf
                ))
        }
        return advice
    }

    /// Why an app would not take, or not be helped by, its own policy with the missing pin; `nil` where it would.
    private func refusal(of app: Int, _ lockOut: LockOut) -> String? {
        let bundled = plan.policies[plan.apps[app].policy]
        let endpoint = plan.servers[lockOut.server].endpoint
        guard let rule = bundled.rule(for: endpoint) else { return "its policy has no rule for the server" }
        let keys = plan.certificates[lockOut.certificate].keys
        var count = 0
        do throws(ToolError) {
            let mended = try bundled.replacingRules { host in
                defer { count += 1 }
                guard count == rule.index else { return host }
                return host.pinning(host.pins, backups: host.backupPins + self.pins(for: host, of: keys, lockOut))
            }
            let version = max(plan.updates.last?.version ?? 0, bundled.updateVersion) + 1
            let failure = try UpdateTrial().failure(
                of: mended, version: version, issued: lockOut.from, expires: lockOut.from.addingDays(1),
                bundled: bundled, at: lockOut.from)
            if let failure { return "\(failure.code.rawValue): \(failure)" }
            let decision = self.decision(lockOut, under: try simulation.standIns.policy(mended))
            return decision?.isTrusted == true ? nil : decision.map { "\($0.reason) all the same" }
        } catch {
            return error.message
        }
    }

    private func pins(for host: PinnedHost, of keys: [Int], _ lockOut: LockOut) -> [Pin] {
        guard host.requires == .leafAndCA, let leaf = keys.first, let root = keys.last, keys.count > 1 else {
            return [Pin(.publicKey(plan.keys[missingKey(lockOut)].pin))]
        }
        let pins = [
            Pin(.publicKey(plan.keys[leaf].pin), at: .leaf), Pin(.publicKey(plan.keys[root].pin), at: .ca),
        ]
        return pins.filter { !(host.pins + host.backupPins).contains($0) }
    }
}
