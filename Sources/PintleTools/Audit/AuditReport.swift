internal import FoundationEssentials
internal import Pintle

/// Makes a page of results, reading them as often as it needs: nothing grows with their number but the page.
struct AuditReport {
    let results: AuditSelection
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
        try results.read { record throws(ToolError) in
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
            try results.read { record throws(ToolError) in
                if Group(record) == group { try file.write(page.row(record)) }
            }
        }
        try file.write(page.foot)
        try file.finish()
    }
}
