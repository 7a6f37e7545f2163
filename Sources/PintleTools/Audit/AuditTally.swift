internal import Pintle
internal import PintleSystem

/// The sums of an audit, in memory that does not grow with the number of results.
struct AuditTally {
    private(set) var trusted = 0
    private(set) var rejected = 0
    private(set) var unreached = 0
    /// The number of trusted servers with a warning.
    private(set) var withWarnings = 0
    /// The number of servers by the reason of the decision or the code of the error.
    private(set) var reasons: [String: Int] = [:]
    /// The number of servers by problem.
    private(set) var problems: [String: Int] = [:]
    /// The earliest end of a certificate among the trusted servers.
    private(set) var firstEnd: (date: Date, server: ServerEndpoint)?
    /// The limit of distinct codes. Results come from a file that may hold any text, so the counts must not grow
    /// without bound.
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

    /// - Parameter isStrict: `true` if a warning is a problem too.
    func exitCode(isStrict: Bool) -> ExitCode {
        if rejected > 0 || isStrict && withWarnings > 0 { return .rejected }
        return unreached > 0 ? .unreachable : .fine
    }

    /// The result in one sentence: `3 of 40 servers have problems`
    var result: String {
        let bad = rejected + unreached
        if bad > 0 {
            return "\(bad) of \(ValidityText.counted(servers, "server")) \(bad == 1 ? "has" : "have") problems"
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
