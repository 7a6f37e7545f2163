internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleText

/// Servers and versions over the months: the certificate that is served, and whether each version connects.
struct PlanTable {
    private let report: PlanReport
    private let views: [PlanView]
    private let ellipsis: String
    private let width: Int
    /// The width of the first column.
    private let label: Int
    /// The width of each of the other columns.
    private let cell: Int
    /// The number of columns that must fit. Names of certificates are shortened only if whole names leave fewer.
    private static let fewestColumns = 3

    init(_ report: PlanReport, width: Int, ellipsis: String) {
        (self.report, self.ellipsis, self.width) = (report, ellipsis, width)
        views = report.views
        let names = views.map(\.name) + report.plan.apps.map { "  version \($0.version)" }
        // Hosts are never shortened; a long one has a line of its own.
        label = min(max(26, width / 4), (names.map { TextLayout.columns(of: SafeText.escape($0)) }.max() ?? 0) + 2)
        // Each column has room for the mark of a switch before the name, and for a blank after it.
        let certificates = views.flatMap { view in
            report.plan.servers[view.server].switches.map { Self.name(of: report.plan.certificates[$0.certificate]) }
        }
        let longest = Set(certificates).map { TextLayout.columns(of: SafeText.escape($0)) }.max()
        cell = min(max(10, (longest ?? 0) + 2), max(10, (width - label) / Self.fewestColumns))
    }

    var lines: [Line] {
        let columns = self.columns
        let isMonthly = columns.allSatisfy { RFC3339.string(from: $0).dropFirst(8).hasPrefix("01T00:00:00") }
        let heads = columns.map {
            String(RFC3339.string(from: $0).prefix(isMonthly ? 7 : 10).suffix(isMonthly ? 7 : 8))
        }
        var lines = row("", heads)
        for view in views {
            let server = view.server
            lines += row(view.name, columns.indices.map { served(view, $0, columns) })
            for app in report.plan.apps.indices {
                let cells = columns.indices.map { outcome(app, server, $0, columns) }
                if cells.contains(where: { !$0.isEmpty }) {
                    lines += row("  version \(report.plan.apps[app].version)", cells)
                }
            }
        }
        if !report.lockOuts.isEmpty {
            lines.append("")
            lines += TextLayout.wrapped(
                "x: this version cannot connect on a day before the next column", width: width - label
            ).map { "\(TextLayout.padded("", to: label))\($0)" }
        }
        return lines
    }

    /// The instants at which the columns begin: months, or days if there are few months; as many as fit.
    private var columns: [Date] {
        let simulation = report.simulation
        let count = max(2, (width - label) / cell)
        let days = simulation.instants.filter { $0 == $0.startOfDay }
        let months = days.filter { RFC3339.string(from: $0).dropFirst(8).hasPrefix("01") }
        let candidates = months.count >= 3 ? months : days
        guard !candidates.isEmpty else { return [simulation.now] }
        let step = (candidates.count + count - 1) / count
        return stride(from: 0, to: candidates.count, by: max(1, step)).map { candidates[$0] }
    }

    /// Returns the indices of the instants from a column to the next. The first column also has the earlier ones.
    private func instants(_ column: Int, _ columns: [Date]) -> [Int] {
        let from = column == 0 ? report.simulation.now : columns[column]
        let end = columns.indices.contains(column + 1) ? columns[column + 1] : report.plan.until
        let instants = report.simulation.instants
        return instants.indices.filter { instants[$0] >= from && instants[$0] < end }
    }

    private func served(_ view: PlanView, _ column: Int, _ columns: [Date]) -> String {
        func certificate(at instant: Date) -> Int? {
            report.plan.servers[view.server].switches.last { $0.from <= instant }?.certificate
        }
        let first = certificate(at: columns[column])
        let last = instants(column, columns).last.flatMap { certificate(at: report.simulation.instants[$0]) }
        guard let shown = last ?? first else { return "-" }
        let name = SafeText.escape(Self.name(of: report.plan.certificates[shown]))
        // The mark says that the server switches in the course of the column.
        let text = first == shown ? name : ">" + name
        return TextLayout.shortened(text, to: cell - 1, ellipsis: ellipsis)
    }

    /// Returns the name of a certificate for a narrow column. The authorities of renewals are in the first column.
    private static func name(of certificate: RotationPlan.Certificate) -> String {
        certificate.renewal == nil ? certificate.name : "renewal"
    }

    /// Returns `x` if the version loses the server in the column, `ok` if it connects, and nothing if it is not
    /// supported or the server shows nothing.
    private func outcome(_ app: Int, _ server: Int, _ column: Int, _ columns: [Date]) -> String {
        let simulation = report.simulation
        let instants = instants(column, columns)
        if instants.contains(where: { simulation.loss(ofServer: server, app: app, at: $0) != nil }) { return "x" }
        let connects = instants.contains { index in
            simulation.possiblePolicies(ofApp: app, at: index).contains { policy in
                simulation.phase(ofServer: server, policy: policy, at: simulation.instants[index])?.decision != nil
            }
        }
        return connects ? "ok" : ""
    }

    /// Returns a row. A name that is longer than its column has a line of its own.
    private func row(_ name: String, _ cells: [String]) -> [Line] {
        let name: Line = "\(name)"
        let blank: Line = ""
        let cells: Line = "\(TextLayout.withoutTrailingBlanks(cells.map { TextLayout.padded($0, to: cell) }.joined()))"
        return name.columns < label ? [name.padded(to: label) + cells] : [name, blank.padded(to: label) + cells]
    }
}
