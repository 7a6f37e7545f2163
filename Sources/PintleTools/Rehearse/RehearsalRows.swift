internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintleTestKit
internal import PintleText

/// The rows of a rehearsal's text, each of which is printed as soon as its attack has ended.
struct RehearsalRows {
    private let showsAll: Bool
    /// A Boolean value that indicates whether each host has a heading.
    private let namesHosts: Bool
    private var hasHead = false
    private var hidden = 0
    /// The host of the last row.
    private var host: String?

    init(showsAll: Bool, namesHosts: Bool = false) {
        (self.showsAll, self.namesHosts) = (showsAll, namesHosts)
    }

    func control(_ outcome: Outcome) -> Report {
        let bytes =
            outcome.observation.exposedByteCount > 0
            ? "\(outcome.observation.exposedByteCount) request bytes" : "no request, exit code 0"
        let place = namesHosts ? outcome.host.map { " at \($0)" } ?? "" : ""
        let version = outcome.observation.applicationProtocol == "h2" ? " over HTTP/2" : ""
        if outcome.verdict == .notRun {
            return Report("control\(place)   not run: \(outcome.remark ?? "")", "")
        }
        if outcome.wasPlainHTTP {
            return Report("control\(place)   \(outcome.verdict.word, .bad): \(outcome.remark ?? ""), \(bytes)", "")
        }
        var report = Report(
            "control\(place)   valid chain, right host: \("accepted", .good), \(bytes)\(version)")
        if outcome.observation.hasClientCertificate { report.line("          it showed its certificate") }
        report.gap()
        return report
    }

    /// Returns the row of a result. A good result has none unless all are shown.
    mutating func row(_ outcome: Outcome) -> Report {
        var report = Report()
        guard !outcome.isAsItMustBe || showsAll else {
            if outcome.verdict != .notRun { hidden += 1 }
            return report
        }
        if !hasHead {
            hasHead = true
            report.row(Self.columns("attack", "must be", "was", "bytes", "ms"), last: "why it matters", .heading)
        }
        if namesHosts, let place = outcome.host, place != host {
            host = place
            report.line("  \(place)")
        }
        let isRun = outcome.verdict != .notRun
        report.row(
            Self.columns(
                outcome.scenario.id, outcome.scenario.expectation.rawValue,
                "\(TextLayout.padded(outcome.verdict.word, to: Self.wasColumns), outcome.mark)",
                isRun ? "\(outcome.observation.exposedByteCount)" : "", outcome.milliseconds.map { "\($0)" } ?? ""),
            last: outcome.why.map { Line($0) } ?? "", .table)
        if showsAll { report += details(outcome) }
        return report
    }

    private func details(_ outcome: Outcome) -> Report {
        var report = Report()
        guard outcome.verdict != .notRun else { return report }
        var facts = [outcome.scenario.summary]
        if outcome.isAsItMustBe, let remark = outcome.remark { facts.append(remark) }
        if let alert = outcome.observation.alert { facts.append("alert \(alert)") }
        if outcome.host != nil, let number = outcome.connection { facts.append("connection \(number)") }
        if outcome.milliseconds != nil { facts.append(outcome.clientExit.map { "exit code \($0)" } ?? "killed") }
        if let version = outcome.httpVersion { facts.append("over \(version)") }
        report.layout = Report.FactLayout(indent: 4, labelColumns: 0)
        report.fact("", .wrapped("\(facts.joined(separator: "; "), .dim)"))
        if outcome.verdict != .accepted, outcome.verdict != .letThrough,
            let line = ClientWords(outcome.clientWords).gist
        {
            report.fact("", "\(line, .dim)")
        }
        return report
    }

    /// A line about the good results that have no row.
    var rest: Line? {
        guard hidden > 0 else { return nil }
        let some = hasHead ? "... \(hidden) more" : ValidityText.counted(hidden, "attack")
        return "  \(some), all as they must be (-v lists them)"
    }

    private static let wasColumns = 12

    private static func columns(_ id: String, _ mustBe: String, _ was: Line, _ bytes: String, _ ms: String) -> Line {
        func aligned(_ number: String) -> String { String(repeating: " ", count: max(0, 7 - number.count)) + number }
        return "  \(TextLayout.padded(id, to: 30))\(TextLayout.padded(mustBe, to: 10))\(was.padded(to: wasColumns))"
            + "\(aligned(bytes))\(aligned(ms))"
    }
}

/// The output of a client.
struct ClientWords {
    private let lines: [String]

    init(_ bytes: [UInt8]) {
        lines = String(decoding: bytes.suffix(8_192), as: UTF8.self).split(whereSeparator: \.isNewline).map {
            SafeText.escape(String($0.prefix(300)))
        }
    }

    /// Returns the last lines, at most 300 characters of each, safe to print.
    func last(_ most: Int) -> [String] { lines.suffix(most) }

    /// The most useful line: the first, or the last if the first ends with a colon.
    var gist: String? {
        let lines = last(100)
        return lines.first?.hasSuffix(":") == true ? lines.last : lines.first
    }
}

extension Outcome {
    /// The colour of the verdict.
    var mark: Line.Mark {
        switch verdict {
        case .notRun: .dim
        case .inconclusive: .warning
        default: isAsItMustBe ? .good : .bad
        }
    }

    /// The usual name of the protocol that ALPN selected (RFC 7301 section 6), such as `HTTP/2`.
    var httpVersion: String? {
        observation.applicationProtocol.map { $0 == "h2" ? "HTTP/2" : $0.uppercased() }
    }
}

extension Outcome.Verdict {
    /// The word in a table. Upper case marks the bad outcome without colors.
    var word: String {
        switch self {
        case .letThrough: "LET THROUGH"
        case .held: "HELD"
        case .notRun: "not run"
        default: rawValue
        }
    }
}
