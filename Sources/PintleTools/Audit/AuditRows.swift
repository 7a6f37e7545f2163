internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleText

/// The rows of an audit's text: one for all servers with the same verdict, reason and message.
struct AuditRows {
    /// A Boolean value that indicates whether every server is named, trusted ones too.
    private let isVerbose: Bool
    /// A Boolean value that indicates whether trusted servers with a warning have a row.
    private let showsWarnings: Bool
    /// A Boolean value that indicates whether a server without a hybrid group is a problem.
    private let requiresHybrid: Bool
    private var rows: [Row] = []
    private var places: [Row.Key: Int] = [:]
    /// The number of servers whose row is left out, because there are too many rows.
    private var others = 0

    /// The first word of a row. The worst come first.
    private enum Verdict: String, CaseIterable {
        case rejected = "REJECTED"
        case noHybrid = "NO HYBRID"
        case unreached = "NOT REACHED"
        case warning
        case trusted

        var mark: Line.Mark {
            switch self {
            case .rejected, .noHybrid, .unreached: .bad
            case .warning: .warning
            case .trusted: .good
            }
        }
    }

    private struct Row {
        struct Key: Hashable {
            let verdict: Verdict
            let codes: String
            /// The message without the name of the server.
            let message: String
        }

        let key: Key
        /// The first servers of the row, or all of them.
        var servers: [String] = []
        var count = 0
    }

    private static let mostRows = 100
    private static let mostServers = 10

    init(_ invocation: Invocation, showsWarnings: Bool) {
        isVerbose = invocation.isVerbose
        requiresHybrid = invocation.arguments[.require] == .hybrid
        self.showsWarnings = showsWarnings || isVerbose
    }

    /// Adds a result to its row.
    ///
    /// - Returns: the line that names the server as soon as it has answered: `REJECTED     pin-mismatch
    ///   api.example.com:443`; `nil` for a server that has no row.
    @discardableResult
    mutating func add(_ record: AuditRecord) -> Line? {
        guard let key = key(of: record) else { return nil }
        let server = record.server.description
        if let place = places[key] {
            rows[place].count += 1
            if isVerbose || rows[place].count <= Self.mostServers { rows[place].servers.append(server) }
        } else if isVerbose || rows.count < Self.mostRows {
            places[key] = rows.count
            rows.append(Row(key: key, servers: [server], count: 1))
        } else {
            others += 1
        }
        return "\(Self.head(key))\(server)"
    }

    private func key(of record: AuditRecord) -> Row.Key? {
        var codes = [record.reason, record.pathFailure].compactMap(\.self)
        var message = record.errorMessage ?? record.problems.first(where: \.isError)?.message ?? ""
        let verdict: Verdict
        switch record.outcome {
        case .rejected: verdict = .rejected
        case .unreached: verdict = .unreached
        case .trusted where requiresHybrid && record.lacksHybridGroup:
            verdict = .noHybrid
            message = record.keyExchangeGroup.map { "negotiates \($0)" } ?? "its result names no group"
        case .trusted where record.hasWarning:
            guard showsWarnings else { return nil }
            verdict = .warning
            if let first = record.problems.first {
                codes = [first.id]
                message = first.message + (record.problems.count > 1 ? " (+ \(record.problems.count - 1) more)" : "")
            }
        case .trusted:
            guard isVerbose else { return nil }
            verdict = .trusted
        }
        return Row.Key(
            verdict: verdict, codes: codes.joined(separator: " "), message: Self.withoutServer(message, record))
    }

    /// Returns a message without the server and the reason, which have columns of their own.
    static func withoutServer(_ message: String, _ record: AuditRecord) -> String {
        var message = message
        // "the path of api.example.com:443 is invalid: expired: certificate has expired"
        if let code = record.pathFailure, let range = message.firstRange(of: ": \(code): ") {
            message = String(message[range.upperBound...])
        }
        for server in [record.endpoint, record.server.connectTo].compactMap(\.self) {
            message = message.replacing(" (\(server))", with: "").replacing("\(server)", with: "the server")
        }
        return message
    }

    /// Returns the verdict and the codes, in columns.
    private static func head(_ key: Row.Key) -> Line {
        "\(TextLayout.padded(key.verdict.rawValue, to: 13), key.verdict.mark)" + Line(key.codes).padded(to: 26) + "  "
    }

    /// The rows, the worst first and then the longest.
    var report: Report {
        var report = Report()
        report.layout = Report.FactLayout(indent: 4, labelColumns: 0)
        for verdict in Verdict.allCases {
            let rows = rows.filter { $0.key.verdict == verdict }.enumerated().sorted {
                ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
            }
            for (_, row) in rows { add(row, to: &report) }
        }
        if others > 0 {
            report.line("and \(ValidityText.counted(others, "server")) with other reasons; -v names all servers")
        }
        return report
    }

    private func add(_ row: Row, to report: inout Report) {
        let server = row.count == 1 ? row.servers[0] : "\(row.count) servers"
        report.row("\(Self.head(row.key))\(server)", last: "\(claim: row.key.message)", .record)
        guard row.count > 1 else { return }
        // A line for each server, so that `grep` finds one.
        guard !isVerbose else { return report.fact("", row.servers.map { "\($0)" }) }
        let more = row.count - row.servers.count
        report.fact("", .items(row.servers.map { "\($0)" } + (more > 0 ? ["+ \(more) more"] : [])))
    }
}
