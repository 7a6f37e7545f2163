internal import PintleSystem
internal import Synchronization

/// A TCP connection that a loopback server has accepted, or that a proxy has opened.
///
/// Every call ends with an error as soon as the server closes. No call raises SIGPIPE.
package final class TCPConnection: ByteStream, Sendable {
    let descriptor: FileDescriptor
    /// The reading end of a pipe whose other end is closed with the server.
    let stop: FileDescriptor
    private let isReset = Atomic(false)
    private let isPatient = Atomic(false)
    private let ranOutReading = Atomic(false)
    private let ranOutWriting = Atomic(false)
    private let hasDroppedBytes = Atomic(false)
    /// The time for all reads together in seconds; `nil` for no limit. Each write has this time, and a second more for
    /// each 64 KiB.
    private let timeLimit: Double?
    private let readingEnd: Mutex<Deadline?>
    private let lastActivity = Mutex(ContinuousClock.now)

    init(_ descriptor: FileDescriptor, stop: FileDescriptor, timeLimit: Double? = nil) {
        self.timeLimit = timeLimit
        readingEnd = Mutex(timeLimit.map { Deadline(seconds: $0) })
        self.descriptor = descriptor
        self.stop = stop
        // Each call below polls. macOS ignores MSG_DONTWAIT in `send`, so the socket itself does not block.
        _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        setsockopt(descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Opens a connection to a server on loopback, for a proxy. It ends with an error as soon as the server of this one
    /// closes.
    package func connect(toPort port: UInt16, ipv6: Bool) throws(SystemCallError) -> TCPConnection {
        TCPConnection(try SocketAddress.loopback(port: port, ipv6: ipv6).connected(stop: stop), stop: stop)
    }

    /// Returns `true` if the peer connected from this address, an IPv4 or IPv6 literal.
    package func isFrom(_ literal: String) -> Bool { SocketAddress.isPeer(literal, of: descriptor) }

    /// Boolean values that indicate whether a call has failed because of the time limit.
    package var hasRunOutOfTime: (reading: Bool, writing: Bool) {
        (ranOutReading.load(ordering: .relaxed), ranOutWriting.load(ordering: .relaxed))
    }

    /// Removes the time limit from now on.
    package func removeTimeLimit() { isPatient.store(true, ordering: .relaxed) }

    /// The time for which the peer has sent nothing, in seconds.
    var idleSeconds: Double { lastActivity.withLock(\.self).duration(to: .now) / .seconds(1) }

    /// Ends a connection whose peer sends nothing, as after its time limit.
    func giveUp() {
        ranOutReading.store(true, ordering: .relaxed)
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }

    /// Limits the time for all further reads together. An earlier limit stays.
    func limitReading(seconds: Double) {
        let end = Deadline(seconds: seconds)
        readingEnd.withLock { $0 = min($0 ?? end, end) }
    }

    /// The socket, for system calls that this class does not wrap. It is closed with the connection.
    package var fileDescriptor: Int32 { descriptor.number }

    package func read(upTo count: Int) throws(StreamError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: min(max(count, 1), 65_536))
        while true {
            try wait(for: Int16(POLLIN), until: readingEnd.withLock(\.self))
            let received = recv(descriptor.number, &buffer, buffer.count, 0)
            if received > 0 { lastActivity.withLock { $0 = .now } }
            if received >= 0 { return Array(buffer.prefix(received)) }
            // Some clients disconnect with a reset.
            if errno == ECONNRESET {
                hasDroppedBytes.store(true, ordering: .relaxed)
                return []
            }
            guard errno == EAGAIN || errno == EINTR else { throw TCPConnection.lastError("reading") }
        }
    }

    /// Returns bytes that the peer has sent, also one that has disconnected, or `nil` without waiting for any.
    func readWaiting() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let received = recv(descriptor.number, &buffer, buffer.count, 0)
        return received > 0 ? Array(buffer.prefix(received)) : nil
    }

    package func write(_ bytes: [UInt8]) throws(StreamError) {
        var rest = bytes[...]
        let deadline = timeLimit.map { Deadline(seconds: $0 + Double(bytes.count) / 65_536) }
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                send(descriptor.number, $0.baseAddress, $0.count, StreamSocket.sendFlags)
            }
            if sent > 0 {
                rest = rest.dropFirst(sent)
            } else if errno == EAGAIN {
                try wait(for: Int16(POLLOUT), until: deadline)
            } else if errno != EINTR {
                if errno == EPIPE || errno == ECONNRESET { hasDroppedBytes.store(true, ordering: .relaxed) }
                throw TCPConnection.lastError("writing")
            }
        }
    }

    /// Returns `true` if the peer closed its socket before it had read all bytes that were written to it. Its system
    /// then sends a reset, at once or in answer to the bytes that arrive later.
    package func peerHasDroppedBytes() -> Bool {
        var (error, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        let result = getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &error, &size)
        if result == 0, error != 0 { hasDroppedBytes.store(true, ordering: .relaxed) }
        return hasDroppedBytes.load(ordering: .relaxed)
    }

    /// Ends this side. The peer reads an end of file and can still write.
    package func shutdownWriting() {
        shutdown(descriptor.number, Int32(SHUT_WR))
    }

    /// Stops reading. Bytes that the peer still sends are dropped.
    package func shutdownReading() {
        shutdown(descriptor.number, Int32(SHUT_RD))
    }

    /// Makes the connection end with a reset instead of an end of file, when it is released.
    package func resetOnClose() {
        isReset.store(true, ordering: .relaxed)
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits until the peer disconnects, the server closes or the time is up. Bytes that the peer sends meanwhile stay
    /// unread.
    package func stall(seconds: Double) {
        _ = waitForHangUp(Deadline(seconds: seconds))
    }

    /// Waits for a time. Throws as soon as the peer disconnects or the server closes.
    func pause(seconds: Double) throws(StreamError) {
        switch waitForHangUp(Deadline(seconds: seconds)) {
        case .timedOut: break
        case .stopped: throw .serverClosed
        case .ready: throw StreamError(reason: "the peer disconnected")
        }
    }

    /// Ends this side and reads what is left, for a short time. Closing a socket with unread bytes would reset the
    /// connection, and the peer could lose the last bytes written to it.
    func finish() {
        guard !isReset.load(ordering: .relaxed) else { return }
        shutdownWriting()
        let deadline = Deadline(seconds: 0.25)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while poll(events: Int16(POLLIN), deadline: deadline) == .ready {
            let received = recv(descriptor.number, &buffer, buffer.count, 0)
            if received <= 0 { return }
        }
    }

    private func wait(for events: Int16, until end: Deadline?) throws(StreamError) {
        let deadline = isPatient.load(ordering: .relaxed) ? nil : end
        switch poll(events: events, deadline: deadline) {
        case .stopped: throw .serverClosed
        case .timedOut where deadline?.hasPassed == true:
            if events == Int16(POLLIN) {
                ranOutReading.store(true, ordering: .relaxed)
            } else {
                ranOutWriting.store(true, ordering: .relaxed)
            }
            throw .tooSlow
        case .timedOut, .ready: break
        }
    }

    private enum Event { case ready, stopped, timedOut }

    private func waitForHangUp(_ deadline: Deadline) -> Event {
        let watch = HangUpWatch(descriptor.number)
        while true {
            let event = poll(watch.entry, deadline: deadline)
            guard event == .ready, !watch.hasSeenEnd else { return event }
            usleep(20_000)
            if deadline.hasPassed { return .timedOut }
        }
    }

    private func poll(events: Int16, deadline: Deadline?) -> Event {
        poll(pollfd(fd: descriptor.number, events: events, revents: 0), deadline: deadline)
    }

    private func poll(_ entry: pollfd, deadline: Deadline?) -> Event {
        var entries = [
            entry,
            pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = PintleSystem.poll(&entries, 2, deadline?.remainingMilliseconds ?? -1)
            if entries[1].revents != 0 { return .stopped }
            if count > 0 { return .ready }
            if count == 0 || errno != EINTR { return .timedOut }
        }
    }

    static func lastError(_ operation: String) -> StreamError {
        StreamError(reason: SystemCallError.last(operation).description)
    }
}
