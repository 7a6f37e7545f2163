internal import Glibc
internal import Synchronization

/// SIGINT and SIGTERM as something to be asked about, while an object of this kind lives: work that is told to end can
/// put things in order first. A write that waits for its reader is given up then. The second signal ends the process,
/// as it would without all this. Signals that the process ignores stay ignored.
final class Interrupts {
    private static let signals = [SIGINT, SIGTERM]
    private static let installed = Mutex(Installed())
    /// How many signals came. Made before the handler can be called, which must not make it.
    private static let received = Atomic<Int>(0)

    private struct Installed {
        /// How many objects live.
        var count = 0
        /// What was there before the first.
        var before: [(signal: CInt, action: sigaction)] = []
    }

    /// Whether the process was told to end.
    static var areAsking: Bool { received.load(ordering: .relaxed) > 0 }

    init() {
        Self.installed.withLock { installed in
            installed.count += 1
            guard installed.count == 1 else { return }
            Self.received.store(0, ordering: .relaxed)
            for signal in Self.signals {
                var before = sigaction()
                sigaction(signal, nil, &before)
                let handler = withUnsafeBytes(of: before.__sigaction_handler) { $0.loadUnaligned(as: Int.self) }
                if handler == Self.ignored { continue }
                // Without SA_RESTART: what waits returns.
                var action = sigaction()
                action.__sigaction_handler.sa_handler = { Interrupts.count($0) }
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

    /// `SIG_IGN` as a number.
    private static let ignored = 1

    /// Runs inside the signal's handler: nothing here allocates or locks.
    private static func count(_ number: CInt) {
        if received.add(1, ordering: .relaxed).oldValue > 0 {
            signal(number, SIG_DFL)
            raise(number)
        }
    }
}
