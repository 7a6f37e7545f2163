internal import FoundationEssentials
internal import Pintle

/// Makes a page of results, reading them as often as it needs: nothing grows with their number but the page.
struct AuditReport {
    /// The files of results.
    let paths: [String]
    let now: Date

    /// What the page groups servers by, the worst first.
    private enum Group: CaseIterable {
        case rejected, unreached, warned, fine

        init(_ record: AuditRecord) {
            self =
                switch record.outcome {
                case .rejected: .rejected
                case .unreached: .unreached
                case .trusted: record.hasWarning ? .warned : .fine
                }
        }
    }

    func write(to path: String) throws(ToolError) {
        var tally = AuditTally()
        var timeline = AuditTimeline(now: now)
        var span: ClosedRange<Date>?
        try Self.forEach(in: paths) { record throws(ToolError) in
            tally.add(record)
            timeline.add(record)
            span =
                min(
                    span?.lowerBound ?? record.instant, record.instant)...max(
                    span?.upperBound ?? record.instant, record.instant)
        }
        let page = AuditPage(now: now)
        let file = try StreamedFile(path)
        try file.write(page.head(tally, timeline, span))
        for group in Group.allCases {
            try Self.forEach(in: paths) { record throws(ToolError) in
                if Group(record) == group { try file.write(page.row(record)) }
            }
        }
        try file.write(page.foot)
        try file.finish()
    }

    /// Each result once, whatever files it is in.
    ///
    /// - Parameter warning: told of a file whose last line was cut off.
    static func forEach(
        in paths: [String], warning: (String) -> Void = { _ in }, _ body: (AuditRecord) throws(ToolError) -> Void
    ) throws(ToolError) {
        var seen: Set<AuditKey> = []
        for path in paths {
            let isTorn = try AuditReader.forEach(in: path) { record throws(ToolError) in
                if paths.count == 1 || seen.insert(record.key).inserted { try body(record) }
            }
            if isTorn { warning("\(path): the last line was cut off and does not count") }
        }
    }
}
