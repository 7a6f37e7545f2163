internal import PintleSystem

/// The reason that bytes could not be sent or received.
enum SocketError: Error {
    case timedOut
    /// The connection failed, with the system's error number.
    case broken(CInt)
}

/// A connected, non-blocking TCP socket. It has a single owner and is closed when released.
///
/// Every call ends by its ``Deadline``, however fast the peer sends. Writing to a peer that has gone does not raise
/// SIGPIPE: a library must not end its host process.
struct Socket: ~Copyable {
    let descriptor: CInt

    /// - Parameter descriptor: connected, non-blocking, and without another owner.
    init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Sends all of `bytes`.
    borrowing func send(_ bytes: [UInt8], until deadline: Deadline) throws(SocketError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if let sent = try sendNow(rest) {
                rest = rest.dropFirst(sent)
                if !rest.isEmpty, deadline.hasPassed { throw .timedOut }
            } else {
                try wait(for: POLLOUT, until: deadline)
            }
        }
    }

    /// Waits for bytes and reads at most `limit` of them; empty when the peer has closed its side.
    borrowing func receive(atMost limit: Int, until deadline: Deadline) throws(SocketError) -> [UInt8] {
        while true {
            if let bytes = try receiveNow(atMost: limit) { return bytes }
            try wait(for: POLLIN, until: deadline)
        }
    }

    /// Sends as many bytes as possible without blocking. Returns their number, or `nil` if the socket cannot take any
    /// now.
    borrowing func sendNow(_ bytes: ArraySlice<UInt8>) throws(SocketError) -> Int? {
        let sent = bytes.withUnsafeBytes {
            PintleSystem.send(descriptor, $0.baseAddress, $0.count, StreamSocket.sendFlags)
        }
        guard sent < 0 else { return sent }
        guard Self.isMomentary(errno) else { throw .broken(errno) }
        return nil
    }

    /// Reads at most `limit` bytes without blocking: empty when the peer has closed its side, `nil` if no bytes have
    /// arrived.
    borrowing func receiveNow(atMost limit: Int) throws(SocketError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: max(1, limit))
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count >= 0 {
            bytes.removeLast(bytes.count - count)
            return bytes
        }
        guard Self.isMomentary(errno) else { throw .broken(errno) }
        return nil
    }

    private static func isMomentary(_ error: CInt) -> Bool {
        error == EAGAIN || error == EWOULDBLOCK || error == EINTR
    }

    /// Releases the descriptor without closing it; the caller closes it.
    consuming func intoDescriptor() -> CInt {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Shuts down sending and gives the peer a moment to read. If a socket is closed with unread input, TCP sends a
    /// reset, which can overtake an alert that is still in flight.
    borrowing func finish(within moment: Duration) {
        shutdown(descriptor, CInt(SHUT_WR))
        let deadline = Deadline(after: moment)
        while !deadline.hasPassed, let bytes = try? receive(atMost: 16_384, until: deadline), !bytes.isEmpty {}
    }

    borrowing func sendEnd() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Returns the peer's numeric address without the port.
    borrowing func peerAddress() -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let known = withUnsafeMutableBytes(of: &storage) { raw in
            getpeername(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard known else { return nil }
        return SocketAddress(storage, length: length).numericHost
    }

    /// Waits until the socket is ready, or a signal has interrupted the wait.
    borrowing func wait(for events: CInt, until deadline: Deadline) throws(SocketError) {
        if deadline.hasPassed { throw .timedOut }
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        let ready = poll(&entry, 1, deadline.remainingMilliseconds)
        if ready == 0 { throw .timedOut }
        if ready < 0, errno != EINTR { throw .broken(errno) }
    }
}

extension Duration {
    /// The duration for messages: `5 s`, `0.25 s`. Clamped to 0 through ``Deadline/longest``.
    var inSeconds: String {
        let (seconds, attoseconds) = min(max(self, .zero), Deadline.longest).components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        if milliseconds % 1_000 == 0 { return "\(milliseconds / 1_000) s" }
        return "\(Double(milliseconds) / 1_000) s"
    }
}
