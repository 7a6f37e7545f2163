internal import Pintle
internal import PintleAttacks
internal import PintleTestKit

/// The text of a rehearsal.
final class RehearsalText {
    private let console: Console
    private let showsAll: Bool
    /// A Boolean value that indicates whether each host has a heading.
    private let namesHosts: Bool
    private var hasHead = false
    private var hidden = 0
    private var showsProgress = false
    /// The host of the last row.
    private var host: String?

    init(console: Console, showsAll: Bool, namesHosts: Bool = false) {
        (self.console, self.showsAll, self.namesHosts) = (console, showsAll, namesHosts)
    }

    // MARK: Progress

    /// Draws the progress in one line after half a second. The line is erased before other output.
    func progress(_ scenario: Scenario, _ index: Int, of count: Int, after duration: Duration) {
        guard console.showsMessagesToPerson, duration >= .milliseconds(500) else { return }
        showsProgress = true
        console.prompt("\r\u{1B}[K\(index + 1)/\(count)  \(scenario.id)")
    }

    func eraseProgress() {
        guard showsProgress else { return }
        showsProgress = false
        console.prompt("\r\u{1B}[K")
    }

    // MARK: Lines

    func control(_ outcome: Outcome) -> [String] {
        let bytes =
            outcome.observation.exposedByteCount > 0
            ? "\(outcome.observation.exposedByteCount) request bytes" : "no request, exit code 0"
        let place = namesHosts ? outcome.host.map { " at \($0)" } ?? "" : ""
        let version = outcome.observation.applicationProtocol == "h2" ? " over HTTP/2" : ""
        guard outcome.verdict == .accepted else { return ["control\(place)   not run: \(outcome.remark ?? "")", ""] }
        let accepted = console.palette.good("accepted")
        return ["control\(place)   valid chain, right host: \(accepted), \(bytes)\(version)", ""]
    }

    /// Returns the lines of a result. A good result has none unless all are shown.
    func row(_ outcome: Outcome) -> [String] {
        guard !outcome.isAsItMustBe || showsAll else {
            if outcome.verdict != .notRun { hidden += 1 }
            return []
        }
        var lines: [String] = []
        if !hasHead {
            hasHead = true
            let head = Self.columns("attack", "must be", "was" + Self.blanks(9), "bytes", "ms")
            let why = "  why it matters"
            lines.append(head + (Self.width + why.count <= console.tableWidth ? why : ""))
        }
        if namesHosts, let place = outcome.host, place != host {
            host = place
            lines.append("  " + place)
        }
        let word = TextLayout.padded(outcome.verdict.word, to: 12)
        let palette = console.palette
        let verdict =
            switch outcome.verdict {
            case .inconclusive: palette.warning(word)
            case .notRun: palette.dim(word)
            default: outcome.isAsItMustBe ? palette.good(word) : palette.bad(word)
            }
        let isRun = outcome.verdict != .notRun
        let line = Self.columns(
            outcome.scenario.id, outcome.scenario.expectation.rawValue, verdict,
            isRun ? "\(outcome.observation.exposedByteCount)" : "",
            outcome.milliseconds.map { "\($0)" } ?? "")
        lines += TextLayout.row(
            line, taking: Self.width, last: outcome.why.map(SafeText.escape) ?? "", width: console.tableWidth)
        if showsAll { lines += details(outcome) }
        return lines
    }

    private func details(_ outcome: Outcome) -> [String] {
        guard outcome.verdict != .notRun else { return [] }
        var facts = [outcome.scenario.summary]
        if outcome.isAsItMustBe, let remark = outcome.remark { facts.append(SafeText.escape(remark)) }
        if let alert = outcome.observation.alert { facts.append("alert \(alert)") }
        if outcome.host != nil, let number = outcome.connection { facts.append("connection \(number)") }
        if outcome.milliseconds != nil { facts.append(outcome.clientExit.map { "exit code \($0)" } ?? "killed") }
        if let name = outcome.observation.applicationProtocol { facts.append("over \(Self.httpVersion(name))") }
        var lines = TextLayout.wrapped(facts.joined(separator: "; "), width: console.tableWidth - 4)
        if outcome.verdict != .accepted, outcome.verdict != .letThrough, let line = Self.gist(of: outcome.clientWords) {
            lines.append(line)
        }
        return lines.map { "    " + console.palette.dim($0) }
    }

    func hiddenLine() -> String? {
        guard hidden > 0 else { return nil }
        let some = hasHead ? "  ... \(hidden) more" : "  " + ValidityText.counted(hidden, "attack")
        return some + ", all as they must be (-v lists them)"
    }

    private static let width = 2 + 30 + 10 + 12 + 7 + 7

    private static func columns(_ id: String, _ mustBe: String, _ was: String, _ bytes: String, _ ms: String) -> String
    {
        "  " + TextLayout.padded(id, to: 30) + TextLayout.padded(mustBe, to: 10) + was
            + blanks(7 - bytes.count) + bytes + blanks(7 - ms.count) + ms
    }

    /// Returns the usual name of a protocol in ALPN (RFC 7301 section 6), such as `HTTP/2`.
    static func httpVersion(_ name: String) -> String { name == "h2" ? "HTTP/2" : name.uppercased() }

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    /// Returns the most useful line: the first, or the last if the first ends with a colon.
    private static func gist(of bytes: [UInt8]) -> String? {
        let lines = words(bytes, most: 100)
        return lines.first?.hasSuffix(":") == true ? lines.last : lines.first
    }

    /// Returns the last lines of a client's output, at most 300 characters of each, safe to print.
    static func words(_ bytes: [UInt8], most: Int) -> [String] {
        let lines = String(decoding: bytes.suffix(8_192), as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.suffix(most).map { SafeText.escape(String($0.prefix(300))) }
    }
}

/// Advice that follows from all outcomes together.
struct RehearsalAdvice {
    let lines: [String]

    init(_ outcomes: [Outcome], client: Client?) {
        let ids = { (verdict: Outcome.Verdict) in
            Set(
                outcomes.filter {
                    $0.verdict == verdict && !$0.isAsItMustBe
                        && ($0.scenario.id == "redirect-to-http" || !$0.wasInTheClear)
                }.map(\.scenario.id))
        }
        let (through, blocked) = (ids(.letThrough), ids(.blocked))
        var lines: [String] = []
        if !through.isDisjoint(with: ["untrusted-ca", "self-signed"]) {
            lines.append(
                "this client does not validate: anyone on its way to the server can read and change everything")
        } else if through.contains("trusted-interceptor") {
            var line = "this client validates but does not pin"
            if client?.words.first?.split(separator: "/").last == "curl" {
                line += "; with --pinnedpubkey '{pins}' interceptors get nothing"
            }
            lines.append(line)
        } else if !through.isEmpty {
            lines.append("look at what was let through: 'pintle rehearse --list' names the standard behind each")
        }
        if outcomes.contains(where: { $0.wasInTheClear && $0.scenario.id != "redirect-to-http" }) {
            lines.append("it sends its request in the clear when TLS fails: remove that fallback")
        }
        if through.contains("redirect-to-http") {
            lines.append("it follows redirects to plain HTTP: let it follow only https")
        }
        if blocked.contains("rotated-to-backup-key") {
            let isUntold = client.map { $0.isTold.pin && !$0.isTold.backup } ?? false
            lines.append(
                isUntold
                    ? "the command line has no backup pin: {backup} is one, and {pins} has both in curl's form"
                    : "the client does not know the backup key: losing the first key locks it out")
        }
        if blocked.contains("renewed-same-key") {
            lines.append("the client pins the certificate, not its key: every renewal locks it out")
        }
        if outcomes.contains(where: \.wasWaiting) {
            let longer = client == nil ? "" : " if it does, run it again with a longer --timeout;"
            lines.append(
                "does the client end by a time-out of its own?\(longer) if it has none, a server that stalls or never "
                    + "finishes holds it for ever")
        }
        if outcomes.contains(where: \.mayHaveRetried) {
            lines.append(Outcome.moreTime)
        }
        self.lines = lines
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
