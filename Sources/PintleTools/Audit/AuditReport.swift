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

/// What the results of an audit come to, in memory that does not grow with them.
struct AuditTally {
    private(set) var trusted = 0
    private(set) var rejected = 0
    private(set) var unreached = 0
    /// Of those that are trusted.
    private(set) var withWarnings = 0
    /// How often each reason and each error came up.
    private(set) var reasons: [String: Int] = [:]
    /// How often each problem did.
    private(set) var problems: [String: Int] = [:]
    /// The certificate that ends first of those of trusted servers.
    private(set) var firstEnd: (date: Date, server: ServerEndpoint)?
    /// Of results that come from a file, which may say anything.
    private static let mostCodes = 100

    var servers: Int { trusted + rejected + unreached }

    mutating func add(_ record: AuditRecord) {
        switch record.outcome {
        case .trusted:
            trusted += 1
            if record.hasWarning { withWarnings += 1 }
            if let end = record.certificateEnds, end < firstEnd?.date ?? .distantFuture {
                firstEnd = (end, record.endpoint)
            }
        case .rejected: rejected += 1
        case .unreached: unreached += 1
        }
        Self.count(record.reason, in: &reasons)
        for id in Set(record.problems.map(\.id)) { Self.count(id, in: &problems) }
    }

    private static func count(_ code: String, in counts: inout [String: Int]) {
        if counts[code] != nil || counts.count < mostCodes { counts[code, default: 0] += 1 }
    }

    /// - Parameter isStrict: whether a warning is a problem.
    func exitCode(isStrict: Bool) -> ExitCode {
        if rejected > 0 || isStrict && withWarnings > 0 { return .rejected }
        return unreached > 0 ? .unreachable : .fine
    }

    /// `2000 servers: 1890 trusted (12 with warnings), 60 rejected, 50 not reached`
    var sentence: String {
        let warnings = withWarnings > 0 ? " (\(withWarnings) with warnings)" : ""
        return "\(ValidityText.counted(servers, "server")): \(trusted) trusted\(warnings), \(rejected) rejected, "
            + "\(unreached) not reached"
    }

    /// `{servers, trusted, warnings, rejected, unreached, reasons, problems, firstEnd?}`
    func write(to json: inout JSONWriter) {
        json.member("servers", servers)
        json.member("trusted", trusted)
        json.member("warnings", withWarnings)
        json.member("rejected", rejected)
        json.member("unreached", unreached)
        for (key, counts) in [("reasons", reasons), ("problems", problems)] {
            json.object(key) { json in
                for (code, count) in counts.sorted(by: { $0.key < $1.key }) { json.member(code, count) }
            }
        }
        if let firstEnd {
            json.object("firstEnd") { json in
                json.member("server", firstEnd.server.description)
                json.member("certificateEnds", RFC3339.string(from: firstEnd.date))
            }
        }
    }
}

/// What an audit prints for people: a line for each server that asks for attention, and what it all comes to.
struct AuditText {
    let console: Console
    /// Whether servers that are fine have a line too.
    let showsAll: Bool

    /// `REJECTED      pin-mismatch       api.example.com:443   shows none of the pinned keys`
    func line(_ record: AuditRecord) -> String? {
        let palette = console.palette
        let word: String
        var codes = [record.reason, record.pathFailure].compactMap(\.self)
        var message = record.errorMessage ?? record.problems.first(where: \.isError)?.message
        switch record.outcome {
        case .rejected: word = palette.bad("REJECTED") + "     "
        case .unreached: word = palette.bad("NOT REACHED") + "  "
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
        return word + line + (message.map { "   " + SafeText.escape($0) } ?? "")
    }

    /// The lines at the end.
    func summary(_ tally: AuditTally) -> [String] {
        var lines = [tally.sentence]
        let counts = { (counts: [String: Int]) in
            counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \(SafeText.escape($0.key))" }
        }
        lines.append("  reasons   " + TextLayout.list(counts(tally.reasons), width: console.width - 12))
        if !tally.problems.isEmpty {
            lines.append("  problems  " + TextLayout.list(counts(tally.problems), width: console.width - 12))
        }
        if let end = tally.firstEnd {
            lines.append("  ends      \(ValidityText.day(end.date)), the first of the trusted: \(end.server)")
        }
        return tally.servers == 0 ? [tally.sentence] : lines
    }
}
