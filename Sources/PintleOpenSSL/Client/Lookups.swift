internal import Glibc
internal import Synchronization

/// Runs what can only be done by waiting on threads of its own, and hands the results to the thread that polls.
///
/// Each call has a thread for as long as it takes, a bounded number at a time; the system's resolver cannot be told to
/// stop, so a thread may outlive this object and its result is then dropped. Used on one thread.
final class Lookups {
    enum Result: Sendable {
        case addresses([SocketAddress])
        /// A descriptor that whoever takes the result has to close.
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

    /// Readable where ``deliver()`` has something to do.
    var bell: CInt { results.bell.descriptor }

    /// - Parameter handler: called by ``deliver()``.
    func add(_ work: @escaping @Sendable () -> Result, whenDone handler: @escaping (Result) -> Void) {
        lastID += 1
        handlers[lastID] = handler
        waiting.append((lastID, work))
        startThreads()
    }

    /// Hands over what is done, and begins what has waited.
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
            if DetachedThread.start({ results.put(id, work()) }) { continue }
            // Nobody else does it: the loop waits, and goes on.
            results.put(id, work())
        }
    }

    /// What the threads share.
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
