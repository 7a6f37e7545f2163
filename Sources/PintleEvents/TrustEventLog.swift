#if PINTLE_APPLE
public import os
#endif

/// Writes each event as one line to the app's logger.
///
///     let log = TrustEventLog { level, line in logger.log(level: level == .error ? .error : .warning, "\(line)") }
public struct TrustEventLog: TrustEventObserver {
    private let write: @Sendable (TrustEvent.Level, String) -> Void

    /// - Parameter write: called with the level and one line without a line break.
    public init(_ write: @escaping @Sendable (_ level: TrustEvent.Level, _ line: String) -> Void) {
        self.write = write
    }

    #if PINTLE_APPLE
    /// Creates a log that writes to the system's log. Hosts and pins are logged as public, because they are the app's
    /// own.
    public init(_ logger: Logger) {
        self.init { level, line in
            switch level {
            case .notice: logger.notice("\(line, privacy: .public)")
            case .warning: logger.warning("\(line, privacy: .public)")
            case .error: logger.error("\(line, privacy: .public)")
            }
        }
    }
    #endif

    /// Writes the event as one line.
    public func observe(_ event: TrustEvent) {
        write(event.level, event.description)
    }
}
