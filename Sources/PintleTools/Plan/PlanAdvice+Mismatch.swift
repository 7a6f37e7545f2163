internal import FoundationEssentials
internal import Pintle

/// What to do about versions of the app that do not pin a key: which release brings it.
extension PlanAdviser {
    func mismatch(_ lockOut: LockOut) -> [PlanAdvice] {
        if let update = lockOut.update { return [keptPin(lockOut, update)] }
        return releases(lockOut) + [knownKey(lockOut), laterSwitch(lockOut)].compactMap(\.self) + updates(lockOut)
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

    private func releases(_ lockOut: LockOut) -> [PlanAdvice] {
        let knowing = knowingApps(lockOut)
        let apps = lockOut.victims.map(\.app)
        // Not out yet, and older ones know what they do not.
        let early = apps.filter { app in
            plan.apps[app].released > simulation.now && knowing.contains { $0 < app }
        }
        let late = apps.filter { !early.contains($0) }
        guard let newest = late.max() else { return [heldBack(lockOut, early)] }
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
            text: "hold \(versions(apps)) back, or release \(apps.count == 1 ? "it" : "them") with \(key.pin) (key "
                + "\"\(key.name)\") in the pins of \(server(lockOut.server)), which serves \"\(certificate.name)\" "
                + end,
            by: apps.map { plan.apps[$0].released }.min(), pin: key.pin, apps: apps)
    }

    /// - Parameter knowing: versions that know the key, newer than those who do not: nobody goes back to an older one.
    private func release(_ lockOut: LockOut, _ apps: [Int], _ knowing: [Int]) -> PlanAdvice {
        let certificate = plan.certificates[lockOut.certificate]
        let day = PlanTime.text(lockOut.from)
        let key = plan.keys[missingKey(lockOut)]
        guard !knowing.isEmpty else {
            let last = plan.apps.last.map { "the release after version \($0.version)" } ?? "the next release"
            return PlanAdvice(
                kind: .addPin, server: lockOut.server,
                text: "put \(key.pin) (key \"\(key.name)\") into the backup pins of "
                    + "\(server(lockOut.server)) in \(last); it must have reached \(wanted) of users by \(day), before "
                    + "\"\(certificate.name)\" is served",
                by: lockOut.from, pin: key.pin, share: wanted, apps: apps)
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

    func decision(_ lockOut: LockOut, under policy: PinningPolicy) -> TrustDecision? {
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
}
