internal import FoundationEssentials
internal import Pintle

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
