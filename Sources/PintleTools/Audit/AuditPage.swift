internal import Pintle
internal import PintleSystem

/// The pieces of an audit's page, which is written while the results are read.
///
/// The script sorts the table. Without scripts the rows keep their order, the worst first.
struct AuditPage {
    let now: Date
    private let requiresHybrid: Bool
    private let page: ReportPage

    private static let table = ReportTable(
        id: "servers",
        columns: [
            "Server", "Verdict", "Reason", "Rule", "Certificate ends", "Days", "Pins end", "Backup", "Asked", "Remarks",
        ], numbers: ["Days"], widthLimit: 76)

    /// - Parameters:
    ///   - span: from the first result to the last.
    ///   - requiresHybrid: `true` if a server without a hybrid group is a problem.
    init(_ tally: AuditTally, _ span: ClosedRange<Date>?, now: Date, requiresHybrid: Bool = false) {
        self.now = now
        self.requiresHybrid = requiresHybrid
        let lacksHybrid = requiresHybrid && tally.hybrid < tally.reached
        let asked = span.map {
            "Asked from \(RFC3339.string(from: $0.lowerBound)) to \(RFC3339.string(from: $0.upperBound))"
        }
        page = ReportPage(
            kind: "Audit of servers",
            result: tally.result + (lacksHybrid ? "; " + (tally.hybridSentence ?? "no result names its group") : ""),
            verdict: tally.rejected + tally.unreached > 0 || lacksHybrid
                ? .bad : tally.withWarnings > 0 ? .warning : .good,
            facts: asked.map { [$0] } ?? [], isWide: true, style: Self.style + Self.table.style, script: Self.script)
    }

    func head(_ tally: AuditTally, _ timeline: AuditTimeline) -> String {
        let facts: [(String, Int, ReportPage.Verdict)] =
            [
                ("servers", tally.servers, .none), ("trusted", tally.trusted, .good),
                ("with warnings", tally.withWarnings, .warning), ("rejected", tally.rejected, .bad),
                ("not reached", tally.unreached, .bad),
            ] + (tally.groups.isEmpty ? [] : [("with a hybrid group", tally.hybrid, .none)])
        let figures = facts.map { name, count, verdict in
            "<div class=\"\((count > 0 ? verdict : .none).rawValue)\"><b>\(count)</b> \(name)</div>"
        }
        return page.head + """
            <div class="figures">\(figures.joined())</div>
            <h2>Ends of certificates and pins</h2>
            <p><span class="key certificates"></span>certificates <span class="key pins"></span>pins, by week. A path \
            counts by the certificate that ends first, without its root.</p>
            <figure>\(timeline.svg)</figure>
            <div class="lists">
            \(Self.counts("Reasons", tally.reasons))\(Self.counts("Problems", tally.problems))</div>
            <h2>Servers</h2>

            """ + Self.table.head
    }

    func row(_ record: AuditRecord) -> String {
        let (word, verdict, rank): (String, ReportPage.Verdict, Int) =
            switch record.outcome {
            case .rejected: ("rejected", .bad, 0)
            case .unreached: ("not reached", .bad, 1)
            case .trusted: record.hasWarning ? ("trusted, with warnings", .warning, 2) : ("trusted", .good, 3)
            }
        let days = record.certificateEnds.map { Int(($0.timeIntervalSince(now) / 86_400).rounded(.down)) }
        var remarks = record.errorMessage.map { [$0] } ?? record.problems.map { "\($0.id): \($0.message)" }
        if requiresHybrid, record.lacksHybridGroup {
            remarks.append("no hybrid group: " + (record.keyExchangeGroup?.name ?? "none"))
        }
        func text(_ text: String?, _ classes: String = "") -> String {
            ReportTable.cell(HTMLText.escape(text ?? ""), classes)
        }
        let cells = [
            text("\(record.endpoint)" + (record.connectTo.map { " at \($0)" } ?? "")),
            ReportTable.cell(word, verdict.rawValue, order: rank),
            text([record.reason, record.pathFailure].compactMap(\.self).joined(separator: " ")),
            text(record.rule, "any"),
            text(record.certificateEnds.map(ValidityText.day), "whole"),
            ReportTable.cell(days.map(String.init) ?? "", "number", order: days ?? 1_000_000),
            text(record.pinsEnd.map(ValidityText.day), "whole"),
            text(record.backup?.rawValue, "whole"),
            text(RFC3339.string(from: record.instant).replacing("T", with: " ")),
            ReportTable.cell(remarks.map(HTMLText.escape).joined(separator: "<br>"), "any"),
        ]
        return "<tr>\(cells.joined())</tr>\n"
    }

    var foot: String { Self.table.foot + page.foot(now) }

    private static func counts(_ title: String, _ counts: [String: Int]) -> String {
        let items = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return ReportPage.list(title, items.map { "\($0.value) \(HTMLText.escape($0.key))" })
    }

    /// The CSS rules of the timeline and of the table's sorting.
    private static let style = """
        .certificates { fill: var(--certificates) } .pins { fill: var(--pins) } .axis { stroke: var(--faint) }
        .key.certificates { background: var(--certificates) } .key.pins { background: var(--pins) }
        td:first-child, td:last-child { min-width: 12rem; overflow-wrap: anywhere }
        td:nth-child(3) { min-width: 7rem } td:nth-child(4) { min-width: 11rem } td:nth-child(9) { min-width: 6.7rem }
        th button { all: unset; cursor: pointer } th button:focus-visible { outline: 2px solid }
        th[aria-sort=ascending] button::after { content: " \\2191" }
        th[aria-sort=descending] button::after { content: " \\2193" }

        """

    private static let script = """

        "use strict";
        const table = document.getElementById("servers"), body = table.tBodies[0];
        const text = (row, column) => {
          const cell = row.cells[column];
          return cell.dataset.sort ?? cell.textContent;
        };
        const order = new Intl.Collator("en", { numeric: true });
        const isNumber = text => text !== "" && Number.isFinite(Number(text));
        const compare = (a, b) => isNumber(a) && isNumber(b) ? a - b : order.compare(a, b);
        [...table.tHead.rows[0].cells].forEach((head, column) => {
          const button = document.createElement("button");
          button.type = "button";
          button.textContent = head.textContent;
          head.replaceChildren(button);
          button.addEventListener("click", () => {
            const descends = head.getAttribute("aria-sort") === "ascending";
            for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", descends ? "descending" : "ascending");
            const rows = [...body.rows].map(row => [text(row, column), row]);
            rows.sort((a, b) => (descends ? -1 : 1) * compare(a[0], b[0]));
            body.append(...rows.map(pair => pair[1]));
          });
        });

        """
}
