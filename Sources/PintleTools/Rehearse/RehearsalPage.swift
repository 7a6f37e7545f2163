internal import Pintle
internal import PintleSystem
internal import PintleTestKit

/// A rehearsal's report as an HTML page. It has no script and uses the sentences of the text.
struct RehearsalPage {
    private let report: RehearsalReport

    init(_ report: RehearsalReport) {
        self.report = report
    }

    private static let table = ReportTable(
        id: "attacks",
        columns: ["Attack", "Must be", "Was", "Request bytes", "ms", "Exit code", "The server", "Remarks"],
        numbers: ["Request bytes", "ms", "Exit code"], widthLimit: 64)

    var html: String {
        let client = report.client.map { ["Client: <code>\(HTMLText.escape($0))</code>"] } ?? []
        let version =
            report.controls.first?.applicationProtocol.map { ["The client chose \(HTTPVersion.name(of: $0))."] } ?? []
        let page = ReportPage(
            kind: "Rehearsal of attacks", result: report.tally.result, verdict: report.exitCode == .fine ? .good : .bad,
            facts: client + version + [HTMLText.escape(report.sentence)]
                + (report.timing.map { [HTMLText.escape($0.sentence)] } ?? [])
                + (report.proxy.map { [HTMLText.escape($0.removal)] } ?? []), isWide: true,
            style: "#attacks td:nth-child(3) { white-space: nowrap }\n" + Self.table.style)
        let omissions = AttackCatalogue.omissions.map {
            "<code>\(HTMLText.escape($0.id))</code>: \(HTMLText.escape($0.reason))"
        }
        let refusals = (report.proxy?.refusals ?? []).map {
            "<code>\(HTMLText.escape($0.authority))</code>: not a named host; "
                + "\(ValidityText.counted($0.count, "connection")), answered 403"
        }
        return page.head + ReportPage.list("What to do", report.advice.map(HTMLText.escape), isOrdered: true)
            + "<h2>Attacks</h2>\n" + Self.table.head
            + report.all.map(row).joined(separator: "\n") + "\n" + Self.table.foot
            + ReportPage.list("Never run", omissions + refusals) + page.foot(report.now)
    }

    private func row(_ result: RehearsalResult) -> String {
        let words = RehearsalText.words(result.clientWords, most: 3)
        let remarks = [
            result.why, result.alert.map { "alert \($0)" },
            result.host.flatMap { _ in result.connection.map { "connection \($0)" } },
            result.isAsItMustBe || words.isEmpty ? nil : "the client: " + words.joined(separator: " / "),
        ].compactMap(\.self)
        let isRun = result.outcome != .notRun
        let attack = result.attack
        let host = result.host.map { "<br><small>\(HTMLText.escape($0))</small>" } ?? ""
        let sources = [attack.reference] + attack.standards.entries.map(\.id)
        let cells = [
            ReportTable.cell("<code>\(HTMLText.escape(attack.id))</code>\(host)", "whole"),
            ReportTable.cell(attack.expectation.rawValue),
            ReportTable.cell(result.outcome.word, result.verdict.rawValue),
            ReportTable.cell(isRun ? "\(result.requestBytes)" : "", "number"),
            ReportTable.cell(result.milliseconds.map { "\($0)" } ?? "", "number"),
            ReportTable.cell(result.clientExit.map { "\($0)" } ?? "", "number"),
            ReportTable.cell(
                "\(HTMLText.escape(attack.summary))<br><small>\(HTMLText.escape(sources.joined(separator: ", ")))</small>"
            ),
            ReportTable.cell(remarks.map(HTMLText.escape).joined(separator: "<br>"), "any"),
        ]
        return "<tr>\(cells.joined())</tr>"
    }
}

extension RehearsalResult {
    /// The colour of the outcome on a page.
    var verdict: ReportPage.Verdict {
        switch outcome {
        case .notRun: .none
        case .inconclusive: .warning
        default: isAsItMustBe ? .good : .bad
        }
    }
}
