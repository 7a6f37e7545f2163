internal import Pintle

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Lets one mismatch in ten minutes of a process ask for an update: an interceptor shows a wrong key with every
/// connection, and must not make the app hammer its servers.
package final class MismatchLimit: Sendable {
    static let shared = MismatchLimit()

    package init() {}

    private let last = Locked<Double?>(nil)

    /// - Parameter now: in seconds, of a clock that nobody sets.
    func allows(at now: Double = MismatchLimit.uptime) -> Bool {
        last.withLock { last in
            if let before = last, now - before < 600 { return false }
            last = now
            return true
        }
    }

    static var uptime: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
