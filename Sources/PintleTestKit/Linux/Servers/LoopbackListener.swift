internal import Glibc
internal import Synchronization

/// Accepts connections, on loopback unless another address is named, and serves each on a thread of its own.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let socket: FileDescriptor
    private let stop: Pipe
    private let acceptor = ThreadGroup()
    private let workers = ThreadGroup()
    private let handover = Handover()

    /// - Parameters:
    ///   - address: Port 0 lets the system choose.
    ///   - timeLimit: In seconds, for what a connection reads in all; `nil` for no limit.
    ///   - maximumConnections: How many are served at once; more wait in the system's queue.
    ///   - serve: Runs on the connection's thread. The connection ends when it returns.
    init(
        _ address: SocketAddress, maximumConnections: Int, timeLimit: Double? = nil,
        serve: @escaping @Sendable (TCPConnection) -> Void
    ) throws(SystemCallError) {
        stop = try Pipe()
        (socket, port) = try address.listening(backlog: 128)
        let started = acceptor.start { [socket, stop = stop.readEnd, workers, handover] in
            LoopbackListener.acceptConnections(
                on: socket, stop: stop, workers: workers, handover: handover, limit: max(1, maximumConnections),
                timeLimit: timeLimit, serve: serve)
        }
        guard started else { throw .last("starting a thread") }
    }

    deinit { close() }

    /// Refuses new connections, ends those that are open and waits for their threads. May be called
    /// again, and from any thread.
    func close() {
        // Whoever polls the other end is woken, now and for ever.
        stop.writeEnd.close()
        acceptor.joinAll()
        socket.close()
        workers.joinAll()
    }

    /// Waits until no connection is waiting or open: whatever was sent over those that clients have ended has been read.
    /// False where the time was up first.
    func waitUntilIdle(seconds: Double) -> Bool {
        let deadline = Deadline(seconds: seconds)
        while !isIdle {
            if deadline.isOver { return false }
            usleep(1_000)
        }
        return true
    }

    /// In this order: a connection that has left the system's queue is being handed over, or has its thread.
    private var isIdle: Bool {
        var entry = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        // A socket that is closed polls as an error.
        if poll(&entry, 1, 0) > 0, Int32(entry.revents) & POLLIN != 0 { return false }
        return !handover.isUnderWay.load(ordering: .sequentiallyConsistent) && workers.runningCount == 0
    }

    /// Whether a connection is on its way from the system's queue to its thread.
    private final class Handover: Sendable {
        let isUnderWay = Atomic(false)
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
        while true {
            let isFull = workers.runningCount >= limit
            _ = poll(&entries, isFull ? 1 : 2, isFull ? 2 : -1)
            if entries[0].revents != 0 { return }
            guard !isFull else { continue }
            handover.isUnderWay.store(true, ordering: .sequentiallyConsistent)
            defer { handover.isUnderWay.store(false, ordering: .sequentiallyConsistent) }
            guard let descriptor = accept(on: socket) else {
                // Without descriptors the connection stays where it is, and would wake this at once.
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { usleep(50_000) }
                continue
            }
            let connection = TCPConnection(descriptor, stop: stop, timeLimit: timeLimit)
            _ = workers.start {
                serve(connection)
                connection.finish()
            }
        }
    }

    private static func accept(on socket: FileDescriptor) -> FileDescriptor? {
        let number = descriptorLock.withLock { _ in
            let number = Glibc.accept(socket.number, nil, nil)
            if number >= 0 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
            return number
        }
        return number >= 0 ? FileDescriptor(number) : nil
    }
}
