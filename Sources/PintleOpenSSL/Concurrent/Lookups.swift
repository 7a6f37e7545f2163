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
    var bell: CInt { results.bell }

    /// - Parameter handler: called by ``deliver()``.
    func add(_ work: @escaping @Sendable () -> Result, whenDone handler: @escaping (Result) -> Void) {
        lastID += 1
        handlers[lastID] = handler
        waiting.append((lastID, work))
        startThreads()
    }

    /// Hands over what is done, and begins what has waited.
    func deliver() {
        let done = results.takeAll()
        running -= done.count
        for (id, result) in done { handlers.removeValue(forKey: id)?(result) }
        startThreads()
    }

    private func startThreads() {
        while running < limit, !waiting.isEmpty {
            let (id, work) = waiting.removeFirst()
            running += 1
            let results = results
            if Self.startThread({ results.put(id, work()) }) { continue }
            // Nobody else does it: the loop waits, and goes on.
            results.put(id, work())
        }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        final class Body: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        let body = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// What the threads share.
    private final class Results: Sendable {
        private struct State {
            var done: [(id: Int, result: Result)] = []
            var isAbandoned = false
        }

        /// Both ends of a connection that nothing blocks on.
        let bell: CInt
        private let hammer: CInt
        private let state = Mutex(State())

        init() throws(HandshakeError) {
            var ends: [CInt] = [-1, -1]
            let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
                throw .noResources("cannot open a pair of sockets: \(systemMessage(errno))")
            }
            (bell, hammer) = (ends[0], ends[1])
        }

        deinit {
            close(bell)
            close(hammer)
        }

        func put(_ id: Int, _ result: Result) {
            let isWanted = state.withLock { state in
                if !state.isAbandoned { state.done.append((id, result)) }
                return !state.isAbandoned
            }
            guard isWanted else { return Self.drop(result) }
            var byte: UInt8 = 0
            _ = send(hammer, &byte, 1, CInt(MSG_NOSIGNAL))
        }

        func takeAll() -> [(id: Int, result: Result)] {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(bell, &bytes, bytes.count) == bytes.count {}
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
