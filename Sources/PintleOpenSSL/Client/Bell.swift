internal import Glibc

/// A socket pair that wakes a thread that waits in `poll`. Both ends are non-blocking. Safe to use from any thread.
package final class Bell: Sendable {
    /// The descriptor to poll. It is readable from a call of ``ring()`` until ``silence()``.
    package let descriptor: CInt
    private let hammer: CInt

    /// - Throws: `no-resources`.
    package init() throws(HandshakeError) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw .noResources("cannot open a pair of sockets: \(systemMessage(errno))")
        }
        (descriptor, hammer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(hammer)
    }

    package func ring() {
        var byte: UInt8 = 0
        _ = send(hammer, &byte, 1, CInt(MSG_NOSIGNAL))
    }

    package func silence() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while recv(descriptor, &bytes, bytes.count, 0) == bytes.count {}
    }
}
