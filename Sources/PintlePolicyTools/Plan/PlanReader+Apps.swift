internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleSystem

/// Reads versions of the app and signed updates.
extension PlanReader {
    mutating func apps(_ value: JSONValue, _ path: String) -> [RotationPlan.App] {
        var apps: [RotationPlan.App] = []
        var versions: [String] = []
        var reportsShare = false
        for (element, path) in list(value, path, limit: PlanLimits.apps) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.App.self, path) else { continue }
            let version = newName(.version, of: fields, known: &versions)
            let released = date(.released, of: fields)
            let policy = required(.policy, of: fields, example: "\"policy.json\"") { $0.policy($1, $2) }
            let fetches = optional(.fetchesUpdates, of: fields) { $0.boolean($1, $2) }
            let infoPlist = optional(.infoPlist, of: fields) { $0.infoPlist($1, $2) }
            let supportedUntil = optional(.supportedUntil, of: fields) { $0.date($1, $2) }
            if let released, let supportedUntil, supportedUntil <= released, let value = fields[.supportedUntil] {
                report(
                    "dates-out-of-order", value, "\(path) is not supported on any day",
                    help: "write supportedUntil after released")
            }
            // One error for all versions: the remedy is the same.
            if let value = fields[.share], !reportsShare {
                reportsShare = true
                report(
                    "unknown-key", value,
                    "\(path).share is no longer read: the plan asks versions, not shares of users",
                    help: "leave \"share\" out of all versions, and give each version that the app stops supporting "
                        + "a day: \"supportedUntil\"")
            }
            guard let version, let released, let policy, fetches != nil || fields[.fetchesUpdates] == nil else {
                continue
            }
            apps.append(
                RotationPlan.App(
                    version: version, released: released, policy: policy, fetchesUpdates: fetches ?? false,
                    supportedUntil: supportedUntil, infoPlist: infoPlist ?? nil))
        }
        return apps
    }

    // MARK: Updates

    mutating func updates(_ value: JSONValue, _ path: String) -> [RotationPlan.Update] {
        var updates: [RotationPlan.Update] = []
        for (element, path) in list(value, path, limit: PlanLimits.updates, mayBeEmpty: true) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Update.self, path) else { continue }
            let version = required(.version, of: fields, example: "7") {
                $0.integer($1, in: 1...PinningPolicy.updateVersions.upperBound, id: "invalid-update-version", $2)
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
