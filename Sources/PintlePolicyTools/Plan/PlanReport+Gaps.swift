internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleText
internal import PintleUpdates

/// Parts of a rotation that the plan does not simulate, or that no pin checks. A plan without lock-outs proves nothing
/// about them.
extension PlanReport {
    /// A Boolean value that indicates whether versions or servers of the plan are not judged in all of its time.
    var isIncomplete: Bool { !gaps.isEmpty }

    /// The result for programs, from `lockedOut` to `ok`.
    var code: String {
        isLockedOut ? "lockedOut" : exposures.isEmpty ? isIncomplete ? "incomplete" : "ok" : "exposed"
    }

    /// The users and times about which the result says nothing, for the headline.
    var notSimulated: [String] {
        let instants = simulation.instants
        let judged = plan.apps.indices.filter { app in instants.contains(where: plan.apps[app].isSupported) }
        let named =
            judged.isEmpty
            ? "any version"
            : judged.count > 4
                ? "versions that the plan does not name"
                : "versions other than "
                    + plan.names(ofVersions: judged)
        let ended = judged.compactMap { app -> String? in
            guard let end = plan.apps[app].supportedUntil, end < plan.until else { return nil }
            return "version \(plan.apps[app].version) from \(PlanTime.text(end)) on"
        }
        // An app that has not taken an update by then is judged as if it had.
        let isFetched = plan.updates.indices.contains { update in
            judged.contains { simulation.missed[$0][update] == nil }
        }
        let days = ValidityText.counted(plan.daysToFetch ?? RotationPlan.defaultDaysToFetch, "day")
        let late = isFetched ? ["users who take longer than \(days) to fetch an update"] : []
        return [named] + ended + late + (gaps.isEmpty ? [] : ["the gaps in the notes"])
    }

    /// The gaps: no version, and by server: served too late, covered by no rule, expired pins, reported only.
    var gaps: [String] {
        guard plan.apps.contains(where: { simulation.instants.contains(where: $0.isSupported) }) else {
            return ["no version is released and supported between \(span.replacing(" to ", with: " and "))"]
        }
        let bare = simulation.instants.first { instant in
            instant < plan.until && !plan.apps.contains { $0.isSupported(at: instant) }
        }
        let unsupported = bare.map { ["no version is supported on \(PlanTime.text($0))"] } ?? []
        return unsupported
            + Self.distinct(
                plan.servers.indices.flatMap { server in
                    [unserved(server)].compactMap(\.self) + unchecked(server)
                })
    }

    private func unserved(_ server: Int) -> String? {
        guard let first = plan.servers[server].switches.first?.from, first > simulation.now else { return nil }
        let name = plan.servers[server].name
        return first < plan.until
            ? "\(name) serves nothing before \(PlanTime.text(first)): it is not simulated until then"
            : "\(name) serves nothing in the plan: it begins on \(PlanTime.text(first)), after the end"
    }

    /// Returns a sentence for each gap in the pins for a server, in the order of time.
    private func unchecked(_ server: Int) -> [String] {
        struct Gap: Hashable {
            let reason: String
            let meaning: String
            let from: Date
        }
        var apps: [Gap: [Int]] = [:]
        var updates: [Gap: [Int]] = [:]
        for policy in plan.policies.indices {
            let versions = plan.apps.indices.filter { index in
                plan.apps[index].policy == policy && simulation.instants.contains(where: plan.apps[index].isSupported)
            }
            let bringers = plan.updates.indices.filter { plan.updates[$0].policy == policy }
            var reasons: Set<String> = []
            for phase in simulation.phases[server][policy] {
                guard case .trusted(let basis) = phase.decision, let meaning = Self.meaning(of: basis),
                    reasons.insert(basis.reason).inserted
                else { continue }
                let gap = Gap(reason: basis.reason, meaning: meaning, from: phase.from)
                if !versions.isEmpty { apps[gap, default: []] += versions }
                if !bringers.isEmpty { updates[gap, default: []] += bringers }
            }
        }
        return Set(apps.keys).union(updates.keys).sorted { ($0.from, $0.reason) < ($1.from, $1.reason) }.map { gap in
            let who =
                (apps[gap].map { [plan.versions($0.sorted())] } ?? [])
                + (updates[gap] ?? []).sorted().map { "update \(plan.updates[$0].version)" }
            let since = gap.from == simulation.now ? "" : "from \(PlanTime.text(gap.from)) on, "
            return "\(since)\(who.joined(separator: " and ")): \(gap.meaning) \(plan.servers[server].name)"
        }
    }

    /// Returns the meaning of a trust reason for a rotation; `nil` if a pin matched or the user approved the
    /// certificate.
    private static func meaning(of basis: TrustBasis) -> String? {
        switch basis {
        case .hostNotPinned: "no rule, so that any key passes for"
        case .pinsExpired: "pins that have expired, so that any key passes for"
        case .mismatchReportedOnly: "a rule that only reports, so that a key which is not pinned passes for"
        case .pinMatched, .userApproved: nil
        }
    }

    /// Notes about certificates that end with the first second of a day. The author of the plan may have meant the last
    /// second.
    var lastDays: [String] {
        let days = plan.servers.flatMap { server in
            zip(server.switches, server.switches.dropFirst()).compactMap { before, after -> String? in
                let certificate = plan.certificates[before.certificate]
                let end = certificate.notAfter
                guard end == end.startOfDay, after.from >= end, after.from <= end.addingDays(1), end >= simulation.now
                else { return nil }
                let day = ValidityText.day(end)
                return
                    "\"\(certificate.name)\" ends with the first second of \(day), and \(server.name) switches from it "
                    + "on \(PlanTime.text(after.from)): if that day is its last good one, "
                    + "write \"\(day)T23:59:59Z\""
            }
        }
        return Self.distinct(days)
    }

    /// Returns each sentence once: the cases of one server share many.
    private static func distinct(_ sentences: [String]) -> [String] {
        var seen: Set<String> = []
        return sentences.filter { seen.insert($0).inserted }
    }
}
