/// The instant at which waiting ends. A deadline is set once for each phase, so that many short waits cannot add up to
/// a long one. A peer that sends one byte a second times out like a peer that sends nothing.
package struct Deadline: Comparable, Sendable {
    package let instant: ContinuousClock.Instant

    /// 30 years, which keep the arithmetic from overflowing and are long enough for no limit.
    package static let longest = Duration.seconds(1_000_000_000)

    /// - Parameter duration: clamped to 0 through ``longest``.
    package init(after duration: Duration) {
        instant = .now + min(max(duration, .zero), Self.longest)
    }

    /// - Parameter seconds: as `duration` of ``init(after:)``.
    package init(seconds: Double) {
        self.init(after: .seconds(seconds < 1e9 ? max(seconds, 0) : 1e9))
    }

    package init(at instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    package static func < (left: Deadline, right: Deadline) -> Bool { left.instant < right.instant }

    package var hasPassed: Bool { .now >= instant }

    /// The remaining time for `poll`, rounded up, so that the last wait does not become a busy loop.
    package var remainingMilliseconds: Int32 {
        let (seconds, attoseconds) = max(.zero, instant - .now).components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
