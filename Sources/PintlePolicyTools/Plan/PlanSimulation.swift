internal import Pintle
internal import PintleConsole
internal import PintlePolicyLint
internal import PintleSystem
internal import PintleUpdates

/// A simulation of a plan, from now to the plan's end: each policy's decision about each server, and the policies that
/// each version can have.
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
    /// Every instant at which something changes, and the beginning of every day; the first is now. Nothing changes
    /// between two of them.
    let instants: [Date]
    /// The policies that a version can have, the newest first, by app and instant; empty while it is not supported.
    private let policyTable: [[[Int]]]
    /// The losses by server, app and instant.
    private let lossTable: [[[Loss?]]]

    /// A refusal of a server by a version.
    struct Loss {
        /// The oldest policy that refuses; the one of the version if the system does.
        let policy: Int
        let phase: Phase
        /// A Boolean value that indicates whether the system refuses because of the Info.plist. It does so before a
        /// policy is asked.
        var isBySystem = false
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
        let possible = plan.apps.indices.map { app in
            instants.map { plan.possiblePolicies(ofApp: app, missed: missed[app], at: $0) }
        }
        lossTable = zip(plan.servers, phases).map { server, phases in
            zip(plan.apps, possible).map { app, possible in
                let system = Self.phases(of: server.endpoint, server.switches, under: app, plan)
                return zip(instants, possible).map { Self.loss($1, phases, system, at: $0) }
            }
        }
        (self.plan, self.now, self.policies) = (plan, now, policies)
        (self.phases, self.missed, self.instants) = (phases, missed, instants)
        policyTable = possible
    }

    private static func instants(of plan: RotationPlan, _ phases: [[[Phase]]], from now: Date) -> [Date] {
        var instants: Set<Date> = [now]
        for phase in phases.joined().joined() { instants.insert(phase.from) }
        for app in plan.apps { instants.formUnion([app.released, app.supportedUntil].compactMap(\.self)) }
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

    /// Returns the refusals of the system because of a version's Info.plist.
    private static func phases(
        of endpoint: ServerEndpoint, _ switches: [RotationPlan.Server.Switch], under app: RotationPlan.App,
        _ plan: RotationPlan
    ) -> [Phase] {
        guard let pins = app.infoPlist else { return [] }
        return switches.map { change in
            let isAccepted = plan.unmatchedLists(of: pins, serving: change.certificate, at: endpoint).isEmpty
            let failure = PathFailure(.other, depth: 0, text: "NSPinnedDomains has no key of the path")
            return Phase(
                from: change.from, certificate: change.certificate,
                decision: isAccepted ? nil : .rejected(.invalidPath(failure)))
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

    // MARK: Versions

    func phase(ofServer server: Int, policy: Int, at instant: Date) -> Phase? {
        let phases = phases[server][policy]
        return phases.last(before: instant).map { phases[$0] }
    }

    /// Returns the policies that a version can have at an instant: the newest first; empty while it is not supported.
    func possiblePolicies(ofApp app: Int, at index: Int) -> [Int] { policyTable[app][index] }

    /// Returns a loss if the system or one of the policies that a version can have refuses.
    private static func loss(
        _ possible: [Int], _ phases: [[Phase]], _ system: [Phase], at instant: Date
    ) -> Loss? {
        guard let shipped = possible.last else { return nil }
        if let index = system.last(before: instant), case .rejected = system[index].decision {
            return Loss(policy: shipped, phase: system[index], isBySystem: true)
        }
        for policy in possible.reversed() {
            guard let index = phases[policy].last(before: instant), case .rejected = phases[policy][index].decision
            else { continue }
            return Loss(policy: policy, phase: phases[policy][index])
        }
        return nil
    }

    /// Returns the policy of a version that refuses a server between an instant and the next, and its phase.
    func loss(ofServer server: Int, app: Int, at index: Int) -> Loss? { lossTable[server][app][index] }

    // MARK: Losses

    /// Returns the versions that lose a server in the plan.
    func losses(ofServer server: Int) -> PlanLosses {
        PlanLosses(isLost: lossTable[server].map { losses in losses.map { $0 != nil } })
    }

    /// Returns the versions that would lose a server with other certificates, or other switches.
    func losses(
        ofServer server: Int, serving switches: [RotationPlan.Server.Switch], in other: RotationPlan
    ) -> PlanLosses {
        let endpoint = plan.servers[server].endpoint
        let phases = policies.map { Self.phases(of: endpoint, switches, under: $0, other, from: now) }
        return PlanLosses(
            isLost: zip(plan.apps, policyTable).map { app, possible in
                let system = Self.phases(of: endpoint, switches, under: app, other)
                return zip(instants, possible).map { Self.loss($1, phases, system, at: $0) != nil }
            })
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
    /// Returns the policies that a version can have at an instant, the newest first; empty while it is not supported.
    ///
    /// Every app asks for updates at least once in ``daysToFetch``, at an unknown hour. Until that many days have
    /// passed, the version can have the new policy or the earlier one, so both count. The earlier one may refuse a new
    /// certificate. The new one may refuse the certificate that is still served.
    ///
    /// - Parameter missed: the reasons by update; `nil` for updates that the version takes.
    func possiblePolicies(ofApp app: Int, missed: [PlanSimulation.MissedUpdate?], at instant: Date) -> [Int] {
        guard apps[app].isSupported(at: instant) else { return [] }
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
