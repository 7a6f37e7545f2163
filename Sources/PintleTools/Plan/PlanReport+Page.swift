internal import Pintle
internal import PintleSystem

extension PlanReport {
    /// The report as text and as a page: the verdict first, then the months, the events and the advice.
    ///
    /// - Parameter file: the name of the plan.
    func page(ofFile file: String) -> ReportPage {
        ReportPage(
            kind: "Rotation plan", result: "\(result)",
            verdict: isLockedOut ? .bad : gaps.isEmpty && exposures.isEmpty ? .good : .warning,
            facts: ["\(span), simulated from \(file, .code)"], note: "Days are in UTC.", report: report(ofFile: file))
    }

    /// `Up to 12.4 % of users cannot connect to api.example.com`
    private var result: String {
        guard isLockedOut, let worst else { return fineWords.prefix(1).uppercased() + fineWords.dropFirst() }
        return "Up to \(worst.share) of users cannot connect to \(plan.servers[worst.server].name)"
    }

    private func report(ofFile file: String) -> Report {
        let word: Line = isLockedOut ? "\("LOCKED OUT", .bad)" : "\("ok", .good)"
        var report = Report("\(word)   \(file)   \(span)\(isLockedOut ? "" : ", \(fineWords)")", "")
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
            report.next(["\(next); run it again when shares or dates change"])
            return report
        }
        report.gap()
        report.layout.labelColumns = 8
        report.list(
            "What to do", advice.map { ("\($0.text)", nil) }, label: "next: -", others: "      -", isSteps: true)
        return report
    }

    /// Adds a table of the months to text, and a diagram of each server to a page.
    private func addPictures(to report: inout Report) {
        report.picture(
            Report.Picture(text: { width, ellipsis in PlanTable(self, width: width, ellipsis: ellipsis).lines }))
        for view in views {
            let renewals = view.authorities.isEmpty ? "" : " Each mark on the first row is a renewal."
            let words =
                "The height of an area is a share of all users, from a thin strip to a full row at 100 %. "
                + "Striped: these users cannot connect.\(renewals)"
            report.picture(
                Report.Picture(title: view.name, legend: [(nil, words)], svg: { PlanDiagram(self, view).svg }))
        }
    }
}
