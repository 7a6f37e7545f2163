internal import Glibc
internal import Synchronization

/// Stands between the end of the process and the transfers that still run: `exit` has OpenSSL free what its
/// connections share, while the threads that use them go on.
///
/// A loop that finds the process exiting stops where it is. Its tasks get no callbacks.
enum ExitGuard {
    private struct Entry {
        weak var loop: CurlLoop?
    }

    private static let isEnding = Atomic<Bool>(false)
    private static let running = Mutex<[ObjectIdentifier: Entry]>([:])

    /// Handlers are called in the reverse order of their registration: this one has to come after OpenSSL's.
    private static let isRegistered: Bool = {
        guard CurlLibrary.refusal == nil else { return false }
        return atexit { ExitGuard.stopLoops() } == 0
    }()

    /// In milliseconds. A handshake that is being judged takes a few; slower loops are not waited for.
    private static let patience = 2_000

    static func enter(_ loop: CurlLoop) {
        _ = isRegistered
        running.withLock { $0[ObjectIdentifier(loop)] = Entry(loop: loop) }
    }

    static func leave(_ loop: CurlLoop) {
        running.withLock { $0[ObjectIdentifier(loop)] = nil }
    }

    /// Where a loop is between two calls of libcurl; does not return once the process ends.
    static func pass(_ loop: CurlLoop) {
        guard isEnding.load(ordering: .acquiring) else { return }
        leave(loop)
        while true { pause() }
    }

    private static func stopLoops() {
        isEnding.store(true, ordering: .releasing)
        for _ in 0..<patience {
            let loops = running.withLock { $0.values.map(\.loop) }
            guard !loops.isEmpty else { return }
            for loop in loops { loop?.wake() }
            usleep(1_000)
        }
    }
}
