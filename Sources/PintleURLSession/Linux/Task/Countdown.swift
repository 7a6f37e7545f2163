internal import Foundation
internal import Synchronization

/// A timer that runs an action at a deadline, unless this object is released first.
///
/// `@unchecked`: the timer is constant, and dispatch sources may be used on any thread.
final class Countdown: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    /// The longest delay in seconds: a hundred years, the limit of Foundation's clocks.
    private static let limit = 3_155_760_000.0

    /// - Parameters:
    ///   - uptime: the deadline, as system uptime in seconds.
    ///   - action: a closure that is called at most once, on a thread of the Dispatch pool.
    init(to uptime: Double, _ action: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + min(max(0, uptime - ProcessInfo.processInfo.systemUptime), Self.limit))
        timer.setEventHandler(handler: action)
        timer.resume()
    }

    deinit {
        timer.cancel()
    }
}
