#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The times at which a store asks for updates.
///
/// Intervals below one second count as one second, and intervals above ten years as ten years.
public struct UpdateSchedule: Sendable, Hashable {
    /// The time between two fetches in seconds while the update in force is far from its expiry; a day by default.
    public var intervalSeconds: Double = 86_400
    /// The time between two fetches in seconds after the update in force has expired; an hour by default.
    package var shortestIntervalSeconds: Double = 3_600
    /// The pause after the first failure in seconds; five minutes by default. It doubles with each further failure, up
    /// to the time between two fetches.
    package var firstRetrySeconds: Double = 300

    /// Creates a schedule with the default intervals.
    public init() {}

    /// Clamps an interval to between one second and ten years. NaN becomes one second. An infinite interval could not
    /// be added to a date, and an interval of 0 would leave no pause between two fetches.
    private static func seconds(_ value: Double) -> Double { value > 1 ? min(value, 10 * 365 * 86_400) : 1 }

    /// The past fetches from which a schedule computes the next one.
    package struct History: Sendable, Hashable {
        /// The time of the last attempt.
        package var lastAttempt: Date?
        /// The time of the last attempt with a valid answer.
        package var lastSuccess: Date?
        /// The number of failed attempts since then.
        package var failures = 0

        package init() {}
    }

    /// Returns the time from which on an update is due.
    ///
    /// - Parameters:
    ///   - history: the past fetches.
    ///   - expiresAt: the expiry of the update in force; `nil` without one. The fetches become more frequent towards
    ///     it.
    ///   - isLost: `true` if a stored update was lost; the next fetch is then due at once.
    ///   - phase: a number from 0 to 1, drawn once for each install. It spreads the apps over the interval.
    ///   - jitter: a number from 0 to 1, drawn for each call. It spreads the retries of the apps.
    ///   - now: the current time.
    package func next(
        after history: History, expiresAt: Date?, isLost: Bool, phase: Double, jitter: Double, now: Date
    ) -> Date {
        // An attempt in the future: the clock was set back by an unknown amount.
        guard let attempt = history.lastAttempt, attempt <= now else { return now }
        let interval = Self.seconds(intervalSeconds)
        let wait = wait(interval, expiresAt: expiresAt, now: now)
        if history.failures > 0 {
            // With the exponent capped at 20, the pause is already longer than any interval.
            let doubled = Self.seconds(firstRetrySeconds) * Double(1 << min(history.failures - 1, 20))
            return attempt.addingTimeInterval(min(wait, doubled) * (0.5 + 0.5 * min(max(jitter, 0), 1)))
        }
        if isLost { return now }
        guard let success = history.lastSuccess, success <= now else { return now }
        let place = min(max(phase, 0), 1)
        guard wait >= interval else { return success.addingTimeInterval(wait * (0.75 + 0.25 * place)) }
        // Each install has its own time of day, at least half an interval after the last success.
        let earliest = success.addingTimeInterval(interval / 2)
        let offset = (earliest.timeIntervalSince1970 - place * interval).truncatingRemainder(dividingBy: interval)
        let rest = offset <= 0 ? -offset : interval - offset
        return earliest.addingTimeInterval(rest)
    }

    /// Returns the time to wait after a success: an eighth of the time until expiry, within the bounds.
    private func wait(_ interval: Double, expiresAt: Date?, now: Date) -> Double {
        guard let expiresAt else { return interval }
        return min(interval, max(Self.seconds(shortestIntervalSeconds), expiresAt.timeIntervalSince(now) / 8))
    }
}
