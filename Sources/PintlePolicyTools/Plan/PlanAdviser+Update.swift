internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleText
internal import PintleUpdates

/// Advice for a signed update that would help versions that do not pin a key. One update is published for all
/// versions, so the adviser checks every version that fetches updates against the same policy.
extension PlanAdviser {
    /// The number of policies that are tried for an update.
    private static let maximumTrials = 4

    /// A policy for an update, and its effect on the versions.
    private struct UpdateProposal {
        /// The version whose policy is the base. The update adds the missing pin.
        let base: Int
        let takers: [Int]
        let refusals: [String: [Int]]
        /// Versions that would take the update and lose a server that they can connect to without it.
        let losers: [Int]
    }

    func updates(_ lockOut: LockOut) -> [PlanAdvice] {
        let apps = lockOut.victims.map(\.app)
        let fetching = apps.filter { plan.apps[$0].fetchesUpdates }
        let others = apps.filter { !plan.apps[$0].fetchesUpdates }
        var advice = fetching.isEmpty ? [] : published(lockOut, fetching)
        if !others.isEmpty {
            let fetch = others.count == 1 ? "it fetches no updates" : "they fetch no updates"
            advice.append(
                PlanAdvice(
                    kind: .noUpdate, server: lockOut.server,
                    text: "no update reaches \(plan.versions(others)): \(fetch)", apps: others))
        }
        return advice
    }

    private func published(_ lockOut: LockOut, _ fetching: [Int]) -> [PlanAdvice] {
        let days = plan.daysToFetch ?? RotationPlan.defaultDaysToFetch
        let due = lockOut.from.addingDays(-days).startOfDay
        let isLate = due < simulation.now
        let by = isLate ? simulation.now : due
        let proposals = proposals(lockOut, fetching, from: by)
        let harmless = proposals.filter(\.losers.isEmpty)
        let most = harmless.map(\.takers.count).max()
        guard let best = harmless.first(where: { $0.takers.count == most }) ?? proposals.first else { return [] }
        var advice: [PlanAdvice] = []
        if !best.losers.isEmpty {
            advice.append(
                PlanAdvice(
                    kind: .noUpdate, server: lockOut.server,
                    text:
                        "an update with the policy of \(plan.versions([best.base])) does not help: "
                        + "with it \(plan.versions(best.losers)) "
                        + "would lose pins that are still needed",
                    apps: best.losers))
        } else if !best.takers.isEmpty {
            let key = plan.keys[missingKey(lockOut)]
            let fetches = best.takers.count == 1 ? "fetches updates and takes it" : "fetch updates and take it"
            let span =
                plan.daysToFetch == nil
                ? "\(days) days are assumed for that, since the plan has no \"daysToFetch\""
                : "within \(ValidityText.counted(days, "day"))"
            advice.append(
                PlanAdvice(
                    kind: .publishUpdate, server: lockOut.server,
                    text: "or publish an update \(isLate ? "at once" : "by \(PlanTime.text(by))") with the policy of "
                        + "\(plan.versions([best.base])) and \(key.pin) (key \"\(key.name)\") in the pins of "
                        + "\(server(lockOut.server)): \(plan.versions(best.takers)) \(fetches), \(span); after the "
                        + "lock-out too, since updates come without pins",
                    by: by, pin: key.pin, apps: best.takers))
        }
        for (refusal, apps) in best.refusals.sorted(by: { $0.key < $1.key }) {
            advice.append(
                PlanAdvice(
                    kind: .noUpdate, server: lockOut.server,
                    text: "such an update does not help \(plan.versions(apps)): \(refusal)", apps: apps))
        }
        return advice
    }

    /// Returns the updates to try. They are made from the policies of the newest version that fetches updates and of
    /// the victims, newest first.
    private func proposals(_ lockOut: LockOut, _ fetching: [Int], from day: Date) -> [UpdateProposal] {
        guard let trial = try? UpdateTrial() else { return [] }
        let newest = plan.apps.indices.last { plan.apps[$0].fetchesUpdates && plan.apps[$0].released <= day }
        var bases: [Int] = []
        for base in [newest].compactMap(\.self) + fetching.reversed()
        where !bases.contains(where: { plan.apps[$0].policy == plan.apps[base].policy }) {
            bases.append(base)
        }
        return bases.prefix(Self.maximumTrials).map { base in
            do throws(ToolError) {
                return try proposal(of: base, lockOut, fetching, from: day, trial)
            } catch {
                return UpdateProposal(base: base, takers: [], refusals: [error.message: fetching], losers: [])
            }
        }
    }

    private func proposal(
        of base: Int, _ lockOut: LockOut, _ fetching: [Int], from day: Date, _ trial: UpdateTrial
    ) throws(ToolError) -> UpdateProposal {
        let policy = plan.policies[plan.apps[base].policy]
        let endpoint = plan.servers[lockOut.server].endpoint
        guard let rule = policy.rule(for: endpoint) else {
            return UpdateProposal(
                base: base, takers: [], refusals: ["its policy has no rule for the server": fetching], losers: [])
        }
        var mended = policy
        if decision(lockOut, under: simulation.policies[plan.apps[base].policy])?.isTrusted != true {
            let keys = plan.certificates[lockOut.certificate].keys
            var count = 0
            mended = try policy.replacingRules { host in
                defer { count += 1 }
                guard count == rule.index else { return host }
                return host.pinning(host.pins, backups: host.backupPins + pins(for: host, of: keys, lockOut))
            }
        }
        let tried = try mended.withoutPathLengths()
        let helps = decision(lockOut, under: tried)
        let shipped = plan.policies.map(\.updateVersion).max() ?? 0
        let version = max(plan.updates.last?.version ?? 0, shipped) + 1
        var taking: [Int] = []
        var refusals: [String: [Int]] = [:]
        for app in plan.apps.indices where plan.apps[app].fetchesUpdates {
            let failure = try trial.failure(
                of: mended, version: version, issued: lockOut.from, expires: lockOut.from.addingDays(1),
                bundled: plan.policies[plan.apps[app].policy], at: lockOut.from)
            if let failure {
                if fetching.contains(app) { refusals["\(failure.code.rawValue): \(failure)", default: []].append(app) }
            } else {
                taking.append(app)
            }
        }
        let takers = taking.filter(fetching.contains)
        // Versions that are released later can get an update of their own.
        let exposed = taking.filter { plan.apps[$0].released <= lockOut.from }
        guard let helps, helps.isTrusted else {
            if !takers.isEmpty { refusals["still \(helps?.reason ?? "nothing is served")"] = takers }
            return UpdateProposal(base: base, takers: [], refusals: refusals, losers: [])
        }
        return UpdateProposal(
            base: base, takers: takers, refusals: refusals, losers: losers(tried, from: day, among: exposed))
    }

    /// Returns the versions that connect to a server with their shipped policy, but not with the update.
    private func losers(_ policy: PinningPolicy, from day: Date, among apps: [Int]) -> [Int] {
        var losers: Set<Int> = []
        for (number, server) in plan.servers.enumerated() {
            let mended = PlanSimulation.phases(
                of: server.endpoint, server.switches, under: policy, plan, from: day)
            for app in apps where !losers.contains(app) {
                let shipped = simulation.phases[number][plan.apps[app].policy]
                let start = max(day, plan.apps[app].released)
                let changes = (mended + shipped).map(\.from).filter { $0 > start }
                let loses = ([start] + changes).contains { instant in
                    guard let before = shipped.last(before: instant), shipped[before].decision?.isTrusted == true,
                        let after = mended.last(before: instant)
                    else { return false }
                    return mended[after].decision?.isTrusted == false
                }
                if loses { losers.insert(app) }
            }
        }
        return losers.sorted()
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
