internal import FoundationEssentials
internal import Pintle

/// A report for a terminal: the verdict first, a table of the months, what happens when, and last what to do.
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
        for line in PlanTable(report, width: console.width, ellipsis: console.ellipsis).lines { console.print(line) }
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
            console.print("next: \(next); play it again when shares or dates change")
            return
        }
        for (index, item) in report.advice.enumerated() {
            let lines = TextLayout.wrapped(SafeText.escape(item.text), width: console.width - 8)
            for (number, line) in lines.enumerated() {
                console.print((index == 0 && number == 0 ? "next: " : "      ") + (number == 0 ? "- " : "  ") + line)
            }
        }
    }

    /// - Parameter length: of the label without its colour.
    private func entry(_ label: String, _ length: Int, _ text: String, _ console: Console) {
        let indent = String(repeating: " ", count: 13)
        let lines = TextLayout.wrapped(SafeText.escape(text), width: console.width - 13)
        for (number, line) in lines.enumerated() {
            let lead = label + String(repeating: " ", count: 13 - (label.isEmpty ? 0 : length))
            console.print((number == 0 ? lead : indent) + line)
        }
    }
}

/// Servers and versions over the months: what is served, and who uses what.
struct PlanTable {
    private let report: PlanReport
    private let ellipsis: String
    private let width: Int
    private let label: Int
    private static let cell = 10

    init(_ report: PlanReport, width: Int, ellipsis: String) {
        (self.report, self.ellipsis, self.width) = (report, ellipsis, width)
        let names = report.plan.servers.map(\.name) + report.plan.apps.map { "  version \($0.version)" }
        // Hosts are never shortened; a long one has a line of its own.
        label = min(26, (names.map(\.count).max() ?? 0) + 2)
    }

    var lines: [String] {
        let columns = self.columns
        let isMonthly = columns.allSatisfy { RFC3339.string(from: $0).dropFirst(8).hasPrefix("01T00:00:00") }
        let heads = columns.map {
            String(RFC3339.string(from: $0).prefix(isMonthly ? 7 : 10).suffix(isMonthly ? 7 : 8))
        }
        var lines = [row("", heads)]
        for server in report.plan.servers.indices {
            lines.append(row(report.plan.servers[server].name, columns.indices.map { served(server, $0, columns) }))
            for app in report.plan.apps.indices {
                let cells = columns.indices.map { share(app, server, $0, columns) }
                if cells.contains(where: { !$0.isEmpty }) {
                    lines.append(row("  version \(report.plan.apps[app].version)", cells))
                }
            }
        }
        if !report.lockOuts.isEmpty {
            lines.append("")
            lines.append(row("", ["x: some of them cannot connect on a day before the next column"]))
        }
        return lines
    }

    /// Now, then beginnings of months, or days where there are few of those; as many as fit.
    private var columns: [Date] {
        let simulation = report.simulation
        let count = max(2, (width - label) / Self.cell)
        let days = simulation.instants.filter { $0 == $0.startOfDay }
        let months = days.filter { RFC3339.string(from: $0).dropFirst(8).hasPrefix("01") }
        let candidates = months.count >= 3 ? months : days
        guard !candidates.isEmpty else { return [simulation.now] }
        let step = (candidates.count + count - 1) / count
        return stride(from: 0, to: candidates.count, by: max(1, step)).map { candidates[$0] }
    }

    /// From a column to the next, by their positions; the first has what lies before it, too.
    private func instants(_ column: Int, _ columns: [Date]) -> [Int] {
        let from = column == 0 ? report.simulation.now : columns[column]
        let end = columns.indices.contains(column + 1) ? columns[column + 1] : report.plan.until
        let instants = report.simulation.instants
        return instants.indices.filter { instants[$0] >= from && instants[$0] < end }
    }

    private func served(_ server: Int, _ column: Int, _ columns: [Date]) -> String {
        func certificate(at instant: Date) -> Int? {
            report.plan.servers[server].switches.last { $0.from <= instant }?.certificate
        }
        let first = certificate(at: columns[column])
        let last = instants(column, columns).last.flatMap { certificate(at: report.simulation.instants[$0]) }
        guard let shown = last ?? first else { return "-" }
        let name = SafeText.escape(report.plan.certificates[shown].name)
        // It comes in the course of the column.
        let text = first == shown ? name : ">" + name
        return TextLayout.shortened(text, to: Self.cell - 1, ellipsis: ellipsis)
    }

    private func share(_ app: Int, _ server: Int, _ column: Int, _ columns: [Date]) -> String {
        let share = report.plan.apps[app].share(at: columns[column])
        let isLockedOut = instants(column, columns).contains { index in
            report.simulation.lockedOut(ofServer: server, app: app, during: index) != nil
        }
        if share == .none { return isLockedOut ? "x" : "" }
        return share.short + (isLockedOut ? " x" : "")
    }

    private func row(_ name: String, _ cells: [String]) -> String {
        let name = SafeText.escape(name)
        let head =
            name.count < label ? TextLayout.padded(name, to: label) : name + "\n" + TextLayout.padded("", to: label)
        let line = head + cells.map { TextLayout.padded($0, to: Self.cell) }.joined()
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension UserShare {
    /// For a narrow column: `12.4 %`, `<0.1 %`
    var short: String {
        switch description {
        case "under 0.1 %": "<0.1 %"
        case "over 99.9 %": ">99.9 %"
        default: description
        }
    }
}
