internal import Pintle
internal import PintleSystem

/// A plan's report as an HTML page. It has no script and uses the sentences of the text.
struct PlanPage {
    private let report: PlanReport
    private let file: String
    private let writtenAt: Date

    init(_ report: PlanReport, file: String, writtenAt: Date) {
        (self.report, self.file, self.writtenAt) = (report, file, writtenAt)
    }

    var html: String {
        let page = ReportPage(
            kind: "Rotation plan", result: result, verdict: verdict,
            facts: ["\(report.span), simulated from <code>\(HTMLText.escape(file))</code>"], style: Self.style)
        let servers = report.views.map { view in
            """
            <section>
            <h2>\(HTMLText.escape(view.name))</h2>
            <figure>\(PlanDiagram(report, view).svg)</figure>
            <p><small>The height of an area is a share of all users, from a thin strip to a full row at 100 %. Striped: these \
            users cannot connect.\(view.authorities.isEmpty ? "" : " Each mark on the first row is a renewal.")</small></p>
            </section>

            """
        }
        let lockOuts = report.lockOuts.map { lockOut in
            "\(HTMLText.escape(report.sentence(lockOut)))<br><small>\(HTMLText.escape(report.reason(lockOut)))</small>"
        }
        return page.head + servers.joined() + ReportPage.list("Locked out", lockOuts)
            + ReportPage.list("Exposed", report.exposures.map { HTMLText.escape(report.sentence($0)) })
            + ReportPage.list("What to do", report.advice.map { HTMLText.escape($0.text) }, isOrdered: true)
            + ReportPage.list("Updates", report.updateLines.map(HTMLText.escape))
            + ReportPage.list("Notes", report.notes.map(HTMLText.escape))
            + page.foot(writtenAt, note: "Days are in UTC.")
    }

    /// `Up to 12.4 % of users cannot connect to api.example.com`
    private var result: String {
        guard report.isLockedOut, let worst = report.worst else {
            let words = report.fineWords
            return words.prefix(1).uppercased() + words.dropFirst()
        }
        return "Up to \(worst.share) of users cannot connect to \(report.plan.servers[worst.server].name)"
    }

    private var verdict: ReportPage.Verdict {
        if report.isLockedOut { return .bad }
        return report.gaps.isEmpty && report.exposures.isEmpty ? .good : .warning
    }

    /// The CSS rules of the diagrams.
    private static let style = """
        .served { fill: var(--served); stroke: var(--rule) } .users { fill: var(--users) }
        .mark { stroke: var(--faint) }
        .out { fill: var(--out) } .stripe { stroke: var(--stripe); stroke-width: 3 } .outline { stroke: var(--out) }
        .from { stroke: var(--out); stroke-width: 1.5; stroke-dasharray: 4 3 }
        .from-day { fill: var(--bad); font-weight: 600 }
        """
}
