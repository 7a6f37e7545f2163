#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The times at which a store asks for updates.
///
/// Less than a second between two fetches counts as a second, and more than ten years as ten years.
public struct UpdateSchedule: Sendable, Hashable {
    /// The time between two fetches in seconds, long before the update in force expires; a day by default.
    public var intervalSeconds: Double = 86_400
    /// The time between two fetches in seconds, once the update in force has expired; an hour by default.
    public var shortestIntervalSeconds: Double = 3_600
    /// The pause after the first failure in seconds; five minutes by default. It doubles with each further failure, up to
    /// the time between two fetches.
    public var firstRetrySeconds: Double = 300

    /// The schedule of the defaults.
    public init() {}

    /// What can be waited for: nothing else is a time that can be added to another, nor is none left between two fetches.
    private static func seconds(_ value: Double) -> Double { value > 1 ? min(value, 10 * 365 * 86_400) : 1 }

    /// What a schedule is measured from.
    package struct History: Sendable, Hashable {
        /// When a server was last asked.
        package var lastAttempt: Date?
        /// When one last had a valid answer.
        package var lastSuccess: Date?
        /// How many attempts have failed since.
        package var failures = 0

        package init() {}
    }

    /// The instant from which on an update is due.
    ///
    /// - Parameters:
    ///   - expiresAt: of the update in force; `nil` for none. Fetches come closer as it does.
    ///   - isLost: whether a stored update was lost; the next is then due at once.
    ///   - phase: 0 to 1, drawn once per install: it spreads the apps over the interval.
    ///   - jitter: 0 to 1, drawn anew each time: it spreads their retries.
    package func next(
        after history: History, expiresAt: Date?, isLost: Bool, phase: Double, jitter: Double, now: Date
    ) -> Date {
        // An attempt that lies ahead: the clock was set back, and nobody knows how far.
        guard let attempt = history.lastAttempt, attempt <= now else { return now }
        let interval = Self.seconds(intervalSeconds)
        let wait = wait(interval, expiresAt: expiresAt, now: now)
        if history.failures > 0 {
            // 2^20 retries are longer than any interval.
            let doubled = Self.seconds(firstRetrySeconds) * Double(1 << min(history.failures - 1, 20))
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
        return min(interval, max(Self.seconds(shortestIntervalSeconds), expiresAt.timeIntervalSince(now) / 8))
    }
}
