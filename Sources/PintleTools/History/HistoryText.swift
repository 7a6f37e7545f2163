internal import Pintle
internal import PintleSystem

/// The text of a history: the result, a table of the servers that changed, and what changed at each of them.
struct HistoryText {
    private let history: HistoryReport

    /// The limits of the text, so that it stays readable. `--json` and `--html` have more.
    private static let mostServers = 100
    private static let mostChanges = 20

    init(_ history: HistoryReport) {
        self.history = history
    }

    var report: Report {
        let word: Line = history.died > 0 ? "\("PINS LOST", .bad)" : "\("ok", .good)"
        var report = Report("\(word)   \(history.result); \(history.extent)")
        let shown = history.changed.prefix(Self.mostServers)
        if !shown.isEmpty {
            report.gap()
            report.table(Self.table(shown))
        }
        for entry in shown {
            report.gap()
            report.line("\(entry.server)")
            addChanges(of: entry, to: &report)
            for status in entry.statuses.pins { add(status, of: entry, to: &report) }
        }
        report.gap()
        if history.changed.count > shown.count {
            report.line("and \(history.changed.count - shown.count) more servers that changed; --json has all")
        }
        report.layout = Report.FactLayout(indent: 0, labelColumns: 0)
        for line in history.rest + history.notes { report.fact("", .wrapped("\(claim: line)")) }
        return report
    }

    private static func table(_ entries: ArraySlice<HistoryEntry>) -> Report.Table {
        Report.Table(
            name: "server", numbers: ["results", "gaps", "leaf key", "certificate", "intermediates", "root"],
            rows: entries.map { entry in
                let history = entry.history
                return (
                    "\(entry.server)",
                    [
                        history.observations.count, history.gaps.count, entry.leafKeys, entry.leafCertificates,
                        entry.intermediates, entry.roots,
                    ]
                )
            })
    }

    /// Adds the newest changes of a server.
    private func addChanges(of entry: HistoryEntry, to report: inout Report) {
        let hidden = max(0, entry.changes.count - Self.mostChanges)
        if hidden > 0 { report.line("  \(hidden) earlier changes; --json has more") }
        for change in entry.changes.suffix(Self.mostChanges) {
            let (before, after) = HistoryTime.pair(change.before.instant, change.after.instant)
            report.layout = Report.FactLayout(indent: 2, labelColumns: after.count > 12 ? after.count + 2 : 12)
            report.fact("\(after)", .wrapped("\(claim: entry.sentence(change)) (not yet \(before))"))
        }
    }

    private func add(_ status: PinStatus, of entry: HistoryEntry, to report: inout Report) {
        let word: Line =
            switch status.state {
            case .died: "\("DIED", .bad)"
            case .alive: "\("alive", .good)"
            case .retired: "retired"
            case .unseen: "unseen"
            }
        report.layout = Report.FactLayout(indent: 2, labelColumns: 12)
        report.fact(word, "\(status.pin)")
        report.fact("", .wrapped("\(claim: entry.sentence(status))"))
    }
}
