/// The instant at which waiting ends. A deadline is set once for each phase, so that many short waits cannot add up to
/// a long one. A peer that sends one byte a second times out like a peer that sends nothing.
struct Deadline: Sendable {
    let instant: ContinuousClock.Instant

    /// - Parameter duration: clamped to 0 through one day, which keeps the arithmetic from overflowing.
    init(after duration: Duration) {
        instant = ContinuousClock.now.advanced(by: min(max(duration, .zero), .seconds(86_400)))
    }

    init(at instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    var hasPassed: Bool { ContinuousClock.now >= instant }

    /// The remaining time for `poll`, rounded up, so that the last wait does not become a busy loop.
    var remainingMilliseconds: Int32 {
        let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: instant)).components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension Duration {
    /// The duration for messages: `5 s`, `0.25 s`. Clamped as a ``Deadline`` is.
    var inSeconds: String {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(86_400)).components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        if milliseconds % 1_000 == 0 { return "\(milliseconds / 1_000) s" }
        return "\(Double(milliseconds) / 1_000) s"
    }
}
