internal import FoundationEssentials
internal import Pintle
internal import PintleUpdates

/// A plan played through: what each policy decides about each server, and how many users live under it, from now to
/// the plan's end.
struct PlanSimulation {
    /// From an instant on, until the next phase.
    struct Phase {
        let from: Date
        /// What is served; `nil` before anything is.
        let certificate: Int?
        let decision: TrustDecision?
    }

    /// Users of one version under one policy.
    struct Cohort {
        let policy: Int
        /// Of the version's users.
        let part: UserShare
    }

    let plan: RotationPlan
    let now: Date
    let standIns: StandIns
    /// The plan's policies, pinning the stand-ins.
    let policies: [PinningPolicy]
    /// By server and policy.
    let phases: [[[Phase]]]
    /// By app and update: why the app would not take it; `nil` where it would.
    let refusals: [[UpdateRefusal?]]
    /// Every instant at which something changes, and the beginning of every day; the first is now.
    let instants: [Date]

    enum UpdateRefusal {
        /// It was shipped without the means.
        case fetchesNone
        /// The verifier says so.
        case failure(UpdateFailure)
    }

    init(_ plan: RotationPlan, now: Date) throws(ToolError) {
        let now = Date(wholeSeconds: now.wholeSeconds)
        let standIns = try StandIns(plan)
        var policies: [PinningPolicy] = []
        for policy in plan.policies { policies.append(try standIns.policy(policy)) }
        self.plan = plan
        self.now = now
        self.standIns = standIns
        self.policies = policies
        phases = plan.servers.map { server in
            policies.map { policy in
                Self.phases(of: server.endpoint, server.switches, under: policy, plan, standIns, from: now)
            }
        }
        refusals = try Self.refusals(in: plan)
        var instants: Set<Date> = [now]
        for phase in phases.joined().joined() { instants.insert(phase.from) }
        for app in plan.apps { instants.formUnion([app.released] + app.share.points.map(\.at)) }
        for update in plan.updates {
            instants.formUnion([update.published, update.expires])
            // Its reach bends here, counted from the publication or, for later versions, from their release.
            for start in [update.published] + plan.apps.map(\.released) where start >= update.published {
                instants.formUnion(update.reach.map { start.addingDays($0.day) })
            }
        }
        let firstDay = now.startOfDay
        instants.formUnion((0...PlanLimits.days).map(firstDay.addingDays))
        self.instants = instants.filter { $0 >= now && $0 < plan.until }.sorted()
    }

    /// What `policy` decides about a server that serves this, at each change.
    static func phases(
        of endpoint: ServerEndpoint, _ switches: [RotationPlan.Server.Switch], under policy: PinningPolicy,
        _ plan: RotationPlan, _ standIns: StandIns, from now: Date
    ) -> [Phase] {
        var changes: Set<Date> = [now]
        for change in switches {
            let certificate = plan.certificates[change.certificate]
            // The last second of a certificate still counts.
            let end = Date(wholeSeconds: certificate.notAfter.wholeSeconds + 1)
            changes.formUnion([change.from, certificate.notBefore, end])
        }
        if let rule = policy.rule(for: endpoint), let expiry = policy.hosts[rule.index].expiry.date {
            // A fraction of a second has passed with the next whole one.
            changes.insert(Date(timeIntervalSince1970: expiry.timeIntervalSince1970.rounded(.up)))
        }
        return changes.filter { $0 >= now && $0 < plan.until }.sorted().map { instant in
            guard let certificate = switches.last(where: { $0.from <= instant })?.certificate else {
                return Phase(from: instant, certificate: nil, decision: nil)
            }
            return Phase(
                from: instant, certificate: certificate,
                decision: standIns.decision(policy, about: endpoint, serving: certificate, at: instant))
        }
    }

    private static func refusals(in plan: RotationPlan) throws(ToolError) -> [[UpdateRefusal?]] {
        let trial = try UpdateTrial()
        var refusals: [[UpdateRefusal?]] = []
        for app in plan.apps {
            var row: [UpdateRefusal?] = []
            for update in plan.updates {
                guard app.fetchesUpdates else {
                    row.append(.fetchesNone)
                    continue
                }
                let failure = try trial.failure(
                    of: plan.policies[update.policy], version: update.version, issued: update.published,
                    expires: update.expires, bundled: plan.policies[app.policy],
                    at: max(update.published, app.released))
                row.append(failure.map { .failure($0) })
            }
            refusals.append(row)
        }
        return refusals
    }

    // MARK: Users

    func phase(ofServer server: Int, policy: Int, at instant: Date) -> Phase? {
        phases[server][policy].last { $0.from <= instant }
    }

    /// The users of a version by the policy in force for them, the newest update first. Whoever is slow to take one
    /// update is taken to be slow for all.
    func cohorts(ofApp index: Int, at instant: Date) -> [Cohort] {
        let app = plan.apps[index]
        var cohorts: [Cohort] = []
        var covered = UserShare.none
        for number in plan.updates.indices.reversed() where refusals[index][number] == nil {
            let reach = reach(ofUpdate: number, inApp: app, at: instant)
            guard reach > covered else { continue }
            cohorts.append(
                Cohort(policy: plan.updates[number].policy, part: UserShare(units: reach.units - covered.units)))
            covered = reach
        }
        if covered < .all { cohorts.append(Cohort(policy: app.policy, part: covered.rest)) }
        return cohorts
    }

    /// How many of a version's users have taken an update, if they may. It can be taken from its publication, or the
    /// version's release, until the next one takes its place or it expires.
    private func reach(ofUpdate number: Int, inApp app: RotationPlan.App, at instant: Date) -> UserShare {
        let update = plan.updates[number]
        let start = max(update.published, app.released)
        let next = plan.updates.indices.contains(number + 1) ? plan.updates[number + 1].published : .distantFuture
        let end = min(instant, update.expires, next)
        guard end >= start else { return .none }
        let begins = update.reach.first?.day == 0 ? [] : [ShareCurve.Point(at: start, share: .none)]
        let curve = ShareCurve(
            points: begins + update.reach.map { ShareCurve.Point(at: start.addingDays($0.day), share: $0.share) })
        return curve.share(at: end)
    }

    /// Half-way to the next instant. What rises from nothing at an instant shows there, and nothing else changes.
    func middle(_ index: Int) -> Date {
        let end = instants.indices.contains(index + 1) ? instants[index + 1] : plan.until
        return Date(wholeSeconds: (instants[index].wholeSeconds + end.wholeSeconds) / 2)
    }

    /// Users of a version that a server is refused to from an instant to the next, and the phase of most of them.
    func lockedOut(ofServer server: Int, app: Int, during index: Int) -> (share: UserShare, phase: Phase)? {
        lockedOut(ofServer: server, app: app, at: instants[index])
            ?? lockedOut(ofServer: server, app: app, at: middle(index))
    }

    func lockedOut(ofServer server: Int, app: Int, at instant: Date) -> (share: UserShare, phase: Phase)? {
        let users = plan.apps[app].share(at: instant)
        guard users > .none else { return nil }
        var part = UserShare.none
        var largest: (part: UserShare, phase: Phase)?
        for cohort in cohorts(ofApp: app, at: instant) {
            guard let phase = phase(ofServer: server, policy: cohort.policy, at: instant),
                case .rejected = phase.decision
            else { continue }
            part = part + cohort.part
            if cohort.part > largest?.part ?? .none { largest = (cohort.part, phase) }
        }
        guard let largest else { return nil }
        return (users.part(part), largest.phase)
    }

    /// The users of some versions who cannot connect to a server, the most of them from an instant to the next.
    func lockedOut(ofServer server: Int, apps: some Sequence<Int>, during index: Int) -> UserShare {
        func sum(at instant: Date) -> UserShare {
            apps.reduce(.none) { $0 + (lockedOut(ofServer: server, app: $1, at: instant)?.share ?? .none) }
        }
        return max(sum(at: instants[index]), sum(at: middle(index)))
    }
}
