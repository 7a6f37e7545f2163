internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit

/// A report as a page that stands alone: no script, nothing from elsewhere, the same words as everywhere.
struct RehearsalPage {
    private let report: RehearsalReport

    init(_ report: RehearsalReport) {
        self.report = report
    }

    var html: String {
        let client = report.client.map { "<p>Client: <code>\(HTMLText.escape($0))</code></p>" } ?? ""
        let isFine = report.exitCode == .fine
        var parts = [
            "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
            "<title>Rehearsal</title>", "<style>", Self.style, "</style>", "</head>", "<body>",
            "<h1>Rehearsal</h1>", client,
            "<p class=\"\(isFine ? "good" : "bad")\">\(HTMLText.escape(report.sentence))</p>",
        ]
        if !report.advice.isEmpty {
            let items = report.advice.map { "<li>\(HTMLText.escape($0))</li>" }
            parts.append("<h2>What to do</h2>\n<ul>\(items.joined())</ul>")
        }
        let columns = [
            "Attack", "Must be", "Was", "Request bytes", "ms", "Exit code", "What the server does", "Remarks",
        ]
        parts.append("<table>\n<thead><tr>\(columns.map { "<th scope=\"col\">\($0)</th>" }.joined())</tr></thead>")
        parts.append("<tbody>")
        parts += ([report.control] + report.results).map(row)
        parts.append("</tbody>\n</table>")
        let omissions = AttackCatalogue.omissions.map {
            "<li><code>\(HTMLText.escape($0.id))</code>: \(HTMLText.escape($0.reason))</li>"
        }
        parts.append("<h2>Not run</h2>\n<ul>\(omissions.joined())</ul>")
        parts.append(
            "<footer><p>Made \(RFC3339.string(from: report.now)) by pintle \(CommandLineTool.version).</p></footer>")
        return (parts + ["</body>", "</html>", ""]).joined(separator: "\n")
    }

    private func row(_ result: RehearsalResult) -> String {
        let kind =
            switch result.outcome {
            case .notRun: "none"
            case .inconclusive: "warning"
            default: result.isAsItMustBe ? "good" : "bad"
            }
        let words = RehearsalText.words(result.clientWords, most: 3)
        let remarks = [
            result.why, result.alert.map { "alert \($0)" },
            result.isAsItMustBe || words.isEmpty ? nil : words.joined(separator: " / "),
        ].compactMap(\.self)
        let isRun = result.outcome != .notRun
        let cells = [
            "<td><code>\(result.attack.id)</code></td>", "<td>\(result.attack.expectation.rawValue)</td>",
            "<td class=\"\(kind)\">\(result.outcome.word)</td>",
            "<td class=\"number\">\(isRun ? "\(result.requestBytes)" : "")</td>",
            "<td class=\"number\">\(result.milliseconds.map { "\($0)" } ?? "")</td>",
            "<td class=\"number\">\(result.clientExit.map { "\($0)" } ?? "")</td>",
            "<td>\(HTMLText.escape(result.attack.summary))<br><small>\(result.attack.reference)</small></td>",
            "<td>\(remarks.map(HTMLText.escape).joined(separator: "<br>"))</td>",
        ]
        return "<tr>\(cells.joined())</tr>"
    }

    private static let style = """
        :root { color-scheme: light dark; --good: #18692e; --warning: #8a5200; --bad: #b3261e; --line: #8886 }
        @media (prefers-color-scheme: dark) { :root { --good: #7cc990; --warning: #e2b15f; --bad: #f2948d } }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }
        h1 { font-size: 1.5em } h2 { font-size: 1.1em; margin-top: 2em }
        .good { color: var(--good) } .warning { color: var(--warning) } .bad { color: var(--bad); font-weight: bold }
        table { border-collapse: collapse; width: 100%; font-size: .9em }
        th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid var(--line) }
        td.number { text-align: right } td:last-child, p code { overflow-wrap: anywhere }
        """
}
