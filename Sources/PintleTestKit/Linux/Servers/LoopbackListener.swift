internal import PintleSystem
internal import Synchronization

/// Accepts connections, on loopback by default, and serves each on a thread of its own.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let socket: FileDescriptor
    private let stop: Pipe
    private let acceptor = ThreadGroup()
    private let workers = ThreadGroup()
    private let handover = Handover()

    /// - Parameters:
    ///   - address: The address to listen at. With port 0 the system chooses a port.
    ///   - maximumConnections: The number of connections served at the same time. More wait in the system's queue.
    ///   - timeLimit: The time for all reads of a connection together, in seconds; `nil` for no limit. With a limit, a
    ///     new connection takes the place of one that has been idle for two seconds.
    ///   - serve: Runs on the connection's thread. The connection ends when it returns.
    init(
        _ address: SocketAddress, maximumConnections: Int, timeLimit: Double? = nil,
        serve: @escaping @Sendable (TCPConnection) -> Void
    ) throws(SystemCallError) {
        stop = try Pipe()
        (socket, port) = try address.listening(backlog: 128)
        let started = acceptor.start { [socket, stop = stop.readEnd, workers, handover] in
            defer { handover.close(socket) }
            LoopbackListener.acceptConnections(
                on: socket, stop: stop, workers: workers, handover: handover, limit: max(1, maximumConnections),
                timeLimit: timeLimit, serve: serve)
        }
        guard started else { throw .last("starting a thread") }
    }

    deinit { close() }

    /// Refuses new connections, ends open ones and waits for their threads. A second call is a no-op. Call it from any
    /// thread.
    func close() {
        // Wakes every thread that polls the other end, now and later.
        stop.writeEnd.close()
        acceptor.joinAll()
        workers.joinAll()
    }

    /// Waits until no connection is queued or open, so that the server has read all bytes of the connections that
    /// clients have ended. Returns `false` after a time-out.
    func waitUntilIdle(seconds: Double) -> Bool {
        let deadline = Deadline(seconds: seconds)
        while !isIdle() {
            if deadline.hasPassed { return false }
            usleep(1_000)
        }
        return true
    }

    /// Returns `true` if no connection is queued, and no more than a number of connections are open.
    func isIdle(besides count: Int = 0) -> Bool {
        // The order matters: a connection that has left the system's queue is being handed over or has its thread.
        if handover.hasQueue(socket) { return false }
        return !handover.isUnderWay.load(ordering: .sequentiallyConsistent) && workers.runningCount <= count
    }

    /// The state of the step between the system's queue and a connection's thread.
    private final class Handover: Sendable {
        let isUnderWay = Atomic(false)
        private let isClosed = Mutex(false)

        /// Only the thread that accepts may close the socket: it is the last to use its number.
        func close(_ socket: FileDescriptor) {
            isClosed.withLock { isClosed in
                isClosed = true
                socket.close()
            }
        }

        /// Returns `true` if a connection waits in the system's queue.
        func hasQueue(_ socket: FileDescriptor) -> Bool {
            isClosed.withLock { isClosed in
                var entry = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
                return !isClosed && poll(&entry, 1, 0) > 0 && Int32(entry.revents) & POLLIN != 0
            }
        }
    }

    private static func acceptConnections(
        on socket: FileDescriptor, stop: FileDescriptor, workers: ThreadGroup, handover: Handover, limit: Int,
        timeLimit: Double?,
        serve: @escaping @Sendable (TCPConnection) -> Void
    ) {
        var entries = [
            pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0),
        ]
        let open = OpenConnections()
        while true {
            let isFull = workers.runningCount >= limit
            _ = poll(&entries, isFull ? 1 : 2, isFull ? 10 : -1)
            if entries[0].revents != 0 { return }
            guard !isFull else {
                if timeLimit != nil, handover.hasQueue(socket) { open.giveUpIdle() }
                continue
            }
            handover.isUnderWay.store(true, ordering: .sequentiallyConsistent)
            defer { handover.isUnderWay.store(false, ordering: .sequentiallyConsistent) }
            guard let descriptor = accept(on: socket) else {
                // Without free descriptors the connection stays in the queue, so the next poll would return at once.
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { usleep(50_000) }
                continue
            }
            let connection = TCPConnection(descriptor, stop: stop, timeLimit: timeLimit)
            let number = timeLimit == nil ? nil : open.add(connection)
            _ = workers.start {
                serve(connection)
                connection.finish()
                if let number { open.remove(number) }
            }
        }
    }

    /// The open connections of a listener with a time limit.
    private final class OpenConnections: Sendable {
        private struct State {
            var connections: [Int: TCPConnection] = [:]
            var count = 0
        }

        private let state = Mutex(State())
        private static let idleLimit = 2.0

        func add(_ connection: TCPConnection) -> Int {
            state.withLock { state in
                state.count += 1
                state.connections[state.count] = connection
                return state.count
            }
        }

        func remove(_ number: Int) { state.withLock { $0.connections[number] = nil } }

        /// Ends the connection that has been idle for the longest time, if that is long enough.
        func giveUpIdle() {
            let connections = state.withLock { Array($0.connections.values) }
            guard let idle = connections.max(by: { $0.idleSeconds < $1.idleSeconds }) else { return }
            if idle.idleSeconds > Self.idleLimit { idle.giveUp() }
        }
    }

    private static func accept(on socket: FileDescriptor) -> FileDescriptor? {
        let number = descriptorLock.withLock { _ in StreamSocket.accept(on: socket.number) }
        return number >= 0 ? FileDescriptor(number) : nil
    }
}
