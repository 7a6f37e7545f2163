internal import Pintle
internal import PintleOpenSSL
internal import PintleSystem

/// Writes the page of an audit. It reads the results several times, so that its memory does not grow with their number.
struct AuditReport {
    let results: AuditSelection
    let now: Date
    let requiresHybrid: Bool

    /// The groups of servers on the page, the worst first.
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
        let page = AuditPage(tally, span, now: now, requiresHybrid: requiresHybrid)
        let file = try StreamedFile(path)
        try file.write(page.head(tally, timeline))
        for group in Group.allCases {
            try results.read { record throws(ToolError) in
                if Group(record, requiresHybrid: requiresHybrid) == group { try file.write(page.row(record)) }
            }
        }
        try file.write(page.foot)
        try file.finish()
    }
}
