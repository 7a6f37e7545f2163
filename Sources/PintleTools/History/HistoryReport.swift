internal import Pintle
internal import PintleSystem

/// The history of one server, and the pins that were judged by it.
struct HistoryEntry {
    let history: KeyHistory
    let changes: [KeyChange]
    let statuses: PinStatuses

    var server: AuditServer { history.server }
    var isChanged: Bool { !changes.isEmpty || !statuses.died.isEmpty }

    var leafKeys: Int { changes.count(where: \.leafKey) }
    var leafCertificates: Int { changes.count(where: \.leafCertificate) }
    var intermediates: Int { changes.count(where: \.intermediates) }
    var roots: Int { changes.count(where: \.root) }
}

/// The result of `pintle audit --history`: the histories of all servers, those with dead pins first, then those with
/// changes.
struct HistoryReport {
    /// Servers that changed or have a pin that died.
    let changed: [HistoryEntry]
    /// Servers that showed the same keys and certificates in every result.
    let unchanged: [HistoryEntry]
    /// Servers with a valid path in one result only, which proves nothing.
    let single: [HistoryEntry]
    /// Servers without a valid path in any result.
    let unseen: [HistoryEntry]
    /// The number of results, those that stand there twice included.
    let results: Int
    /// The number of policies, and of sets of anchors, that decided the results.
    let (policies, anchors): (Int, Int)
    /// The name of the policy file that judges the pins; `nil` without one.
    let policy: String?
    /// From the first result to the last.
    let span: ClosedRange<Date>

    /// - Returns: `nil` without a result.
    init?(_ reader: HistoryReader, policy: (name: String, policy: PinningPolicy)?) {
        var span: ClosedRange<Date>?
        var entries: [HistoryEntry] = []
        for (_, history) in reader.histories.sorted(by: { $0.key < $1.key }) {
            guard let own = history.span else { continue }
            span = span.map { min($0.lowerBound, own.lowerBound)...max($0.upperBound, own.upperBound) } ?? own
            entries.append(
                HistoryEntry(
                    history: history, changes: history.changes, statuses: PinStatuses(history, by: policy?.policy)))
        }
        guard let span else { return nil }
        self.span = span
        let conclusive = entries.filter(\.history.isConclusive)
        let changed = conclusive.filter(\.isChanged)
        self.changed = changed.filter { !$0.statuses.died.isEmpty } + changed.filter(\.statuses.died.isEmpty)
        unchanged = conclusive.filter { !$0.isChanged }
        single = entries.filter { $0.history.observations.count == 1 }
        unseen = entries.filter(\.history.observations.isEmpty)
        results = reader.count
        (policies, anchors) = (reader.policies.count, reader.anchors.count)
        self.policy = policy?.name
    }

    /// Every server, in the order of the report.
    var entries: [HistoryEntry] { changed + unchanged + single + unseen }

    var died: Int { changed.reduce(0) { $0 + $1.statuses.died.count } }

    // MARK: Sentences

    /// `2 pins stopped matching at 1 of 12 servers`, `No pin stopped matching; 3 of 12 servers changed`
    var result: String {
        let all = ValidityText.counted(entries.count, "server")
        guard died > 0 else { return "No pin stopped matching; \(changed.count) of \(all) changed" }
        let servers = changed.count { !$0.statuses.died.isEmpty }
        return "\(ValidityText.counted(died, "pin")) stopped matching at \(servers) of \(all)"
    }

    /// `84 results from 2026-11-01 to 2026-11-21`
    var extent: String {
        "\(ValidityText.counted(results, "result")) from \(ValidityText.day(span.lowerBound)) to "
            + ValidityText.day(span.upperBound)
    }

    /// Remarks about all of the results: how pins were judged, and policies or anchors that are mixed.
    var notes: [String] {
        var notes = [
            policy.map { "judged: the pins of \($0), by the path that each result names" }
                ?? "judged: the pins that matched in earlier results; name a policy file to judge all of its pins"
        ]
        if policies > 1 || anchors > 1 {
            let mixed = [
                policies > 1 ? "\(policies) policies" : nil, anchors > 1 ? "\(anchors) sets of anchors" : nil,
            ].compactMap(\.self).joined(separator: " and of ")
            notes.append("mixed: the results are of \(mixed)")
        }
        let pools = changed.filter(\.history.showsSeveralLeaves).map(\.server.description)
        if !pools.isEmpty {
            notes.append(
                "went back to an earlier leaf certificate, as a pool of servers does: \(Self.named(pools))")
        }
        return notes
    }

    /// The servers that changed nothing, and those that prove nothing, in one sentence for each kind.
    var rest: [String] {
        var lines: [String] = []
        if !unchanged.isEmpty { lines.append("\(ValidityText.counted(unchanged.count, "server")) changed nothing") }
        if !single.isEmpty {
            let verb = single.count == 1 ? "has" : "have"
            lines.append(
                "\(ValidityText.counted(single.count, "server")) \(verb) one result with a valid path, "
                    + "which proves nothing: "
                    + Self.named(single.map(\.server.description)))
        }
        if !unseen.isEmpty {
            lines.append(
                "\(ValidityText.counted(unseen.count, "server")) showed no valid path in any result: "
                    + Self.named(unseen.map(\.server.description)))
        }
        if !mismatched.isEmpty {
            lines.append(
                "\(ValidityText.counted(mismatched.count, "server")) showed none of the pins in any result: "
                    + Self.named(mismatched.map(\.server.description)))
        }
        return lines
    }

    /// Servers whose pins matched in no result, although they have some or were decided by some.
    private var mismatched: [HistoryEntry] {
        entries.filter { entry in
            !entry.statuses.isServed && !entry.history.observations.isEmpty
                && entry.statuses.pins.allSatisfy { $0.state == .unseen }
        }
    }

    /// Returns the first names, and the number of the others.
    private static func named(_ names: [String]) -> String {
        names.prefix(mostNames).joined(separator: ", ")
            + (names.count > mostNames ? " and \(names.count - mostNames) more" : "")
    }

    private static let mostNames = 5
}

extension HistoryEntry {
    /// Returns the day of a change and its kind: `leaf certificate renewed with a new key; other root: CN=Root`.
    func sentence(_ change: KeyChange) -> String {
        var parts: [String] = []
        if change.isReturn {
            parts.append("an earlier leaf certificate is back" + (change.leafKey ? ", with another key" : ""))
        } else if change.leafCertificate {
            parts.append("new leaf certificate, " + (change.leafKey ? "new key" : "same key"))
        }
        if change.intermediates {
            let names = change.after.path.intermediates.map { $0.name.isEmpty ? $0.key.description : $0.name }
            parts.append(names.isEmpty ? "no intermediate" : "other intermediates: " + names.joined(separator: " / "))
        }
        if change.root, let root = change.after.path.root {
            parts.append("other root: " + (root.name.isEmpty ? root.key.description : root.name))
        }
        return parts.joined(separator: "; ")
    }

    /// Returns the days of a pin: `seen until 2026-11-07, missing since 2026-11-08`.
    func sentence(_ status: PinStatus) -> String {
        let kind = [
            status.pin.position == .any ? nil : status.pin.position.rawValue, status.isBackup == true ? "backup" : nil,
        ].compactMap(\.self).joined(separator: " ")
        let place = kind.isEmpty ? "" : kind + ", "
        let rule = status.rule.map { " (rule \($0))" } ?? ""
        guard let first = status.firstSeen, let last = status.lastSeen else { return "\(place)on no path\(rule)" }
        guard let missing = status.missingSince else { return "\(place)seen since \(ValidityText.day(first))\(rule)" }
        let (seen, gone) = HistoryTime.pair(last, missing)
        guard status.state == .died else { return "\(place)seen until \(seen), not since \(gone)\(rule)" }
        let others = statuses.isServed ? "; another pin serves" : "; no pin is left that serves"
        return "\(place)seen until \(seen), missing since \(gone)\(others)\(rule)"
    }
}

/// Instants in a history.
enum HistoryTime {
    /// Returns two instants as days, or with their times if they are of one day.
    static func pair(_ first: Date, _ second: Date) -> (String, String) {
        let days = (ValidityText.day(first), ValidityText.day(second))
        return days.0 != days.1 ? days : (RFC3339.string(from: first), RFC3339.string(from: second))
    }
}
