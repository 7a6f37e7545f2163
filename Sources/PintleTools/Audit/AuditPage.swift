internal import FoundationEssentials
internal import Pintle
internal import PintleCrypto

/// The pieces of an audit's page. It loads nothing: its style and its script are in it, named by their hashes in a
/// content security policy, so that no other can run. Without the script the table is there, in the order it came.
struct AuditPage {
    let now: Date

    private static let columns = [
        "Server", "Verdict", "Reason", "Rule", "Certificate ends", "Days", "Pins end", "Backup", "Asked", "Remarks",
    ]

    func head(_ tally: AuditTally, _ timeline: AuditTimeline, _ span: ClosedRange<Date>?) -> String {
        let facts = [
            ("servers", tally.servers, "all"), ("trusted", tally.trusted, "good"),
            ("with warnings", tally.withWarnings, "warning"), ("rejected", tally.rejected, "bad"),
            ("not reached", tally.unreached, "bad"),
        ]
        let figures = facts.map { name, count, kind in
            "<div class=\"\(count > 0 ? kind : "none")\"><b>\(count)</b> \(name)</div>"
        }
        let asked = span.map {
            "Asked from \(RFC3339.string(from: $0.lowerBound)) to \(RFC3339.string(from: $0.upperBound)). "
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '\(Self.hash(Self.style))'; \
            script-src '\(Self.hash(Self.script))'">
            <title>Audit of \(ValidityText.counted(tally.servers, "server"))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>Audit of \(ValidityText.counted(tally.servers, "server"))</h1>
            <p>\(asked ?? "")Made \(RFC3339.string(from: now)) by pintle \(CommandLineTool.version).</p>
            <div class="figures">\(figures.joined())</div>
            <h2>What ends when</h2>
            <p><span class="key certificates"></span> certificates <span class="key pins"></span> pins, by week; \
            of a path the certificate that ends first, without its root</p>
            \(timeline.svg)
            <div class="lists">
            <section><h2>Reasons</h2>\(Self.counts(tally.reasons))</section>
            \(tally.problems.isEmpty ? "" : "<section><h2>Problems</h2>\(Self.counts(tally.problems))</section>")
            </div>
            <h2>Servers</h2>
            <table id="servers">
            <thead><tr>\(Self.columns.map { "<th scope=\"col\">\($0)</th>" }.joined())</tr></thead>
            <tbody>

            """
    }

    func row(_ record: AuditRecord) -> String {
        let (word, kind, rank) =
            switch record.outcome {
            case .rejected: ("rejected", "bad", 0)
            case .unreached: ("not reached", "bad", 1)
            case .trusted: record.hasWarning ? ("trusted, with warnings", "warning", 2) : ("trusted", "good", 3)
            }
        let days = record.certificateEnds.map { Int(($0.timeIntervalSince(now) / 86_400).rounded(.down)) }
        let remarks = record.errorMessage.map { [$0] } ?? record.problems.map { "\($0.id): \($0.message)" }
        let cells = [
            Self.cell("\(record.endpoint)" + (record.connectTo.map { " at \($0)" } ?? "")),
            "<td class=\"\(kind)\" data-sort=\"\(rank)\">\(word)</td>",
            Self.cell([record.reason, record.pathFailure].compactMap(\.self).joined(separator: " ")),
            Self.cell(record.rule ?? ""),
            Self.cell(record.certificateEnds.map(ValidityText.day) ?? ""),
            "<td class=\"number\" data-sort=\"\(days ?? 1_000_000)\">\(days.map(String.init) ?? "")</td>",
            Self.cell(record.pinsEnd.map(ValidityText.day) ?? ""),
            Self.cell(record.backup?.rawValue ?? ""),
            Self.cell(RFC3339.string(from: record.instant)),
            "<td>" + remarks.map(HTMLText.escape).joined(separator: "<br>") + "</td>",
        ]
        return "<tr>\(cells.joined())</tr>\n"
    }

    var foot: String {
        """
        </tbody>
        </table>
        <script>\(Self.script)</script>
        </body>
        </html>

        """
    }

    private static func cell(_ text: String) -> String { "<td>\(HTMLText.escape(text))</td>" }

    private static func counts(_ counts: [String: Int]) -> String {
        let items = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return "<ul>" + items.map { "<li>\($0.value) \(HTMLText.escape($0.key))</li>" }.joined() + "</ul>"
    }

    /// As a content security policy names what may stand in the page (CSP 3 section 2.3.1).
    private static func hash(_ text: String) -> String {
        "sha256-" + Base64.encode(SHA256Digest(hashing: Array(text.utf8)).bytes)
    }

    private static let style = """

        :root { color-scheme: light dark; --good: #18692e; --warning: #8a5200; --bad: #b3261e; --line: #8886; \
        --certificates: #2f6fb7; --pins: #b7702f }
        @media (prefers-color-scheme: dark) { :root { --good: #7cc990; --warning: #e2b15f; --bad: #f2948d; \
        --certificates: #79aee6; --pins: #e6a879 } }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em }
        h1 { font-size: 1.5em } h2 { font-size: 1.1em; margin-top: 2em }
        .figures { display: flex; flex-wrap: wrap; gap: 1em } .figures div { border: 1px solid var(--line); \
        border-radius: 6px; padding: .5em 1em } .figures b { font-size: 1.5em }
        .lists { display: flex; flex-wrap: wrap; gap: 0 4em }
        .good { color: var(--good) } .warning { color: var(--warning) } .bad { color: var(--bad) }
        .key { display: inline-block; width: .8em; height: .8em; margin-left: .8em }
        .key.certificates { background: var(--certificates) } .key.pins { background: var(--pins) }
        svg { width: 100%; max-height: 16em } svg text { font-size: 11px; fill: currentColor }
        svg .axis { stroke: currentColor } svg .certificates { fill: var(--certificates) } svg .pins { fill: var(--pins) }
        table { border-collapse: collapse; width: 100%; font-size: .9em } th, td { text-align: left; vertical-align: top; \
        padding: .3em .6em; border-bottom: 1px solid var(--line) } td:nth-child(n+5):nth-child(-n+8) { white-space: nowrap }
        td:first-child, td:nth-child(4), td:last-child { overflow-wrap: anywhere } td:nth-child(4) { min-width: 8em }
        td:first-child, td:last-child { min-width: 13em }
        th { position: sticky; top: 0; background: Canvas } td.number { text-align: right }
        th button { all: unset; cursor: pointer } th button:focus-visible { outline: 2px solid }
        th[aria-sort=ascending] button::after { content: " \\2191" } th[aria-sort=descending] button::after \
        { content: " \\2193" }

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
