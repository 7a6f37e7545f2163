internal import PintleSystem
internal import Synchronization

/// A bounded pool of threads for blocking calls. Hands the results to the thread that polls.
///
/// Each call has its own thread while it runs. The system's resolver cannot be interrupted, so a thread may outlive
/// this object; its result is then dropped. Not thread-safe: use it on one thread.
final class Lookups {
    enum Result: Sendable {
        case addresses([SocketAddress])
        /// A connected descriptor; the receiver of the result must close it.
        case tunnel(CInt)
        case failed(HandshakeError)
    }

    private let limit: Int
    private let results: Results
    private var waiting: [(id: Int, work: @Sendable () -> Result)] = []
    private var handlers: [Int: (Result) -> Void] = [:]
    private var running = 0
    private var lastID = 0

    /// - Throws: `no-resources`.
    init(atMost limit: Int) throws(HandshakeError) {
        self.limit = limit
        results = try Results()
    }

    deinit { results.abandon() }

    /// A descriptor that is readable when ``deliver()`` has results.
    var bell: CInt { results.bell.descriptor }

    /// Queues a call.
    ///
    /// - Parameters:
    ///   - work: the call, which may block.
    ///   - handler: called by ``deliver()`` with the result.
    func add(_ work: @escaping @Sendable () -> Result, whenDone handler: @escaping (Result) -> Void) {
        lastID += 1
        handlers[lastID] = handler
        waiting.append((lastID, work))
        startThreads()
    }

    /// Calls the handlers of finished calls, then starts queued calls.
    func deliver() {
        let done = results.drain()
        running -= done.count
        for (id, result) in done { handlers.removeValue(forKey: id)?(result) }
        startThreads()
    }

    private func startThreads() {
        while running < limit, !waiting.isEmpty {
            let (id, work) = waiting.removeFirst()
            running += 1
            let results = results
            if SystemThread.startDetached({ results.put(id, work()) }) { continue }
            // The system has no thread left, so run the call on this thread. The loop waits meanwhile.
            results.put(id, work())
        }
    }

    /// The results that the threads and the polling thread share.
    private final class Results: Sendable {
        private struct State {
            var done: [(id: Int, result: Result)] = []
            var isAbandoned = false
        }

        let bell: Bell
        private let state = Mutex(State())

        init() throws(HandshakeError) { bell = try Bell() }

        func put(_ id: Int, _ result: Result) {
            let isWanted = state.withLock { state in
                if !state.isAbandoned { state.done.append((id, result)) }
                return !state.isAbandoned
            }
            guard isWanted else { return Self.drop(result) }
            bell.ring()
        }

        func drain() -> [(id: Int, result: Result)] {
            bell.silence()
            return state.withLock { state in
                defer { state.done = [] }
                return state.done
            }
        }

        func abandon() {
            let left = state.withLock { state in
                defer { state = State(isAbandoned: true) }
                return state.done
            }
            for (_, result) in left { Self.drop(result) }
        }

        private static func drop(_ result: Result) {
            if case .tunnel(let descriptor) = result { close(descriptor) }
        }
    }
}
