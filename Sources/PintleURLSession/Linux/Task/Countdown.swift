internal import Foundation
internal import Synchronization

/// Runs an action at a deadline, unless this object is released before.
///
/// `@unchecked`: the timer never changes, and dispatch sources may be used on any thread.
final class Countdown: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    /// In seconds: the hundred years that Foundation's clocks allow.
    private static let limit = 3_155_760_000.0

    /// - Parameters:
    ///   - uptime: in seconds.
    ///   - action: called at most once, on a thread of the pool.
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
