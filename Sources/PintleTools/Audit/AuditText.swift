internal import Pintle
internal import PintleOpenSSL

/// The text of an audit: a row for all servers with the same verdict, reason and message, and a summary.
struct AuditText {
    private let console: Console
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
        console = invocation.console
        isVerbose = invocation.isVerbose
        requiresHybrid = invocation.arguments[.require] == .hybrid
        self.showsWarnings = showsWarnings || isVerbose
    }

    /// Adds a result to its row.
    ///
    /// - Returns: the line that names the server as soon as it has answered: `REJECTED     pin-mismatch
    ///   api.example.com:443`; `nil` for a server that has no row.
    @discardableResult
    mutating func add(_ record: AuditRecord) -> String? {
        guard let key = key(of: record) else { return nil }
        let server = "\(record.endpoint)" + (record.connectTo.map { " at \($0)" } ?? "")
        if let place = places[key] {
            rows[place].count += 1
            if isVerbose || rows[place].count <= Self.mostServers { rows[place].servers.append(server) }
        } else if isVerbose || rows.count < Self.mostRows {
            places[key] = rows.count
            rows.append(Row(key: key, servers: [server], count: 1))
        } else {
            others += 1
        }
        return head(key, console.talk) + server
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
            verdict: verdict, codes: SafeText.escape(codes.joined(separator: " ")),
            message: SafeText.escape(Self.withoutServer(message, record)))
    }

    /// Returns a message without the server and the reason, which have columns of their own.
    private static func withoutServer(_ message: String, _ record: AuditRecord) -> String {
        var message = message
        // "the path of api.example.com:443 is invalid: expired: certificate has expired"
        if let code = record.pathFailure, let range = message.firstRange(of: ": \(code): ") {
            message = String(message[range.upperBound...])
        }
        for server in [record.endpoint, record.connectTo].compactMap(\.self) {
            message = message.replacing(" (\(server))", with: "").replacing("\(server)", with: "the server")
        }
        return message
    }

    /// The verdict and the codes, in columns.
    private func head(_ key: Row.Key, _ palette: Palette) -> String {
        let word = TextLayout.padded(key.verdict.rawValue, to: 13)
        let colored =
            switch key.verdict {
            case .rejected, .unreached, .noHybrid: palette.bad(word)
            case .warning: palette.warning(word)
            case .trusted: palette.good(word)
            }
        return colored + TextLayout.padded(key.codes, to: 26) + "  "
    }

    /// Prints the rows, the worst first and then the longest, and the summary.
    ///
    /// - Parameter offersHybrid: `false` if this machine offers no hybrid group, so that no server can choose one.
    func print(_ tally: AuditTally, offersHybrid: Bool = true) {
        for verdict in Verdict.allCases {
            let rows = rows.filter { $0.key.verdict == verdict }.enumerated().sorted {
                ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
            }
            for (_, row) in rows { print(row) }
        }
        if others > 0 {
            console.print("and \(ValidityText.counted(others, "server")) with other reasons; -v names all servers")
        }
        if !rows.isEmpty { console.print() }
        for line in summary(tally, offersHybrid: offersHybrid) { console.print(line) }
    }

    private func print(_ row: Row) {
        let head = head(row.key, console.palette)
        let server = row.count == 1 ? row.servers[0] : "\(row.count) servers"
        let columns = 13 + max(26, TextLayout.columns(of: row.key.codes)) + 2 + TextLayout.columns(of: server)
        let lines = TextLayout.row(
            head + server, taking: columns, last: row.key.message, width: console.recordWidth)
        for line in lines { console.print(line) }
        guard row.count > 1 else { return }
        let more = row.count - row.servers.count
        let list = row.servers.joined(separator: ", ") + (more > 0 ? ", + \(more) more" : "")
        for line in TextLayout.wrapped(list, width: console.recordWidth - 4) { console.print("    " + line) }
    }

    private func summary(_ tally: AuditTally, offersHybrid: Bool) -> [String] {
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
