internal import Glibc

/// SIGINT and SIGTERM as something to be asked about, while this object lives: work that is told to end can put things
/// in order first. Signals that the process ignores stay ignored.
///
/// Made, asked and let go on one thread, and before other threads are started: they take its mask over.
final class Interrupts {
    private var signals = sigset_t()
    private var before = sigset_t()
    /// The signal that came.
    private(set) var pending: CInt?

    init() {
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
    }

    deinit {
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Whether to end. Takes the signal, so that it does not end the process later.
    func areAsking() -> Bool {
        guard pending == nil else { return true }
        var none = timespec(tv_sec: 0, tv_nsec: 0)
        let signal = sigtimedwait(&signals, nil, &none)
        if signal > 0 { pending = signal }
        return pending != nil
    }
}
