internal import Pintle
internal import PintleProcess
internal import PintleSystem

/// Takes SIGINT, SIGTERM, SIGHUP and SIGPIPE while an object of this class lives, so that work can end in an orderly
/// way. A write that waits for its reader is then given up. A second signal ends the process, if it comes half a second
/// later: a terminal that closes and `timeout` send theirs twice. Signals that the process ignores stay ignored.
package final class Interrupts {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]
    private static let installed = Locked(Installed())
    /// The time of the first signal in milliseconds; 0 before it. Initialised before the handler can run, because the
    /// handler must not do it.
    private static let first = SignalNumber()
    /// 1 if a write has found no reader.
    private static let lostReader = SignalNumber()

    private struct Installed {
        /// The number of objects that live.
        var count = 0
        /// The actions that the first object replaced.
        var before: [(signal: CInt, action: sigaction)] = []
    }

    /// A Boolean value that indicates whether the process was told to end.
    package static var areAsking: Bool { first.value > 0 }

    /// A Boolean value that indicates whether the process was told to end because its output has no reader any more.
    static var includeLostReader: Bool { lostReader.value > 0 }

    package init() {
        Self.installed.withLock { installed in
            installed.count += 1
            guard installed.count == 1 else { return }
            Self.first.store(0)
            Self.lostReader.store(0)
            for signal in Self.signals {
                var before = sigaction()
                sigaction(signal, nil, &before)
                if before.isIgnored { continue }
                var action = sigaction(calling: { Interrupts.note($0) })
                if sigaction(signal, &action, nil) == 0 { installed.before.append((signal, before)) }
            }
        }
    }

    deinit {
        Self.installed.withLock { installed in
            installed.count -= 1
            guard installed.count == 0 else { return }
            for (signal, before) in installed.before {
                var before = before
                sigaction(signal, &before, nil)
            }
            installed.before = []
        }
    }

    /// Runs inside the signal's handler, so nothing here allocates or locks.
    private static func note(_ number: CInt) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = max(1, time.tv_sec * 1_000 + time.tv_nsec / 1_000_000)
        let before = first.value
        if before == 0 { first.store(now) }
        if number == SIGPIPE {
            // The write has failed, and the next one fails too.
            lostReader.store(1)
        } else if before > 0, now - before >= 500 {
            signal(number, SIG_DFL)
            raise(number)
        }
    }
}
