internal import PintleConsole

/// A line of progress on a terminal. It appears after half a second, is redrawn at most ten times a second, and is
/// erased before other output.
final class ProgressLine {
    private let console: Console
    private let isWanted: Bool
    private let begin = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant
    private var isShown = false

    init(_ console: Console, environment: [String: String]) {
        self.console = console
        isWanted = console.showsMessagesToPerson && environment["TERM"] != "dumb"
        lastDrawn = begin
    }

    /// - Parameter text: returns the line after so much time.
    func draw(_ text: (Duration) -> String) {
        let now = ContinuousClock.now
        guard isWanted, begin.duration(to: now) >= .milliseconds(500),
            lastDrawn.duration(to: now) >= .milliseconds(100)
        else { return }
        lastDrawn = now
        isShown = true
        console.prompt("\r\u{1B}[K" + text(begin.duration(to: now)))
    }

    /// Clears the line, so that the next line begins at its left.
    func erase() {
        guard isShown else { return }
        isShown = false
        console.prompt("\r\u{1B}[K")
    }
}
