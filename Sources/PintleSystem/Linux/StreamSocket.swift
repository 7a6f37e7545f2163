/// The calls for TCP sockets that differ between Linux and Darwin.
///
/// Sockets are closed in programs that this process starts. On Linux ``open(_:isBlocking:)`` and ``pair()`` set this in
/// the call that makes the socket. ``accept(on:)``, and each call on Darwin, set it afterwards, so a program that is
/// started in between inherits the socket.
///
/// Pass ``sendFlags`` to `send`. Otherwise a peer that has gone raises SIGPIPE on Linux.
package enum StreamSocket {
    /// The type of a stream socket, for `getaddrinfo`.
    package static var type: CInt {
        #if canImport(Darwin)
        SOCK_STREAM
        #else
        CInt(SOCK_STREAM.rawValue)
        #endif
    }

    /// The flags of `send`. On Darwin the socket itself has the option SO_NOSIGPIPE.
    package static var sendFlags: CInt {
        #if canImport(Darwin)
        0
        #else
        CInt(MSG_NOSIGNAL)
        #endif
    }

    /// Opens a blocking socket, or a non-blocking one.
    ///
    /// - Returns: the descriptor, or a negative number; `errno` gives the reason.
    package static func open(_ family: CInt, isBlocking: Bool = true) -> CInt {
        #if canImport(Darwin)
        let descriptor = socket(family, type, 0)
        if descriptor >= 0 { prepare(descriptor, isBlocking: isBlocking) }
        return descriptor
        #else
        return socket(family, typeWithFlags(isBlocking), 0)
        #endif
    }

    /// Opens two non-blocking sockets that are connected with each other.
    ///
    /// - Returns: `nil` on failure; `errno` gives the reason.
    package static func pair() -> (CInt, CInt)? {
        var ends: [CInt] = [-1, -1]
        #if canImport(Darwin)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        for end in ends { prepare(end, isBlocking: false) }
        #else
        guard socketpair(AF_UNIX, typeWithFlags(false), 0, &ends) == 0 else { return nil }
        #endif
        return (ends[0], ends[1])
    }

    /// Accepts a connection from a non-blocking socket that listens. The new socket is blocking.
    ///
    /// - Returns: the descriptor, or a negative number; `errno` gives the reason.
    package static func accept(on listener: CInt) -> CInt {
        // Swift's Glibc module does not declare accept4, which sets the flags in the same call.
        let descriptor = PintleSystem.accept(listener, nil, nil)
        if descriptor >= 0 { prepare(descriptor, isBlocking: true) }
        return descriptor
    }

    private static func prepare(_ descriptor: CInt, isBlocking: Bool) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // An accepted socket inherits the mode of the one that listens.
        _ = fcntl(descriptor, F_SETFL, isBlocking ? 0 : O_NONBLOCK)
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }

    #if !canImport(Darwin)
    private static func typeWithFlags(_ isBlocking: Bool) -> CInt {
        type | CInt(SOCK_CLOEXEC.rawValue) | (isBlocking ? 0 : CInt(SOCK_NONBLOCK.rawValue))
    }
    #endif
}
