internal import Pintle
internal import PintleSystem
internal import PintleUpdates

/// Parts of a plan that no pin checks. With such gaps, a plan without lock-outs does not prove a good rotation.
extension PlanReport {
    /// The words of a good verdict, which mention gaps.
    var fineWords: String {
        "no user is locked out" + (gaps.isEmpty ? "" : ", but not everything is checked: see the notes")
    }

    /// The gaps by server: served too late, covered by no rule, expired pins, reported only.
    var gaps: [String] {
        Self.distinct(
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
            let users = plan.apps.indices.filter { index in
                plan.apps[index].policy == policy && plan.apps[index].share.points.contains { $0.share > .none }
            }
            let bringers = plan.updates.indices.filter { plan.updates[$0].policy == policy }
            var reasons: Set<String> = []
            for phase in simulation.phases[server][policy] {
                guard case .trusted(let basis) = phase.decision, let meaning = Self.meaning(of: basis),
                    reasons.insert(basis.reason).inserted
                else { continue }
                let gap = Gap(reason: basis.reason, meaning: meaning, from: phase.from)
                if !users.isEmpty { apps[gap, default: []] += users }
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
