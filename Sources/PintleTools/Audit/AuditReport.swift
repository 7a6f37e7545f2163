internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient
internal import PintleText

/// The result of an audit as text and as a page.
struct AuditReport {
    let rows: AuditRows
    let tally: AuditTally
    let now: Date
    /// The results of the page's table. They are read several times, so that memory does not grow with their number.
    var results: AuditSelection?

    /// The rows and the summary.
    var text: Report {
        var text = rows.report
        if !text.isEmpty { text.gap() }
        text += summary
        return text
    }

    /// The summary and a table of all servers.
    var page: ReportPage {
        let hybrid = tally.lacksHybrid ? "; " + (tally.hybridSentence ?? "no result names its group") : ""
        let asked = tally.span.map {
            "Asked from \(RFC3339.string(from: $0.lowerBound)) to \(RFC3339.string(from: $0.upperBound))"
        }
        return ReportPage(
            kind: "Audit of servers", result: "\(tally.result)\(hybrid)",
            verdict: tally.rejected + tally.unreached > 0 || tally.lacksHybrid
                ? .bad : tally.withWarnings > 0 ? .warning : .good,
            facts: asked.map { ["\($0)"] } ?? [], isWide: true, report: summary)
    }

    /// The TLS library that offers groups: `OpenSSL 3.0.22`.
    static let library = "OpenSSL " + openSSLVersion

    private var summary: Report {
        var report = Report("\(tally.sentence)")
        guard tally.servers > 0 else { return report }
        report.figures(
            [
                (tally.servers, "servers", nil), (tally.trusted, "trusted", .good),
                (tally.withWarnings, "with warnings", .warning), (tally.rejected, "rejected", .bad),
                (tally.unreached, "not reached", .bad),
            ] + (tally.requiresHybrid ? [(tally.hybrid, "with a hybrid group", nil)] : []))
        report.layout = Report.FactLayout(indent: 2, labelColumns: 10)
        report.fact("reasons", .names(Self.counts(tally.reasons)))
        if !tally.problems.isEmpty { report.fact("problems", .names(Self.counts(tally.problems.mapValues(\.servers)))) }
        if let sentence = tally.hybridSentence { report.fact("groups", "\(sentence)") }
        if let end = tally.firstEnd {
            report.fact("ends", "\(ValidityText.day(end.date)), the first of the trusted: \(end.server)")
        }
        if let kinds { report.table(kinds) }
        report.picture(
            Report.Picture(
                title: "Ends of certificates and pins",
                legend: [
                    ("certificates", "certificates"),
                    (
                        "pins",
                        "pins, by week. A path counts by the certificate that ends first, without its root."
                    ),
                ], svg: { tally.timeline.svg }))
        if let results { report.table(table(of: results)) }
        return report
    }

    private static func counts(_ counts: [String: Int]) -> [String] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
    }

    /// The table of a page with a row for each kind of problem; `nil` if there is none.
    private var kinds: Report.Table? {
        let kinds = tally.problems.map { $0 } + tally.failures.map { $0 }
        let rows = kinds.sorted { ($1.value.servers, $0.key) < ($0.value.servers, $1.key) }.map { code, kind in
            let message: Line = kind.message.isEmpty ? "" : ": \(claim: kind.message)"
            return [code, "\(kind.servers)"].map { Report.Table.Cell(lines: ["\($0)"]) }
                + [.init(lines: ["\(kind.example)\(message)"])]
        }
        guard !rows.isEmpty else { return nil }
        return Report.Table(
            title: "Problems", id: "problems",
            columns: [.init(title: "Problem"), .number("Servers"), .init(title: "Such as", minimum: 16)],
            narrow: Self.narrow,
            rows: .ofPage { write throws(ToolError) in
                for row in rows { try write(row) }
            })
    }

    /// The width in rem up to which a page shows each row as a block.
    private static let narrow = 76

    // MARK: The table of servers

    static let columns: [Report.Table.Column] = [
        .init(title: "Server", minimum: 12), .init(title: "Verdict"), .init(title: "Reason", minimum: 7),
        .init(title: "Rule", minimum: 11), .init(title: "Certificate ends", isWhole: true), .number("Days"),
        .init(title: "Pins end", isWhole: true), .init(title: "Backup", isWhole: true),
        .init(title: "Asked", minimum: 6.7), .init(title: "Remarks", minimum: 12),
    ]

    /// The groups of servers in the table, the worst first.
    private enum Group: CaseIterable {
        case rejected, unreached, warned, fine

        init(_ record: AuditRecord, requiresHybrid: Bool) {
            self =
                switch record.outcome {
                case .rejected: .rejected
                case .unreached: .unreached
                case .trusted: record.hasWarning || requiresHybrid && record.lacksHybridGroup ? .warned : .fine
                }
        }
    }

    private func table(of results: AuditSelection) -> Report.Table {
        Report.Table(
            title: "Servers", id: "servers", columns: Self.columns, narrow: Self.narrow, isSortable: true,
            rows: .ofPage { write throws(ToolError) in
                for group in Group.allCases {
                    try results.read { record throws(ToolError) in
                        if Group(record, requiresHybrid: tally.requiresHybrid) == group {
                            try write(Self.cells(of: record, now: now, requiresHybrid: tally.requiresHybrid))
                        }
                    }
                }
            })
    }

    static func cells(of record: AuditRecord, now: Date, requiresHybrid: Bool) -> [Report.Table.Cell] {
        let (word, mark, rank): (Line, Line.Mark, Int) =
            switch record.outcome {
            case .rejected: ("rejected", .bad, 0)
            case .unreached: ("not reached", .bad, 1)
            case .trusted: record.hasWarning ? ("trusted, with warnings", .warning, 2) : ("trusted", .good, 3)
            }
        let days = record.certificateEnds.map { Int(($0.timeIntervalSince(now) / 86_400).rounded(.down)) }
        var remarks = record.errorMessage.map { [$0] } ?? record.problems.map { "\($0.id): \($0.message)" }
        if requiresHybrid, record.lacksHybridGroup {
            remarks.append("no hybrid group: " + (record.keyExchangeGroup?.name ?? "none"))
        }
        func text(_ text: String?) -> Report.Table.Cell { .init(lines: text.map { [Line($0)] } ?? []) }
        return [
            text(record.server.description),
            .init(lines: [word], mark: mark, order: rank),
            text([record.reason, record.pathFailure].compactMap(\.self).joined(separator: " ")),
            text(record.rule), text(record.certificateEnds.map(ValidityText.day)),
            .init(lines: days.map { ["\($0)"] } ?? [], order: days ?? 1_000_000),
            text(record.pinsEnd.map(ValidityText.day)), text(record.backup?.rawValue),
            text(RFC3339.string(from: record.instant).replacing("T", with: " ")),
            .init(lines: remarks.map { "\(claim: $0)" }),
        ]
    }
}
