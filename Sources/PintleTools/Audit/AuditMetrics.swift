internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// The metrics of an audit in Prometheus's text format, version 0.0.4, for the textfile collector of the node exporter.
///
/// Sums cover all servers. Only the servers that need attention have series of their own, at most 100 of each kind, so
/// that a large audit does not fill the database. Which 100 does not depend on the order of the results.
struct AuditMetrics {
    private static let mostServers = 100

    private var tally: AuditTally
    /// The refused servers that come first by name.
    private var rejected = First(limit: mostServers, of: failuresByName)
    /// The unreached servers that come first by name. Many of them must not hide a refused one.
    private var unreached = First(limit: mostServers, of: failuresByName)
    /// The trusted servers whose certificates end first.
    private var certificateEnds = First(limit: mostServers, of: serversByDate)
    /// The servers whose pins end first.
    private var pinEnds = First(limit: mostServers, of: serversByDate)

    private static let failuresByName: @Sendable (AuditRecord, AuditRecord) -> Bool = {
        $0.server.name < $1.server.name
    }
    private static let serversByDate: @Sendable (End, End) -> Bool = {
        $0.date != $1.date ? $0.date < $1.date : $0.server.name < $1.server.name
    }

    private typealias End = (date: Date, server: AuditServer)

    init(now: Date, requiresHybrid: Bool) {
        tally = AuditTally(now: now, requiresHybrid: requiresHybrid)
    }

    mutating func add(_ record: AuditRecord) {
        tally.add(record)
        switch record.outcome {
        case .rejected: rejected.add(record)
        case .unreached: unreached.add(record)
        case .trusted: if let end = record.certificateEnds { certificateEnds.add((end, record.server)) }
        }
        if let end = record.pinsEnd { pinEnds.add((end, record.server)) }
    }

    /// The text, which ends with a line break.
    ///
    /// - Parameter now: the instant at which the audit ended.
    func text(now: Date) -> String {
        var text = PrometheusText()
        text.family("pintle_audit_servers", "Servers by the outcome of the audit.")
        text.sample(["outcome": "trusted"], tally.trusted)
        text.sample(["outcome": "rejected"], tally.rejected)
        text.sample(["outcome": "unreached"], tally.unreached)
        text.family("pintle_audit_warned_servers", "Trusted servers with a warning.")
        text.sample([:], tally.withWarnings)
        text.family("pintle_audit_reasons", "Servers by the reason of the decision or the code of the error.")
        for (reason, count) in tally.reasons.sorted(by: { $0.key < $1.key }) { text.sample(["reason": reason], count) }
        text.family("pintle_audit_problems", "Servers by problem.")
        for (id, count) in tally.problems.sorted(by: { $0.key < $1.key }) {
            text.sample(["problem": id], count.servers)
        }
        if !tally.groups.isEmpty {
            text.family("pintle_audit_hybrid_servers", "Servers that negotiated a hybrid key exchange.")
            text.sample([:], tally.hybrid)
        }
        text.family("pintle_audit_server_failed", "1 for a server that is not trusted; at most 100 of each outcome.")
        for record in rejected.sorted + unreached.sorted {
            text.sample(
                record.server.labels.merging(["outcome": record.outcome.rawValue, "reason": record.reason]) { $1 }, 1)
        }
        text.family(
            "pintle_audit_certificate_end_timestamp_seconds",
            "The end of a trusted server's certificates; the 100 servers whose end is first.")
        for (date, server) in certificateEnds.sorted { text.sample(server.labels, date) }
        text.family(
            "pintle_audit_pins_end_timestamp_seconds", "The end of a server's pins; the 100 servers whose end is first."
        )
        for (date, server) in pinEnds.sorted { text.sample(server.labels, date) }
        if let span = tally.span {
            text.family("pintle_audit_first_result_timestamp_seconds", "The instant of the oldest result.")
            text.sample([:], span.lowerBound)
            text.family("pintle_audit_last_result_timestamp_seconds", "The instant of the newest result.")
            text.sample([:], span.upperBound)
        }
        text.family("pintle_audit_written_timestamp_seconds", "The instant at which this file was written.")
        text.sample([:], now)
        return text.text
    }

    /// Writes the metrics of results. The file gets its name when it is complete, so that the collector never reads a
    /// part.
    static func write(_ results: AuditSelection, to path: String, now: Date, requiresHybrid: Bool) throws(ToolError) {
        var metrics = AuditMetrics(now: now, requiresHybrid: requiresHybrid)
        try results.read { record throws(ToolError) in metrics.add(record) }
        let file = try StreamedFile(path)
        try file.write(metrics.text(now: now))
        try file.finish()
    }
}

extension AuditServer {
    /// The labels that tell a server from all others, in the order of their values.
    fileprivate var labels: [String: String] {
        var labels = ["server": "\(endpoint)"]
        labels["connect_to"] = connectTo?.description
        return labels
    }

    /// The values of the labels, by which the metrics are in order.
    fileprivate var name: (String, String) { ("\(endpoint)", connectTo?.description ?? "") }
}

/// The first entries in an order, without keeping all of them.
private struct First<Entry> {
    private let limit: Int
    private let order: @Sendable (Entry, Entry) -> Bool
    private var entries: [Entry] = []

    init(limit: Int, of order: @escaping @Sendable (Entry, Entry) -> Bool) {
        (self.limit, self.order) = (limit, order)
    }

    var sorted: [Entry] { Array(entries.sorted(by: order).prefix(limit)) }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        // Sorting only now and then keeps the cost of each entry small.
        if entries.count >= 20 * limit { entries = sorted }
    }
}

/// A text of metrics, all of the type gauge.
struct PrometheusText {
    private(set) var text = ""
    private var name = ""

    mutating func family(_ name: String, _ help: String) {
        self.name = name
        text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
    }

    /// Adds a sample to the family, with its labels in the order of their names.
    mutating func sample(_ labels: [String: String], _ value: Int) {
        let list = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escape($0.value))\"" }
        text += name + (list.isEmpty ? "" : "{\(list.joined(separator: ","))}") + " \(value)\n"
    }

    /// Adds a sample in whole seconds since 1970.
    mutating func sample(_ labels: [String: String], _ date: Date) {
        sample(labels, Int(clamping: Int64(date.timeIntervalSince1970.rounded(.down))))
    }

    /// Escapes what could change a terminal, and then what the format does not allow in a label's value. The values of
    /// forged results can hold anything.
    private static func escape(_ value: String) -> String {
        SafeText.escape(value).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
