internal import Glibc
internal import Synchronization

/// A guard that stops running transfers when the process exits. `exit` makes OpenSSL free memory that its connections
/// share, while other threads still use them.
///
/// A loop that finds the process exiting stops where it is. Its tasks get no callbacks.
enum ExitGuard {
    private struct Entry {
        weak var loop: CurlLoop?
    }

    private static let isEnding = Atomic<Bool>(false)
    private static let running = Mutex<[ObjectIdentifier: Entry]>([:])

    /// Registers the exit handler. Handlers run in the reverse order of their registration, so this one has to be
    /// registered after OpenSSL's.
    private static let isRegistered: Bool = {
        guard CurlLibrary.refusal == nil else { return false }
        return atexit { ExitGuard.stopLoops() } == 0
    }()

    /// The longest wait for the loops, in milliseconds. A handshake with a verdict takes a few milliseconds. The exit
    /// does not wait longer for slower loops.
    private static let longestWait = 2_000

    static func enter(_ loop: CurlLoop) {
        _ = isRegistered
        running.withLock { $0[ObjectIdentifier(loop)] = Entry(loop: loop) }
    }

    static func leave(_ loop: CurlLoop) {
        running.withLock { $0[ObjectIdentifier(loop)] = nil }
    }

    /// A checkpoint of a loop between two calls of libcurl. It does not return once the process exits.
    static func pass(_ loop: CurlLoop) {
        guard isEnding.load(ordering: .acquiring) else { return }
        leave(loop)
        while true { pause() }
    }

    private static func stopLoops() {
        isEnding.store(true, ordering: .releasing)
        for _ in 0..<longestWait {
            let loops = running.withLock { $0.values.map(\.loop) }
            guard !loops.isEmpty else { return }
            for loop in loops { loop?.wake() }
            usleep(1_000)
        }
    }
}
