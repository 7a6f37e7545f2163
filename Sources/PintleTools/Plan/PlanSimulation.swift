internal import Pintle
internal import PintleSystem
internal import PintleUpdates

/// A simulation of a plan, from now to the plan's end: each policy's decision about each server, and the policies that
/// the users of each version can have.
struct PlanSimulation {
    /// The decision of a policy about a server. It holds until the next phase.
    struct Phase {
        let from: Date
        /// The certificate that is served; `nil` before the first one.
        let certificate: Int?
        let decision: TrustDecision?
    }

    let plan: RotationPlan
    let now: Date
    /// The plan's policies without requirements on the length of paths.
    let policies: [PinningPolicy]
    /// The phases by server and policy.
    let phases: [[[Phase]]]
    /// The reasons why an app would not take an update, by app and update; `nil` if it would.
    let missed: [[MissedUpdate?]]
    /// Every instant at which something changes, and the beginning of every day; the first is now.
    let instants: [Date]
    /// The policies that users can have, the newest first, by app and sample.
    private let policyTable: [[[Int]]]
    /// The users of each version, by app and sample.
    private let userTable: [[UserShare]]
    /// The losses by server, app and sample.
    private let lossTable: [[[Loss?]]]

    /// Users of a version who cannot connect to a server.
    struct Loss {
        let share: UserShare
        /// The oldest policy that refuses.
        let policy: Int
        let phase: Int
    }

    enum MissedUpdate {
        /// The version fetches no updates.
        case fetchesNone
        /// The verifier refuses the update.
        case failure(UpdateError.Reason)
        /// The next update was published before the version was released.
        case replaced
    }

    init(_ plan: RotationPlan, now: Date) throws(ToolError) {
        let now = Date(wholeSeconds: now.wholeSeconds)
        var policies: [PinningPolicy] = []
        for policy in plan.policies { policies.append(try policy.withoutPathLengths()) }
        let phases = plan.servers.map { server in
            policies.map { policy in
                Self.phases(of: server.endpoint, server.switches, under: policy, plan, from: now)
            }
        }
        let missed = try Self.missed(in: plan)
        let instants = Self.instants(of: plan, phases, from: now)
        let samples = instants.enumerated().flatMap { [$1, Self.middle($0, of: instants, until: plan.until)] }
        let possible = plan.apps.indices.map { app in
            samples.map { plan.possiblePolicies(ofApp: app, missed: missed[app], at: $0) }
        }
        let users = plan.apps.map { app in samples.map(app.share(at:)) }
        lossTable = phases.map { phases in
            plan.apps.indices.map { app in
                samples.enumerated().map { sample, instant in
                    Self.loss(of: users[app][sample], possible[app][sample], phases, at: instant)
                }
            }
        }
        (self.plan, self.now, self.policies) = (plan, now, policies)
        (self.phases, self.missed, self.instants) = (phases, missed, instants)
        (policyTable, userTable) = (possible, users)
    }

    private static func instants(of plan: RotationPlan, _ phases: [[[Phase]]], from now: Date) -> [Date] {
        var instants: Set<Date> = [now]
        for phase in phases.joined().joined() { instants.insert(phase.from) }
        for app in plan.apps { instants.formUnion([app.released] + app.share.points.map(\.at)) }
        for update in plan.updates {
            instants.insert(update.published)
            // Days count from the publication or, for later versions, from the release.
            for start in [update.published] + plan.apps.map(\.released) where start >= update.published {
                instants.insert(start.addingDays(plan.daysToFetch ?? RotationPlan.defaultDaysToFetch))
            }
        }
        let firstDay = now.startOfDay
        instants.formUnion((0...PlanLimits.days).map(firstDay.addingDays))
        return instants.filter { $0 >= now && $0 < plan.until }.sorted()
    }

    /// Returns the instant half-way to the next one. No decision changes between two instants, but a share that rises
    /// from zero shows only in between.
    private static func middle(_ index: Int, of instants: [Date], until: Date) -> Date {
        let end = instants.indices.contains(index + 1) ? instants[index + 1] : until
        return Date(wholeSeconds: (instants[index].wholeSeconds + end.wholeSeconds) / 2)
    }

    /// Returns the decisions of `policy` about a server with these switches, one for each change.
    static func phases(
        of endpoint: ServerEndpoint, _ switches: [RotationPlan.Server.Switch], under policy: PinningPolicy,
        _ plan: RotationPlan, from now: Date
    ) -> [Phase] {
        var changes: Set<Date> = [now]
        for change in switches {
            let certificate = plan.certificates[change.certificate]
            // A certificate is still valid in its last second.
            let end = Date(wholeSeconds: certificate.notAfter.wholeSeconds + 1)
            changes.formUnion([change.from, certificate.notBefore, end])
        }
        if let rule = policy.rule(for: endpoint), let expiry = policy.hosts[rule.index].expiry.date {
            // The simulation counts whole seconds, so an expiry with a fraction takes effect at the next whole second.
            changes.insert(Date(timeIntervalSince1970: expiry.timeIntervalSince1970.rounded(.up)))
        }
        return changes.filter { $0 >= now && $0 < plan.until }.sorted().map { instant in
            guard let certificate = switches.last(where: { $0.from <= instant })?.certificate else {
                return Phase(from: instant, certificate: nil, decision: nil)
            }
            return Phase(
                from: instant, certificate: certificate,
                decision: plan.decision(policy, about: endpoint, serving: certificate, at: instant))
        }
    }

    private static func missed(in plan: RotationPlan) throws(ToolError) -> [[MissedUpdate?]] {
        let trial = try UpdateTrial()
        var missed: [[MissedUpdate?]] = []
        for app in plan.apps {
            var row: [MissedUpdate?] = []
            for (number, update) in plan.updates.enumerated() {
                guard app.fetchesUpdates else {
                    row.append(.fetchesNone)
                    continue
                }
                if plan.updates.indices.contains(number + 1), plan.updates[number + 1].published <= app.released {
                    row.append(.replaced)
                    continue
                }
                let failure = try trial.failure(
                    of: plan.policies[update.policy], version: update.version, issued: update.published,
                    expires: update.expires, bundled: plan.policies[app.policy],
                    at: max(update.published, app.released))
                row.append(failure.map { .failure($0) })
            }
            missed.append(row)
        }
        return missed
    }

    // MARK: Users

    func phase(ofServer server: Int, policy: Int, at instant: Date) -> Phase? {
        let phases = phases[server][policy]
        return phases.last(before: instant).map { phases[$0] }
    }

    /// Returns the policies that users of a version can have at an instant: the newest first.
    func possiblePolicies(ofApp app: Int, at index: Int) -> [Int] { policyTable[app][2 * index] }

    func middle(_ index: Int) -> Date { Self.middle(index, of: instants, until: plan.until) }

    /// Returns all users of a version if one of the policies that they can have refuses.
    private static func loss(
        of users: UserShare, _ possible: [Int], _ phases: [[Phase]], at instant: Date
    ) -> Loss? {
        guard users > .none else { return nil }
        for policy in possible.reversed() {
            guard let index = phases[policy].last(before: instant), case .rejected = phases[policy][index].decision
            else { continue }
            return Loss(share: users, policy: policy, phase: index)
        }
        return nil
    }

    /// Returns the users of a version who cannot connect to a server between an instant and the next, and the phase of
    /// the policy that refuses.
    func loss(ofServer server: Int, app: Int, during index: Int) -> (loss: Loss, phase: Phase)? {
        let losses = lossTable[server][app]
        guard let loss = losses[2 * index] ?? losses[2 * index + 1] else { return nil }
        return (loss, phases[server][loss.policy][loss.phase])
    }

    /// Returns the largest share of users of these versions who cannot connect to a server between an instant and the
    /// next.
    func lockedOutShare(ofServer server: Int, apps: some Sequence<Int>, during index: Int) -> UserShare {
        func sum(_ sample: Int) -> UserShare {
            apps.reduce(.none) { $0 + (lossTable[server][$1][sample]?.share ?? .none) }
        }
        return max(sum(2 * index), sum(2 * index + 1))
    }

    // MARK: Losses

    /// Returns the users that a server loses in the plan.
    func losses(ofServer server: Int) -> PlanLosses {
        PlanLosses(shares: lossTable[server].map { losses in losses.map { $0?.share ?? .none } })
    }

    /// Returns the users that a server would lose with other certificates, or other switches.
    func losses(
        ofServer server: Int, serving switches: [RotationPlan.Server.Switch], in other: RotationPlan
    ) -> PlanLosses {
        let endpoint = plan.servers[server].endpoint
        let phases = policies.map { Self.phases(of: endpoint, switches, under: $0, other, from: now) }
        return PlanLosses(
            shares: plan.apps.indices.map { app in
                userTable[app].indices.map { sample in
                    let instant = sample % 2 == 0 ? instants[sample / 2] : middle(sample / 2)
                    let loss = Self.loss(of: userTable[app][sample], policyTable[app][sample], phases, at: instant)
                    return loss?.share ?? .none
                }
            })
    }

    /// Returns the users of a version who cannot connect to a server at an instant, which need not be a sample.
    func lockedOutShare(ofServer server: Int, app: Int, at instant: Date) -> UserShare {
        let possible = plan.possiblePolicies(ofApp: app, missed: missed[app], at: instant)
        return Self.loss(of: plan.apps[app].share(at: instant), possible, phases[server], at: instant)?.share ?? .none
    }
}

extension [PlanSimulation.Phase] {
    /// Returns the index of the phase at an instant. Phases are in the order of time.
    func last(before instant: Date) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].from <= instant { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

extension RotationPlan {
    /// Returns the policies that users of a version can have at an instant, the newest first.
    ///
    /// Every app asks for updates at least once in ``daysToFetch``, at an unknown hour. Until that many days have
    /// passed, a user can have the new policy or the earlier one, so both count. The earlier one may refuse a new
    /// certificate. The new one may refuse the certificate that is still served.
    ///
    /// - Parameter missed: the reasons by update; `nil` for updates that the version takes.
    func possiblePolicies(ofApp app: Int, missed: [PlanSimulation.MissedUpdate?], at instant: Date) -> [Int] {
        let days = daysToFetch ?? Self.defaultDaysToFetch
        var policies: [Int] = []
        // A time without a gap in which there is an update to fetch.
        var time: (start: Date, end: Date)?
        for number in updates.indices.reversed() where missed[number] == nil {
            let update = updates[number]
            let start = max(update.published, apps[app].released)
            guard start <= instant else { continue }
            policies.append(update.policy)
            let next = updates.indices.contains(number + 1) ? updates[number + 1].published : .distantFuture
            let end = min(instant, update.expires, next)
            time = (start, time?.start == end ? time?.end ?? end : end)
            if let time, time.start.addingDays(days) <= time.end { return policies }
        }
        return policies + [apps[app].policy]
    }
}
