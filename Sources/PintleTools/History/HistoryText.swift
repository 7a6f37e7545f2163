internal import Pintle
internal import PintleSystem

/// A history for a terminal: the result, a table of the servers that changed, and what changed at each of them.
struct HistoryText {
    private let report: HistoryReport
    private let console: Console

    /// The limits of the text, so that it stays readable. `--json` and `--html` have more.
    private static let mostServers = 100
    private static let mostChanges = 20
    private static let columns = ["results", "gaps", "leaf key", "certificate", "intermediates", "root"]

    init(_ report: HistoryReport, console: Console) {
        (self.report, self.console) = (report, console)
    }

    func print() {
        let palette = console.palette
        let word = report.died > 0 ? palette.bad("PINS LOST") : palette.good("ok")
        console.print("\(word)   \(report.result); \(report.extent)")
        let shown = report.changed.prefix(Self.mostServers)
        if !shown.isEmpty {
            console.print()
            table(Array(shown))
        }
        for entry in shown {
            console.print()
            console.print(SafeText.escape(entry.server.description))
            changes(entry)
            for status in entry.statuses.pins { pin(status, entry) }
        }
        console.print()
        if report.changed.count > shown.count {
            console.print("and \(report.changed.count - shown.count) more servers that changed; --json has all")
        }
        for line in report.rest + report.notes {
            for part in TextLayout.wrapped(SafeText.claim(line), width: console.width) { console.print(part) }
        }
    }

    /// Prints a row for each server with the number of its changes.
    private func table(_ entries: [HistoryEntry]) {
        let names = entries.map { SafeText.escape($0.server.description) }
        let width = min(48, (names.map { TextLayout.columns(of: $0) }.max() ?? 0)) + 2
        func row(_ name: String, _ cells: [String]) {
            // Hosts are never shortened; a long one has a line of its own.
            var head = TextLayout.padded(name, to: width)
            if TextLayout.columns(of: name) >= width, !name.isEmpty {
                console.print(name)
                head = String(repeating: " ", count: width)
            }
            let padded = zip(cells, Self.columns).map { cell, column in
                String(repeating: " ", count: max(0, column.count - cell.count)) + cell
            }
            console.print(head + padded.joined(separator: "  "))
        }
        row("server", Self.columns)
        for (name, entry) in zip(names, entries) {
            let history = entry.history
            row(
                name,
                [
                    history.observations.count, history.gaps.count, entry.leafKeys, entry.leafCertificates,
                    entry.intermediates, entry.roots,
                ].map(String.init))
        }
    }

    /// Prints the newest changes of a server.
    private func changes(_ entry: HistoryEntry) {
        let hidden = max(0, entry.changes.count - Self.mostChanges)
        if hidden > 0 { console.print("  \(hidden) earlier changes; --json has more") }
        for change in entry.changes.suffix(Self.mostChanges) {
            let (before, after) = HistoryTime.pair(change.before.instant, change.after.instant)
            line(after, after.count, "\(entry.sentence(change)) (not yet \(before))")
        }
    }

    private func pin(_ status: PinStatus, _ entry: HistoryEntry) {
        let palette = console.palette
        let word: String
        switch status.state {
        case .died: word = palette.bad("DIED")
        case .alive: word = palette.good("alive")
        case .retired: word = "retired"
        case .unseen: word = "unseen"
        }
        let plain = status.state == .died ? 4 : status.state.rawValue.count
        console.print("  " + word + String(repeating: " ", count: max(0, 12 - plain)) + status.pin.description)
        line("", 0, entry.sentence(status))
    }

    /// Prints a label of so many columns, and the text beside it, wrapped. The text may be of certificates.
    private func line(_ label: String, _ columns: Int, _ text: String) {
        let indent = columns > 12 ? columns + 4 : 14
        let lines = TextLayout.wrapped(SafeText.claim(text), width: console.width - indent)
        for (index, part) in lines.enumerated() {
            let lead = index == 0 ? "  " + label + String(repeating: " ", count: max(0, indent - 2 - columns)) : ""
            console.print((index == 0 ? lead : String(repeating: " ", count: indent)) + part)
        }
    }
}
