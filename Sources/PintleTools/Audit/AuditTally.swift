internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// The sums of an audit, in memory that does not grow with the number of results.
struct AuditTally {
    private(set) var trusted = 0
    private(set) var rejected = 0
    private(set) var unreached = 0
    /// The number of trusted servers with a warning.
    private(set) var withWarnings = 0
    /// The number of servers by the reason of the decision or the code of the error.
    private(set) var reasons: [String: Int] = [:]
    /// The servers that share a problem.
    struct Kind {
        var servers = 1
        /// The first of them, and its message without its name.
        let example: AuditServer
        let message: String
    }

    /// The kinds of problems by their ids.
    private(set) var problems: [String: Kind] = [:]
    /// The kinds of refusals and errors without a problem, by their reasons.
    private(set) var failures: [String: Kind] = [:]
    /// A Boolean value that indicates whether every server must negotiate a hybrid group. Otherwise groups are not
    /// counted.
    let requiresHybrid: Bool
    /// The number of reached servers by the group of their key exchange.
    private(set) var groups: [String: Int] = [:]
    /// The number of reached servers that negotiated a hybrid group.
    private(set) var hybrid = 0
    /// The earliest end of a certificate among the trusted servers.
    private(set) var firstEnd: (date: Date, server: ServerEndpoint)?
    /// The ends of certificates and pins by week.
    private(set) var timeline: AuditTimeline
    /// From the first result to the last.
    private(set) var span: ClosedRange<Date>?
    /// The limit of distinct codes. Results come from a file that may hold any text, so the counts must not grow
    /// without bound.
    private static let mostCodes = 100

    var servers: Int { trusted + rejected + unreached }

    /// The number of servers that showed a certificate.
    var reached: Int { trusted + rejected }

    /// A Boolean value that indicates whether a server lacks the hybrid group that is required.
    var lacksHybrid: Bool { requiresHybrid && hybrid < reached }

    /// - Parameter now: the instant at which the timeline begins.
    init(now: Date, requiresHybrid: Bool) {
        timeline = AuditTimeline(now: now)
        self.requiresHybrid = requiresHybrid
    }

    mutating func add(_ record: AuditRecord) {
        timeline.add(record)
        let (first, last) = (span?.lowerBound ?? record.instant, span?.upperBound ?? record.instant)
        span = min(first, record.instant)...max(last, record.instant)
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
        if requiresHybrid, let group = record.keyExchangeGroup {
            Self.count(group.name, in: &groups)
            if group.isHybrid { hybrid += 1 }
        }
        var ids: Set<String> = []
        for problem in record.problems where ids.insert(problem.id).inserted {
            Self.count(problem.id, record, problem.message, in: &problems)
        }
        guard record.problems.isEmpty, record.outcome != .trusted else { return }
        let reasons = [record.reason, record.pathFailure].compactMap(\.self)
        Self.count(reasons.joined(separator: " "), record, record.errorMessage ?? "", in: &failures)
    }

    private static func count(
        _ code: String, _ record: AuditRecord, _ message: String, in kinds: inout [String: Kind]
    ) {
        if kinds[code] != nil {
            kinds[code]?.servers += 1
        } else if kinds.count < mostCodes {
            kinds[code] = Kind(example: record.server, message: AuditRows.withoutServer(message, record))
        }
    }

    private static func count(_ code: String, in counts: inout [String: Int]) {
        if counts[code] != nil || counts.count < mostCodes { counts[code, default: 0] += 1 }
    }

    /// - Parameter isStrict: `true` if a warning is a problem too.
    func exitCode(isStrict: Bool) -> ExitCode {
        if rejected > 0 || isStrict && withWarnings > 0 || lacksHybrid { return .rejected }
        return unreached > 0 ? .unreachable : .fine
    }

    /// The result in one sentence: `3 of 40 servers have problems`
    var result: String {
        let bad = rejected + unreached
        if bad > 0 {
            let more = withWarnings == 1 ? ", 1 more has warnings" : ", \(withWarnings) more have warnings"
            return "\(bad) of \(ValidityText.counted(servers, "server")) \(bad == 1 ? "has" : "have") problems"
                + (withWarnings > 0 ? more : "")
        }
        let all = servers == 1 ? "The server is trusted" : "All \(servers) servers are trusted"
        return withWarnings > 0 ? "\(all), \(withWarnings) with warnings" : all
    }

    /// `2000 servers: 1890 trusted (12 with warnings), 60 rejected, 50 not reached`
    var sentence: String {
        let warnings = withWarnings > 0 ? " (\(withWarnings) with warnings)" : ""
        return "\(ValidityText.counted(servers, "server")): \(trusted) trusted\(warnings), \(rejected) rejected, "
            + "\(unreached) not reached"
    }

    /// `17 of 40 hosts negotiate a hybrid group`; `nil` if no result names its group, or if none is required.
    var hybridSentence: String? {
        guard !groups.isEmpty else { return nil }
        return "\(hybrid) of \(ValidityText.counted(reached, "host")) \(reached == 1 ? "negotiates" : "negotiate") "
            + "a hybrid group"
    }

    /// Returns the progress: `[#########...........]  912/2000   3 rejected, 12 not reached   41 a second, 26 s left`
    ///
    /// - Parameters:
    ///   - total: servers in all.
    ///   - before: the number of servers that an earlier run asked.
    func progress(total: Int, before: Int, after duration: Duration) -> String {
        let done = min(servers, total)
        let width = 20
        let filled = total > 0 ? done * width / total : width
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        var line = "[\(bar)]  \(done)/\(total)   \(rejected) rejected, \(unreached) not reached"
        let seconds = duration / .seconds(1)
        let asked = servers - before
        if asked > 0, seconds > 0 {
            let rate = Double(asked) / seconds
            let left = Double(total - done) / rate
            line += "   \(Int(rate.rounded())) a second, \(Int(min(left, 1e6).rounded(.up))) s left"
        }
        return line
    }

    /// `{servers, trusted, warnings, rejected, unreached, reasons, problems, hybrid?, keyExchangeGroups?, firstEnd?}`
    func write(to json: inout JSONWriter) {
        json.member("servers", servers)
        json.member("trusted", trusted)
        json.member("warnings", withWarnings)
        json.member("rejected", rejected)
        json.member("unreached", unreached)
        func write(_ counts: [String: Int], as key: String) {
            json.object(key) { json in
                for (code, count) in counts.sorted(by: { $0.key < $1.key }) { json.member(code, count) }
            }
        }
        write(reasons, as: "reasons")
        write(problems.mapValues(\.servers), as: "problems")
        if !groups.isEmpty {
            json.member("hybrid", hybrid)
            write(groups, as: "keyExchangeGroups")
        }
        if let firstEnd {
            json.object("firstEnd") { json in
                json.member("server", firstEnd.server.description)
                json.member("certificateEnds", firstEnd.date)
            }
        }
    }
}
