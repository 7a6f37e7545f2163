internal import Pintle
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
    func progress(_ attack: Attack, _ index: Int, of count: Int, after duration: Duration) {
        guard console.showsMessagesToPerson, duration >= .milliseconds(500) else { return }
        showsProgress = true
        console.prompt("\r\u{1B}[K\(index + 1)/\(count)  \(attack.id)")
    }

    func eraseProgress() {
        guard showsProgress else { return }
        showsProgress = false
        console.prompt("\r\u{1B}[K")
    }

    // MARK: Lines

    func control(_ result: RehearsalResult) -> [String] {
        let bytes = result.requestBytes > 0 ? "\(result.requestBytes) request bytes" : "no request, exit code 0"
        let place = namesHosts ? result.host.map { " at \($0)" } ?? "" : ""
        let version = HTTPVersion.isHTTP2(result.applicationProtocol) ? " over HTTP/2" : ""
        guard result.outcome == .accepted else { return ["control\(place)   not run: \(result.remark ?? "")", ""] }
        let accepted = console.palette.good("accepted")
        return ["control\(place)   valid chain, right host: \(accepted), \(bytes)\(version)", ""]
    }

    /// Returns the lines of a result. A good result has none unless all are shown.
    func row(_ result: RehearsalResult) -> [String] {
        guard !result.isAsItMustBe || showsAll else {
            if result.outcome != .notRun { hidden += 1 }
            return []
        }
        var lines: [String] = []
        if !hasHead {
            hasHead = true
            let head = Self.columns("attack", "must be", "was" + Self.blanks(9), "bytes", "ms")
            let why = "  why it matters"
            lines.append(head + (Self.width + why.count <= console.tableWidth ? why : ""))
        }
        if namesHosts, let place = result.host, place != host {
            host = place
            lines.append("  " + place)
        }
        let word = TextLayout.padded(result.outcome.word, to: 12)
        let palette = console.palette
        let verdict =
            switch result.outcome {
            case .inconclusive: palette.warning(word)
            case .notRun: palette.dim(word)
            default: result.isAsItMustBe ? palette.good(word) : palette.bad(word)
            }
        let isRun = result.outcome != .notRun
        let line = Self.columns(
            result.attack.id, result.attack.expectation.rawValue, verdict, isRun ? "\(result.requestBytes)" : "",
            result.milliseconds.map { "\($0)" } ?? "")
        lines += TextLayout.row(
            line, taking: Self.width, last: result.why.map(SafeText.escape) ?? "", width: console.tableWidth)
        if showsAll { lines += details(result) }
        return lines
    }

    private func details(_ result: RehearsalResult) -> [String] {
        guard result.outcome != .notRun else { return [] }
        var facts = [result.attack.summary]
        if result.isAsItMustBe, let remark = result.remark { facts.append(SafeText.escape(remark)) }
        if let alert = result.alert { facts.append("alert \(alert)") }
        if result.host != nil, let number = result.connection { facts.append("connection \(number)") }
        if result.milliseconds != nil { facts.append(result.clientExit.map { "exit code \($0)" } ?? "killed") }
        if let name = result.applicationProtocol { facts.append("over \(HTTPVersion.name(of: name))") }
        var lines = TextLayout.wrapped(facts.joined(separator: "; "), width: console.tableWidth - 4)
        if result.outcome != .accepted, result.outcome != .letThrough, let line = Self.gist(of: result.clientWords) {
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

/// Advice that follows from all results together.
struct RehearsalAdvice {
    let lines: [String]

    init(_ results: [RehearsalResult], client: ClientCommand?) {
        let ids = { (outcome: RehearsalOutcome) in
            Set(
                results.filter {
                    $0.outcome == outcome && !$0.isAsItMustBe
                        && ($0.attack.id == "redirect-to-http" || !$0.wasInTheClear)
                }.map(\.attack.id))
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
        if results.contains(where: { $0.wasInTheClear && $0.attack.id != "redirect-to-http" }) {
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
        if results.contains(where: \.wasWaiting) {
            let longer = client == nil ? "" : " if it does, run it again with a longer --timeout;"
            lines.append(
                "does the client end by a time-out of its own?\(longer) if it has none, a server that stalls or never "
                    + "finishes holds it for ever")
        }
        if results.contains(where: { $0.remark == RehearsalEvidence.mayHaveRetried }) {
            lines.append(RehearsalEvidence.remedy)
        }
        self.lines = lines
    }
}
