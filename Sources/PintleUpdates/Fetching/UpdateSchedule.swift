#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When the next update is asked for: a pure function of what happened, tested without waiting.
///
/// Less than a second between two fetches counts as a second, and more than ten years as ten years.
public struct UpdateSchedule: Sendable, Hashable {
    /// In seconds, between two fetches while nothing presses.
    public var interval: Double = 86_400
    /// In seconds, once what is in force has expired.
    public var shortestInterval: Double = 3_600
    /// In seconds, after the first failure; doubled with each that follows, up to what would be waited anyway.
    public var firstRetry: Double = 300

    public init() {}

    /// What can be waited for: nothing else is a time that can be added to another, nor is none left between two fetches.
    private static func seconds(_ value: Double) -> Double { value > 1 ? min(value, 10 * 365 * 86_400) : 1 }

    /// What a schedule is measured from.
    public struct History: Sendable, Hashable {
        /// When a server was last asked.
        public var lastAttempt: Date?
        /// When one last had a valid answer.
        public var lastSuccess: Date?
        /// How many attempts have failed since.
        public var failures = 0

        public init() {}
    }

    /// The instant from which on an update is due.
    ///
    /// - Parameters:
    ///   - expiresAt: of the update in force; `nil` for none. Fetches come closer as it does.
    ///   - isLost: whether a stored update was lost; the next is then due at once.
    ///   - phase: 0 to 1, drawn once per install: it spreads the apps over the interval.
    ///   - jitter: 0 to 1, drawn anew each time: it spreads their retries.
    public func next(
        after history: History, expiresAt: Date?, isLost: Bool, phase: Double, jitter: Double, now: Date
    ) -> Date {
        // An attempt that lies ahead: the clock was set back, and nobody knows how far.
        guard let attempt = history.lastAttempt, attempt <= now else { return now }
        let interval = Self.seconds(interval)
        let wait = wait(interval, expiresAt: expiresAt, now: now)
        if history.failures > 0 {
            // 2^20 retries are longer than any interval.
            let doubled = Self.seconds(firstRetry) * Double(1 << min(history.failures - 1, 20))
            return attempt.addingTimeInterval(min(wait, doubled) * (0.5 + 0.5 * min(max(jitter, 0), 1)))
        }
        if isLost { return now }
        guard let success = history.lastSuccess, success <= now else { return now }
        let place = min(max(phase, 0), 1)
        guard wait >= interval else { return success.addingTimeInterval(wait * (0.75 + 0.25 * place)) }
        // Each install has its own time of the day, at least half an interval away.
        let earliest = success.addingTimeInterval(interval / 2)
        let offset = (earliest.timeIntervalSince1970 - place * interval).truncatingRemainder(dividingBy: interval)
        let rest = offset <= 0 ? -offset : interval - offset
        return earliest.addingTimeInterval(rest)
    }

    /// How long is waited after a success: an eighth of what is left, within bounds.
    private func wait(_ interval: Double, expiresAt: Date?, now: Date) -> Double {
        guard let expiresAt else { return interval }
        return min(interval, max(Self.seconds(shortestInterval), expiresAt.timeIntervalSince(now) / 8))
    }
}
