internal import Pintle
internal import PintleConsole
internal import PintleSystem

extension PlanReport {
    /// The report as text and as a page: the verdict first, then the months, the events and the advice.
    ///
    /// - Parameter file: the name of the plan.
    func page(ofFile file: String) -> ReportPage {
        ReportPage(
            kind: "Rotation plan", result: "\(result)",
            verdict: isLockedOut ? .bad : isIncomplete || !exposures.isEmpty ? .warning : .good,
            facts: ["\(span), simulated from \(file, .code)"] + endedPins.map { "\($0)" } + ["\(limits)"],
            note: "Days are in UTC.",
            report: report(ofFile: file))
    }

    /// `Versions 2.1, 2.2 cannot connect to api.example.com`
    private var result: String {
        guard isLockedOut else { return "No simulated version is locked out" }
        let apps = Set(lockOuts.flatMap { $0.victims.map(\.app) }).sorted()
        let servers = Set(lockOuts.map { plan.servers[$0.server].name })
        let versions = apps.count > 4 ? "\(apps.count) versions" : plan.versions(apps)
        return versions.prefix(1).uppercased() + versions.dropFirst() + " cannot connect to "
            + (servers.count == 1 ? servers.joined() : "\(servers.count) servers")
    }

    /// `Not simulated: versions other than 2.1, 2.2; users who take longer than 14 days to fetch an update.`
    private var limits: String { "Not simulated: \(notSimulated.joined(separator: "; "))." }

    private func report(ofFile file: String) -> Report {
        let word: Line =
            isLockedOut
            ? "\("LOCKED OUT", .bad)" : code == "ok" ? "\(code, .good)" : "\(code, .warning)"
        var report = Report("\(word)   \(file)   \(span)", "")
        report.prose("\((["\(result)."] + endedPins + [limits]).joined(separator: " "))", indent: 13)
        report.gap()
        addPictures(to: &report)
        report.layout = Report.FactLayout(indent: 0, labelColumns: 13)
        report.list(
            "Locked out", lockOuts.map { ("\(sentence($0))", "\(reason($0))") }, label: "\("LOCKED OUT", .bad)",
            others: "\("LOCKED OUT", .bad)", isSpaced: true)
        report.list(
            "Exposed", exposures.map { ("\(sentence($0))", nil) }, label: "\("EXPOSED", .warning)",
            others: "\("EXPOSED", .warning)", isSpaced: true)
        let updates = updateLines
        if !updates.isEmpty { report.gap() }
        report.list("Updates", updates.map { ("\($0)", nil) }, label: "updates")
        report.list("Notes", notes.map { ("\($0)", nil) }, label: "note", others: "note", isSpaced: true)
        guard !advice.isEmpty else {
            let next = gaps.isEmpty ? "nothing to do" : "see the notes"
            report.next(["\(next); run it again when versions or dates change"])
            return report
        }
        report.gap()
        report.layout.labelColumns = 6
        report.list("What to do", advice.map { ("\($0.text)", nil) }, label: "next:", isSteps: true)
        return report
    }

    /// Adds a table of the months to text, and a diagram of each server to a page.
    private func addPictures(to report: inout Report) {
        report.picture(
            Report.Picture(text: { width, ellipsis in PlanTable(self, width: width, ellipsis: ellipsis).lines }))
        for view in views {
            let renewals = view.authorities.isEmpty ? "" : " Each mark on the first row is a renewal."
            let words =
                "A bar goes from a version's release to the end of its support. Striped: it cannot connect.\(renewals)"
            report.picture(
                Report.Picture(title: view.name, legend: [(nil, words)], svg: { PlanDiagram(self, view).svg }))
        }
    }
}
