internal import Pintle
internal import PintleSystem

/// The text of a plan: the verdict first, then a table of the months, the events and the advice.
struct PlanText {
    let plan: PlanReport
    let file: String
    /// The lines of the table.
    let table: [String]

    var report: Report {
        let word: Line = plan.isLockedOut ? "\("LOCKED OUT", .bad)" : "\("ok", .good)"
        let rest = plan.isLockedOut ? "" : ", \(plan.fineWords)"
        var report = Report("\(word)   \(file)   \(plan.span)\(rest)", "")
        for line in table { report.line("\(line)") }
        report.layout = Report.FactLayout(indent: 0, labelColumns: 13)
        for lockOut in plan.lockOuts {
            report.gap()
            report.fact("\("LOCKED OUT", .bad)", .wrapped("\(plan.sentence(lockOut))"))
            report.fact("", .wrapped("\(plan.reason(lockOut))"))
        }
        for exposure in plan.exposures {
            report.gap()
            report.fact("\("EXPOSED", .warning)", .wrapped("\(plan.sentence(exposure))"))
        }
        if !plan.updateLines.isEmpty { report.gap() }
        for (index, line) in plan.updateLines.enumerated() {
            report.fact(index == 0 ? "updates" : "", .wrapped("\(line)"))
        }
        for note in plan.notes {
            report.gap()
            report.fact("note", .wrapped("\(note)"))
        }
        guard !plan.advice.isEmpty else {
            let next = plan.gaps.isEmpty ? "nothing to do" : "see the notes"
            report.next(["\(next); run it again when shares or dates change"])
            return report
        }
        report.gap()
        report.layout.labelColumns = 8
        for (index, item) in plan.advice.enumerated() {
            report.fact(index == 0 ? "next: -" : "      -", .wrapped("\(item.text)"))
        }
        return report
    }
}
