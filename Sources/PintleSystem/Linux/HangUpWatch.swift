/// A watch for the moment when the peer of a socket disconnects or ends its side. Unread bytes do not hide it.
package struct HangUpWatch: ~Copyable {
    /// An entry for `poll`. After its event, ``hasSeenEnd`` says what it means.
    package let entry: pollfd

    /// - Parameter socket: a connected socket. It stays open for as long as the watch.
    package init(_ socket: CInt) {
        #if canImport(Darwin)
        // `poll` reports the end only after the bytes before it. A queue has an event for the end, and one for bytes
        // only when they fill the socket's buffer.
        let queue = kqueue()
        var change = kevent()
        change.ident = UInt(socket)
        change.filter = Int16(EVFILT_READ)
        change.flags = UInt16(EV_ADD)
        change.fflags = UInt32(NOTE_LOWAT)
        change.data = Int(CInt.max)
        kevent(queue, &change, 1, nil, 0, nil)
        entry = pollfd(fd: queue, events: Int16(POLLIN), revents: 0)
        #else
        // POLLRDHUP, which Swift's Glibc module does not declare.
        entry = pollfd(fd: socket, events: 0x2000, revents: 0)
        #endif
    }

    /// A Boolean value that indicates whether the event of ``entry`` means that the peer has gone. On Darwin there is
    /// also an event when unread bytes fill the buffer.
    package var hasSeenEnd: Bool {
        #if canImport(Darwin)
        var event = kevent()
        var noTime = timespec()
        return kevent(entry.fd, nil, 0, &event, 1, &noTime) > 0 && CInt(event.flags) & EV_EOF != 0
        #else
        true
        #endif
    }

    #if canImport(Darwin)
    deinit {
        close(entry.fd)
    }
    #endif
}
