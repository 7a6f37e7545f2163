internal import PintleSystem
internal import Synchronization

/// Counts SIGINT, SIGTERM and SIGHUP while an object of this class lives, so that work can end in an orderly way. A write that
/// waits for its reader is then given up. The second signal ends the process. Signals that the process ignores stay
/// ignored.
final class Interrupts {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let installed = Mutex(Installed())
    /// The number of signals that came. Initialised before the handler can run, because the handler must not do it.
    private static let received = Atomic<Int>(0)

    private struct Installed {
        /// The number of objects that live.
        var count = 0
        /// The actions that the first object replaced.
        var before: [(signal: CInt, action: sigaction)] = []
    }

    /// A Boolean value that indicates whether the process was told to end.
    static var areAsking: Bool { received.load(ordering: .relaxed) > 0 }

    init() {
        Self.installed.withLock { installed in
            installed.count += 1
            guard installed.count == 1 else { return }
            Self.received.store(0, ordering: .relaxed)
            for signal in Self.signals {
                var before = sigaction()
                sigaction(signal, nil, &before)
                if before.isIgnored { continue }
                var action = sigaction(calling: { Interrupts.count($0) })
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
    private static func count(_ number: CInt) {
        if received.add(1, ordering: .relaxed).oldValue > 0 {
            signal(number, SIG_DFL)
            raise(number)
        }
    }
}
