/// The progress of an audit in one line of a terminal: from half a second on, at most ten times a second, and erased
/// before other lines are written.
final class AuditProgress {
    private let console: Console
    private let total: Int
    private let before: Int
    private let begin = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant
    private let isWanted: Bool
    private var isShown = false

    /// - Parameters:
    ///   - total: servers in all.
    ///   - before: those of them that had been asked in an earlier run.
    init(_ console: Console, environment: [String: String], total: Int, before: Int) {
        self.console = console
        self.total = total
        self.before = before
        lastDrawn = begin
        isWanted = console.showsMessagesToPerson && environment["TERM"] != "dumb" && total > 0
    }

    func draw(_ tally: AuditTally) {
        let now = ContinuousClock.now
        guard isWanted, begin.duration(to: now) >= .milliseconds(500),
            lastDrawn.duration(to: now) >= .milliseconds(100)
        else { return }
        lastDrawn = now
        isShown = true
        console.prompt("\r\u{1B}[K" + Self.line(tally, total: total, before: before, after: begin.duration(to: now)))
    }

    /// Clears the line, so that the next line begins at its left.
    func erase() {
        guard isShown else { return }
        isShown = false
        console.prompt("\r\u{1B}[K")
    }

    /// `[#########...........]  912/2000   3 rejected, 12 not reached   41 a second, 26 s left`
    static func line(_ tally: AuditTally, total: Int, before: Int, after duration: Duration) -> String {
        let done = min(tally.servers, total)
        let width = 20
        let filled = total > 0 ? done * width / total : width
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        var line = "[\(bar)]  \(done)/\(total)   \(tally.rejected) rejected, \(tally.unreached) not reached"
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let asked = tally.servers - before
        if asked > 0, seconds > 0 {
            let rate = Double(asked) / seconds
            let left = Double(total - done) / rate
            line += "   \(Int(rate.rounded())) a second, \(Int(min(left, 1e6).rounded(.up))) s left"
        }
        return line
    }
}
