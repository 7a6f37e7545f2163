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

/// The text of an audit: the servers that need attention, and a summary.
struct AuditText {
    let console: Console
    /// A Boolean value that indicates whether trusted servers without a warning are printed too.
    let showsAll: Bool
    /// A Boolean value that indicates whether a server without a hybrid group is a problem.
    let requiresHybrid: Bool

    /// The width of the verdict, which is the first column.
    private static let wordColumns = 13

    /// `REJECTED      pin-mismatch       api.example.com:443   shows none of the pinned keys`
    ///
    /// - Returns: the lines of a server; `nil` for a server without problems unless ``showsAll`` is set.
    func lines(_ record: AuditRecord) -> [String]? {
        let palette = console.palette
        let word: String
        var codes = [record.reason, record.pathFailure].compactMap(\.self)
        var message = record.errorMessage ?? record.problems.first(where: \.isError)?.message
        switch record.outcome {
        case .rejected: word = palette.bad("REJECTED") + "     "
        case .unreached: word = palette.bad("NOT REACHED") + "  "
        case .trusted where requiresHybrid && record.lacksHybridGroup:
            word = palette.bad("NO HYBRID") + "    "
            message = record.keyExchangeGroup.map { "negotiates \($0)" } ?? "its result names no group"
        case .trusted where record.hasWarning:
            word = palette.warning("warning") + "      "
            if let first = record.problems.first {
                codes = [first.id]
                message = first.message + (record.problems.count > 1 ? " (+ \(record.problems.count - 1) more)" : "")
            }
        case .trusted:
            guard showsAll else { return nil }
            word = palette.good("trusted") + "      "
        }
        let server = "\(record.endpoint)" + (record.connectTo.map { " at \($0)" } ?? "")
        let line = TextLayout.padded(SafeText.escape(codes.joined(separator: " ")), to: 26) + "  " + server
        return TextLayout.row(
            word + line, taking: Self.wordColumns + TextLayout.columns(of: line),
            last: message.map(SafeText.escape) ?? "", width: console.recordWidth)
    }

    /// Returns the lines at the end.
    ///
    /// - Parameter offersHybrid: `false` if this machine offers no hybrid group, so that no server can choose one.
    func summary(_ tally: AuditTally, offersHybrid: Bool = true) -> [String] {
        var lines = [tally.sentence]
        let counts = { (counts: [String: Int]) in
            counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \(SafeText.escape($0.key))" }
        }
        lines.append("  reasons   " + TextLayout.list(counts(tally.reasons), width: console.width - 12))
        if !tally.problems.isEmpty {
            lines.append("  problems  " + TextLayout.list(counts(tally.problems), width: console.width - 12))
        }
        if let sentence = tally.hybridSentence {
            let note = offersHybrid ? "" : "; \(AuditText.library) offers none"
            lines.append("  groups    " + sentence + note)
        }
        if let end = tally.firstEnd {
            lines.append("  ends      \(ValidityText.day(end.date)), the first of the trusted: \(end.server)")
        }
        return tally.servers == 0 ? [tally.sentence] : lines
    }

    /// The TLS library that offers groups: `OpenSSL 3.0.22`.
    static let library = "OpenSSL " + TLSClient.libraryVersion
}
