internal import Pintle
internal import PintleStorage

/// Lets one mismatch in ten minutes of a process ask for an update: an interceptor shows a wrong key with every
/// connection, and must not make the app hammer its servers.
package final class MismatchLimit: Sendable {
    static let shared = MismatchLimit()

    package init() {}

    private let last = Locked<Double?>(nil)

    /// - Parameter now: in seconds, of a clock that nobody sets.
    func allows(at now: Double = Uptime.seconds) -> Bool {
        last.withLock { last in
            if let before = last, now - before < 600 { return false }
            last = now
            return true
        }
    }
}
