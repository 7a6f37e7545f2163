internal import PintleSystem
internal import Synchronization

/// A descriptor that is closed explicitly, or when the last reference to it is released.
final class FileDescriptor: Sendable {
    let number: Int32
    private let isClosed = Atomic(false)

    init(_ number: Int32) {
        self.number = number
    }

    deinit { close() }

    /// Closes the descriptor once. Only its owner may call this: the system can give its number to another file, which
    /// a thread that still uses the number would read or write.
    func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { _ = PintleSystem.close(number) }
    }
}

/// A lock for the time between making a descriptor and setting its close-on-exec flag, and for starting a program.
/// Otherwise the program could inherit a connection or a pipe, and keep it open. Swift does not declare `pipe2` and
/// `accept4`, which set the flag in the same call.
let descriptorLock = Mutex(())

/// The two ends of a pipe. Programs that are started meanwhile do not inherit them.
struct Pipe {
    let readEnd: FileDescriptor
    let writeEnd: FileDescriptor

    init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        let made = descriptorLock.withLock { _ in
            guard pipe(&ends) == 0 else { return false }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return true
        }
        guard made else { throw .last("making a pipe") }
        readEnd = FileDescriptor(ends[0])
        writeEnd = FileDescriptor(ends[1])
    }
}

/// The reading end of a pipe, and the last bytes read from it.
struct Drain {
    let descriptor: FileDescriptor
    /// The number of bytes to keep.
    private let limit: Int
    private(set) var bytes: [UInt8] = []
    private(set) var isOpen = true

    init(_ descriptor: FileDescriptor, limit: Int = .max) {
        self.descriptor = descriptor
        self.limit = limit
    }

    /// Waits for any of the pipes and reads the bytes that are there. Returns `false` after a time-out.
    static func poll(_ drains: inout [Drain], milliseconds: Int32) -> Bool {
        var entries = drains.map {
            pollfd(fd: $0.isOpen ? $0.descriptor.number : -1, events: Int16(POLLIN), revents: 0)
        }
        guard PintleSystem.poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return false }
        for index in drains.indices where entries[index].revents != 0 {
            drains[index].read()
        }
        return true
    }

    private mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = PintleSystem.read(descriptor.number, &buffer, buffer.count)
        if count > 0 {
            bytes.append(contentsOf: buffer.prefix(count))
            if bytes.count > limit { bytes.removeFirst(bytes.count - limit) }
        } else if count == 0 || errno != EINTR {
            isOpen = false
        }
    }
}

/// An error of a system call.
package struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed, with its path or address.
    package let operation: String
    /// The value of `errno`.
    package let code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The operation and the system's text for ``code``.
    package var description: String { "\(operation): \(String(cString: strerror(code)))" }

    /// Returns the error of the call that has just failed on this thread.
    static func last(_ operation: String) -> SystemCallError {
        SystemCallError(operation: operation, code: errno)
    }
}
