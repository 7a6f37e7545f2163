internal import Pintle
internal import PintleSystem

/// A history as an HTML page. It has no script and uses the sentences of the text.
struct HistoryPage {
    private let report: HistoryReport
    private let writtenAt: Date

    /// The servers with a lane, at most, and those of one drawing: a drawing is not divided when it is printed.
    private static let mostLanes = 200
    private static let lanesOfDrawing = 8
    /// The changes and pins of one server in the table, at most.
    private static let mostLines = 50

    private static let table = ReportTable(
        id: "changes",
        columns: ["Server", "Results", "Gaps", "Leaf key", "Certificate", "Intermediates", "Root", "Changes", "Pins"],
        numbers: ["Results", "Gaps", "Leaf key", "Certificate", "Intermediates", "Root"], widthLimit: 76)

    init(_ report: HistoryReport, writtenAt: Date) {
        (self.report, self.writtenAt) = (report, writtenAt)
    }

    func write(to path: String) throws(ToolError) {
        let file = try StreamedFile(path)
        let page = ReportPage(
            kind: "History of keys", result: report.result,
            verdict: report.died > 0 ? .bad : report.changed.isEmpty ? .good : .none,
            facts: [HTMLText.escape(report.extent)], isWide: true, style: Self.style + Self.table.style)
        try file.write(page.head + figures)
        try writeLanes(to: file)
        if !report.changed.isEmpty {
            try file.write("<section>\n<h2>Changes</h2>\n" + Self.table.head)
            for entry in report.changed.prefix(Self.mostLanes) { try file.write(row(entry)) }
            try file.write(Self.table.foot + "</section>\n")
        }
        try file.write(ReportPage.list("Notes", (report.rest + report.notes).map(HTMLText.claim)))
        try file.write(page.foot(writtenAt, note: "Days are in UTC."))
        try file.finish()
    }

    private var figures: String {
        let facts: [(String, Int, ReportPage.Verdict)] = [
            ("servers", report.entries.count, .none), ("changed", report.changed.count, .none),
            ("changed nothing", report.unchanged.count, .good), ("pins died", report.died, .bad),
        ]
        let figures = facts.map { name, count, verdict in
            "<div class=\"\((count > 0 ? verdict : .none).rawValue)\"><b>\(count)</b> \(name)</div>"
        }
        return "<div class=\"figures\">\(figures.joined())</div>\n"
    }

    private func writeLanes(to file: StreamedFile) throws(ToolError) {
        let shown = Array(report.entries.prefix(Self.mostLanes))
        try file.write(
            """
            <section>
            <h2>Servers</h2>
            <p><small><span class="key key0"></span><span class="key key1"></span>A box is a certificate, from the first \
            to the last result that saw it; its colour changes with the key. <span class="key gap"></span>No valid path was \
            seen. A dot is a result. A dashed line: a pin died.</small></p>

            """)
        var start = 0
        while start < shown.count {
            let lanes = shown[start..<min(start + Self.lanesOfDrawing, shown.count)]
            try file.write("<figure>\(HistoryLanes(lanes, span: report.span, number: start).svg)</figure>\n")
            start += Self.lanesOfDrawing
        }
        let more = report.entries.count - shown.count
        if more > 0 { try file.write("<p>and \(ValidityText.counted(more, "more server")); --json has all</p>\n") }
        try file.write("</section>\n")
    }

    private func row(_ entry: HistoryEntry) -> String {
        let changes = entry.changes.suffix(Self.mostLines).map { change in
            let (before, after) = HistoryTime.pair(change.before.instant, change.after.instant)
            return HTMLText.claim("\(after): \(entry.sentence(change)) (not yet \(before))")
        }
        let pins = entry.statuses.pins.prefix(Self.mostLines).map { status in
            let word = status.state == .died ? "<span class=\"bad\">died</span>" : status.state.rawValue
            return "\(word) <code>\(status.pin)</code> \(HTMLText.claim(entry.sentence(status)))"
        }
        let counts = [
            entry.history.observations.count, entry.history.gaps.count, entry.leafKeys, entry.leafCertificates,
            entry.intermediates, entry.roots,
        ]
        let cells =
            [ReportTable.cell(HTMLText.escape(entry.server.description), "any")]
            + counts.map { ReportTable.cell("\($0)", "number") }
            + [changes, pins].map { ReportTable.cell($0.joined(separator: "<br>"), "any") }
        return "<tr>\(cells.joined())</tr>\n"
    }

    /// The CSS rules of the drawings.
    private static let style = """
        rect.key0 { fill: var(--served); stroke: var(--rule) } rect.key1 { fill: var(--users); stroke: var(--rule) }
        .key.key0 { background: var(--served) } .key.key1 { background: var(--users) }
        .key.gap { background: var(--out) } .out { fill: var(--out) } .stripe { stroke: var(--stripe); stroke-width: 3 }
        .outline { stroke: var(--out) } .asked { fill: var(--faint) } .server { font-weight: 600 }
        .label { fill: var(--faint) } .from { stroke: var(--out); stroke-width: 1.5; stroke-dasharray: 4 3 }
        .from-day { fill: var(--bad); font-weight: 600 }
        @media screen and (min-width: 76rem) {
          td.any { min-width: 12rem } td:first-child { min-width: 13rem } td:last-child { min-width: 18rem }
        }

        """
}

extension HTMLText {
    /// Escapes text that may be of certificates, for the content of an element.
    static func claim(_ text: String) -> String { escape(SafeText.claim(text)) }
}
