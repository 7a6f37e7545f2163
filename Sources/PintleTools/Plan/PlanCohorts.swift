internal import FoundationEssentials
internal import Pintle
internal import PintleUpdates

/// The users of a version by the policy that an update may have brought them.
struct PlanCohorts {
    let plan: RotationPlan
    /// The refusals by update; `nil` for updates that the version takes.
    let refusals: [PlanSimulation.UpdateRefusal?]

    /// Returns the users of the newest update first, and those of the shipped policy last. A user who is slow to take one
    /// update counts as slow for all.
    func cohorts(of app: RotationPlan.App, at instant: Date) -> [PlanSimulation.Cohort] {
        var cohorts: [PlanSimulation.Cohort] = []
        var covered = UserShare.none
        for number in plan.updates.indices.reversed() where refusals[number] == nil {
            let reach = reach(ofUpdate: number, in: app, at: instant)
            guard reach > covered else { continue }
            let part = UserShare(units: reach.units - covered.units)
            cohorts.append(.init(policy: plan.updates[number].policy, part: part))
            covered = reach
        }
        if covered < .all { cohorts.append(.init(policy: app.policy, part: covered.rest)) }
        return cohorts
    }

    /// Returns the share of a version's users with an update. They can take it from its publication, or the version's
    /// release, until the next one takes its place or it expires.
    private func reach(ofUpdate number: Int, in app: RotationPlan.App, at instant: Date) -> UserShare {
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
}
