internal import Pintle
internal import PintleSystem

extension HistoryReport {
    /// The servers that are shown, at most.
    private static let mostServers = 200
    /// The servers of one drawing, which is not divided when it is printed.
    private static let lanesOfDrawing = 8

    /// The history as text and as a page: the result, and what changed at each server.
    var page: ReportPage {
        ReportPage(
            kind: "History of keys", result: "\(result)", verdict: died > 0 ? .bad : changed.isEmpty ? .good : nil,
            facts: ["\(extent)"], isWide: true, note: "Days are in UTC.", report: report)
    }

    private var report: Report {
        let word: Line = died > 0 ? "\("PINS LOST", .bad)" : "\("ok", .good)"
        var report = Report("\(word)   \(result); \(extent)")
        report.figures([
            (entries.count, "servers", nil), (changed.count, "changed", nil),
            (unchanged.count, "changed nothing", .good), (died, "pins died", .bad),
        ])
        addLanes(to: &report)
        if !changed.isEmpty {
            report.gap()
            report.table(table)
        }
        report.gap()
        report.layout = Report.FactLayout(indent: 0, labelColumns: 0)
        let hidden = changed.count - Self.mostServers
        let more = hidden > 0 ? ["and \(hidden) more servers that changed; --json has all"] : []
        report.list("Notes", (more + rest + notes).map { ("\(claim: $0)", nil) })
        return report
    }

    private func addLanes(to report: inout Report) {
        let shown = Array(entries.prefix(Self.mostServers))
        for start in stride(from: 0, to: shown.count, by: Self.lanesOfDrawing) {
            let lanes = shown[start..<min(start + Self.lanesOfDrawing, shown.count)]
            var picture = Report.Picture(svg: { HistoryLanes(lanes, span: span, number: start).svg })
            if start == 0 {
                let part = entries.count > shown.count ? " The first \(shown.count) servers; --json has all." : ""
                picture.title = "Servers"
                picture.legend = [
                    ("key0", ""),
                    (
                        "key1",
                        "A box is a certificate, from the first to the last result that saw it; "
                            + "its colour changes with the key."
                    ), ("gap", "No valid path was seen. A dot is a result. A dashed line: a pin died.\(part)"),
                ]
            }
            report.picture(picture)
        }
    }

    private var table: Report.Table {
        let numbers = ["Results", "Gaps", "Leaf key", "Certificate", "Intermediates", "Root"]
        return Report.Table(
            title: "Changes", id: "changes",
            columns: [.init(title: "Server", minimum: 13)] + numbers.map { .number($0) }
                + [.init(title: "Changes", minimum: 12), .init(title: "Pins", minimum: 18)],
            narrow: 76, rows: .all(changed.prefix(Self.mostServers).map(\.cells)))
    }
}

extension HistoryEntry {
    /// The changes of one server that are shown, at most: the newest.
    private static let mostChanges = 20

    /// The row of the table.
    fileprivate var cells: [Report.Table.Cell] {
        let counts = [
            history.observations.count, history.gaps.count, leafKeys, leafCertificates, intermediates, roots,
        ]
        return [.init(lines: ["\(server)"])] + counts.map { .init(lines: ["\($0)"]) }
            + [.init(facts: changeFacts), .init(facts: statuses.pins.map(fact))]
    }

    private var changeFacts: [(label: Line, values: [Line])] {
        let hidden = changes.count - Self.mostChanges
        return (hidden > 0 ? [("\(hidden) earlier changes; --json has more", [])] : [])
            + changes.suffix(Self.mostChanges).map { change in
                let (before, after) = HistoryTime.pair(change.before.instant, change.after.instant)
                return ("\(after)", ["\(claim: sentence(change)) (not yet \(before))"])
            }
    }

    private func fact(_ status: PinStatus) -> (label: Line, values: [Line]) {
        let word: Line =
            switch status.state {
            case .died: "\("DIED", .bad)"
            case .alive: "\("alive", .good)"
            case .retired: "retired"
            case .unseen: "unseen"
            }
        return (word, ["\(status.pin, .code)", "\(claim: sentence(status))"])
    }
}
