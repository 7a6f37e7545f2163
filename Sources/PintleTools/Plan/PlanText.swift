internal import Pintle
internal import PintleSystem

/// A report for a terminal: the verdict first, then a table of the months, the events and the advice.
struct PlanText {
    private let report: PlanReport
    private let file: String

    init(_ report: PlanReport, file: String) {
        (self.report, self.file) = (report, file)
    }

    func print(to console: Console) {
        let palette = console.palette
        let word = report.isLockedOut ? palette.bad("LOCKED OUT") : palette.good("ok")
        let rest = report.isLockedOut ? "" : ", \(report.fineWords)"
        console.print("\(word)   \(SafeText.escape(file))   \(report.span)\(rest)")
        console.print()
        for line in PlanTable(report, width: console.tableWidth, ellipsis: console.ellipsis).lines {
            console.print(line)
        }
        for lockOut in report.lockOuts {
            console.print()
            entry(palette.bad("LOCKED OUT"), 10, report.sentence(lockOut), console)
            entry("", 10, report.reason(lockOut), console)
        }
        for exposure in report.exposures {
            console.print()
            entry(palette.warning("EXPOSED"), 7, report.sentence(exposure), console)
        }
        if !report.updateLines.isEmpty {
            console.print()
            for (index, line) in report.updateLines.enumerated() {
                entry(index == 0 ? "updates" : "", 7, line, console)
            }
        }
        for note in report.notes {
            console.print()
            entry("note", 4, note, console)
        }
        console.print()
        guard !report.advice.isEmpty else {
            let next = report.gaps.isEmpty ? "nothing to do" : "see the notes"
            console.print("next: \(next); run it again when shares or dates change")
            return
        }
        for (index, item) in report.advice.enumerated() {
            let lines = TextLayout.wrapped(SafeText.escape(item.text), width: console.width - 8)
            for (number, line) in lines.enumerated() {
                console.print((index == 0 && number == 0 ? "next: " : "      ") + (number == 0 ? "- " : "  ") + line)
            }
        }
    }

    /// - Parameter length: the length of the label without its colour.
    private func entry(_ label: String, _ length: Int, _ text: String, _ console: Console) {
        let indent = String(repeating: " ", count: 13)
        let lines = TextLayout.wrapped(SafeText.escape(text), width: console.width - 13)
        for (number, line) in lines.enumerated() {
            let lead = label + String(repeating: " ", count: 13 - (label.isEmpty ? 0 : length))
            console.print((number == 0 ? lead : indent) + line)
        }
    }
}
