internal import Pintle
internal import PintleStorage

/// A rate limit: only one mismatch in ten minutes of a process may ask for an update. An interceptor shows a wrong key
/// on every connection, and must not make the app flood its servers.
package final class MismatchLimit: Sendable {
    static let shared = MismatchLimit()

    package init() {}

    private let last = Locked<Double?>(nil)

    /// - Parameter now: the time in seconds on a monotonic clock.
    func allows(at now: Double = Uptime.seconds) -> Bool {
        last.withLock { last in
            if let before = last, now - before < 600 { return false }
            last = now
            return true
        }
    }
}
