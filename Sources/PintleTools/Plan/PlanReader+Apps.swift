internal import Pintle
internal import PintleSystem

/// Reads versions of the app and signed updates.
extension PlanReader {
    mutating func apps(_ value: JSONValue) -> [RotationPlan.App] {
        var apps: [RotationPlan.App] = []
        var versions: [String] = []
        for (index, element) in list(value, "apps", limit: PlanLimits.apps).enumerated() where !isFull {
            let path = "apps[\(index)]"
            guard let members = members(of: element, as: PlanKeys.App.self, path) else { continue }
            let version = newName(.version, of: members, in: element, path, known: &versions)
            let released = date(.released, of: members, in: element, path)
            let policy = required(.policy, of: members, in: element, path, example: "\"policy.json\"")
                .flatMap { self.policy($0, "\(path).policy") }
            let fetches = members[.fetchesUpdates].map { boolean($0, "\(path).fetchesUpdates") } ?? false
            let share = required(
                .share, of: members, in: element, path, example: "[{\"at\": \"2026-11-20\", \"percent\": 100}]"
            ).map { shares($0, "\(path).share") }
            guard let version, let released, let policy, let fetches, let share else { continue }
            apps.append(
                RotationPlan.App(
                    version: version, released: released, policy: policy, fetchesUpdates: fetches,
                    share: ShareCurve(points: share)))
        }
        if problems.isEmpty { checkSum(of: apps, in: value) }
        return apps
    }

    private mutating func shares(_ value: JSONValue, _ path: String) -> [ShareCurve.Point] {
        var points: [ShareCurve.Point] = []
        for (index, element) in list(value, path, limit: PlanLimits.points).enumerated() where !isFull {
            let path = "\(path)[\(index)]"
            guard let members = members(of: element, as: PlanKeys.Share.self, path) else { continue }
            let at = date(.at, of: members, in: element, path)
            let percent = required(.percent, of: members, in: element, path, example: "12.4")
                .flatMap { self.percent($0, "\(path).percent") }
            if let at, let last = points.last, at <= last.at, let value = members[.at] {
                reportOrder(value, "\(path).at")
            }
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

    mutating func updates(_ value: JSONValue) -> [RotationPlan.Update] {
        var updates: [RotationPlan.Update] = []
        let elements = list(value, "updates", limit: PlanLimits.updates, mayBeEmpty: true)
        for (index, element) in elements.enumerated() where !isFull {
            let path = "updates[\(index)]"
            guard let members = members(of: element, as: PlanKeys.Update.self, path) else { continue }
            let version = required(.version, of: members, in: element, path, example: "7").flatMap {
                integer($0, in: 1...9_007_199_254_740_991, id: "invalid-update-version", "\(path).version")
            }
            let published = date(.published, of: members, in: element, path)
            let expires = date(.expires, of: members, in: element, path)
            if let published, let expires, expires <= published, let value = members[.expires] {
                report(
                    "dates-out-of-order", value, "\(path) expires before it is published",
                    help: "write expires after published")
            }
            let policy = required(.policy, of: members, in: element, path, example: "\"policy-7.json\"")
                .flatMap { self.policy($0, "\(path).policy") }
            if let value = members[.reach] {
                report(
                    "unknown-key", value, "\(path).reach is no longer read: one number for all updates replaces it",
                    help: "write \"daysToFetch\" beside \"updates\": the days until most users have fetched an update")
            }
            if let last = updates.last {
                if let version, version <= last.version, let value = members[.version] {
                    report(
                        "versions-out-of-order", value, "\(path).version is not above the one before",
                        help: "every update has a higher version than those before it; apps refuse others")
                }
                if let published, published <= last.published, let value = members[.published] {
                    reportOrder(value, "\(path).published")
                }
            }
            guard let version, let published, let expires, let policy else { continue }
            updates.append(
                RotationPlan.Update(version: version, published: published, expires: expires, policy: policy))
        }
        return updates
    }
}
