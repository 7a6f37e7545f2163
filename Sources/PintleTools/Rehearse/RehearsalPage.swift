internal import Pintle
internal import PintleAttacks
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
            report.controls.first?.observation.applicationProtocol.map {
                ["The client chose \(RehearsalText.httpVersion($0))."]
            } ?? []
        let page = ReportPage(
            kind: "Rehearsal of attacks", result: report.tally.result, verdict: report.exitCode == .fine ? .good : .bad,
            facts: client + version + [HTMLText.escape(report.sentence)]
                + (report.timing.map { [HTMLText.escape($0.sentence)] } ?? [])
                + (report.proxy.map { [HTMLText.escape($0.removal)] } ?? []), isWide: true,
            style: "#attacks td:nth-child(3) { white-space: nowrap }\n" + Self.table.style)
        let omissions = Catalogue.omissions.map {
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

    private func row(_ outcome: Outcome) -> String {
        let words = RehearsalText.words(outcome.clientWords, most: 3)
        let remarks = [
            outcome.why, outcome.observation.alert.map { "alert \($0)" },
            outcome.host.flatMap { _ in outcome.connection.map { "connection \($0)" } },
            outcome.isAsItMustBe || words.isEmpty ? nil : "the client: " + words.joined(separator: " / "),
        ].compactMap(\.self)
        let isRun = outcome.verdict != .notRun
        let scenario = outcome.scenario
        let host = outcome.host.map { "<br><small>\(HTMLText.escape($0))</small>" } ?? ""
        let sources = [scenario.reference] + scenario.standards.entries.map(\.id)
        let cells = [
            ReportTable.cell("<code>\(HTMLText.escape(scenario.id))</code>\(host)", "whole"),
            ReportTable.cell(scenario.expectation.rawValue),
            ReportTable.cell(outcome.verdict.word, outcome.mark.rawValue),
            ReportTable.cell(isRun ? "\(outcome.observation.exposedByteCount)" : "", "number"),
            ReportTable.cell(outcome.milliseconds.map { "\($0)" } ?? "", "number"),
            ReportTable.cell(outcome.clientExit.map { "\($0)" } ?? "", "number"),
            ReportTable.cell(
                "\(HTMLText.escape(scenario.summary))<br><small>\(HTMLText.escape(sources.joined(separator: ", ")))</small>"
            ),
            ReportTable.cell(remarks.map(HTMLText.escape).joined(separator: "<br>"), "any"),
        ]
        return "<tr>\(cells.joined())</tr>"
    }
}

extension Outcome {
    /// The color of the outcome on a page.
    var mark: ReportPage.Verdict {
        switch verdict {
        case .notRun: .none
        case .inconclusive: .warning
        default: isAsItMustBe ? .good : .bad
        }
    }
}
