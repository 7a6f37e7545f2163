internal import Pintle
internal import PintleSystem

/// Reads versions of the app and signed updates.
extension PlanReader {
    mutating func apps(_ value: JSONValue, _ path: String) -> [RotationPlan.App] {
        var apps: [RotationPlan.App] = []
        var versions: [String] = []
        for (element, path) in list(value, path, limit: PlanLimits.apps) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.App.self, path) else { continue }
            let version = newName(.version, of: fields, known: &versions)
            let released = date(.released, of: fields)
            let policy = required(.policy, of: fields, example: "\"policy.json\"") { $0.policy($1, $2) }
            let fetches = optional(.fetchesUpdates, of: fields) { $0.boolean($1, $2) }
            let share = required(.share, of: fields, example: "[{\"at\": \"2026-11-20\", \"percent\": 100}]") {
                $0.shares($1, $2)
            }
            guard let version, let released, let policy, fetches != nil || fields[.fetchesUpdates] == nil, let share
            else { continue }
            apps.append(
                RotationPlan.App(
                    version: version, released: released, policy: policy, fetchesUpdates: fetches ?? false,
                    share: ShareCurve(points: share)))
        }
        if problems.isEmpty { checkSum(of: apps, in: value) }
        return apps
    }

    private mutating func shares(_ value: JSONValue, _ path: String) -> [ShareCurve.Point] {
        var points: [ShareCurve.Point] = []
        for (element, path) in list(value, path, limit: PlanLimits.points) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Share.self, path) else { continue }
            let at = date(.at, of: fields)
            let percent = required(.percent, of: fields, example: "12.4") { $0.percent($1, $2) }
            if let at, let last = points.last, at <= last.at { reportOrder(.at, of: fields) }
            guard let at, let percent else { continue }
            points.append(ShareCurve.Point(at: at, share: percent))
        }
        return points
    }

    /// Reports an instant at which the versions together have more than 100 % of users. Shares are linear in between,
    /// so the sum is largest where a curve bends or begins.
    private mutating func checkSum(of apps: [RotationPlan.App], in list: JSONValue) {
        for instant in Set(apps.flatMap { $0.share.points.map(\.at) + [$0.released] }).sorted() {
            let sum = apps.reduce(0) { $0 + $1.share(at: instant).units }
            // Interpolation can round each share up by a thousandth of a per cent.
            guard sum > 100_000 + apps.count else { continue }
            let tenths = (sum + 50) / 100
            report(
                "shares-exceed-100", list,
                "on \(PlanTime.text(instant)) the versions have \(tenths / 10).\(tenths % 10) % of users",
                help: "between two points a share goes in a straight line, and before the first and after the last it "
                    + "stays; add points")
            return
        }
    }

    // MARK: Updates

    mutating func updates(_ value: JSONValue, _ path: String) -> [RotationPlan.Update] {
        var updates: [RotationPlan.Update] = []
        for (element, path) in list(value, path, limit: PlanLimits.updates, mayBeEmpty: true) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Update.self, path) else { continue }
            let version = required(.version, of: fields, example: "7") {
                $0.integer($1, in: 1...9_007_199_254_740_991, id: "invalid-update-version", $2)
            }
            let published = date(.published, of: fields)
            let expires = date(.expires, of: fields)
            if let published, let expires, expires <= published, let value = fields[.expires] {
                report(
                    "dates-out-of-order", value, "\(path) expires before it is published",
                    help: "write expires after published")
            }
            let policy = required(.policy, of: fields, example: "\"policy-7.json\"") { $0.policy($1, $2) }
            if let value = fields[.reach] {
                report(
                    "unknown-key", value, "\(path).reach is no longer read: one number for all updates replaces it",
                    help: "write \"daysToFetch\" beside \"updates\": the days until most users have fetched an update")
            }
            if let last = updates.last {
                if let version, version <= last.version, let value = fields[.version] {
                    report(
                        "versions-out-of-order", value, "\(path).version is not above the one before",
                        help: "every update has a higher version than those before it; apps refuse others")
                }
                if let published, published <= last.published { reportOrder(.published, of: fields) }
            }
            guard let version, let published, let expires, let policy else { continue }
            updates.append(
                RotationPlan.Update(version: version, published: published, expires: expires, policy: policy))
        }
        return updates
    }
}
