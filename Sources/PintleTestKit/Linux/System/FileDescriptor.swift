internal import Glibc
internal import Synchronization

/// A descriptor that is closed when the last reference goes, or before.
final class FileDescriptor: Sendable {
    let number: Int32
    private let isClosed = Atomic(false)

    init(_ number: Int32) {
        self.number = number
    }

    deinit { close() }

    /// Closes it, once. Only its owner may: another thread that still uses the number would
    /// meet another file under it.
    func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { _ = Glibc.close(number) }
    }
}

/// Held while a descriptor is made that cannot be made close-on-exec in one call, and while a
/// program is started: a program that inherits somebody's connection or pipe keeps it open.
/// (The calls that do it in one, `pipe2` and `accept4`, are not in Swift's Glibc module.)
let descriptorLock = Mutex(())

/// Two ends of a pipe, neither of which a program started meanwhile inherits.
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

/// An instant on the monotonic clock to be done by.
struct Deadline {
    private let instant: ContinuousClock.Instant

    init(seconds: Double) {
        // Within what a duration holds: years are as good as for ever.
        instant = .now + .seconds(seconds < 1e9 ? max(seconds, 0) : 1e9)
    }

    var isOver: Bool { instant <= .now }

    /// What is left, rounded up, as `poll` takes it.
    var milliseconds: Int32 {
        let left = instant - .now
        guard left > .zero else { return 0 }
        return Int32(clamping: Int64((left / .milliseconds(1)).rounded(.up)))
    }
}

/// The reading end of a pipe and what came out of it.
struct Drain {
    let descriptor: FileDescriptor
    /// Bytes kept, the first.
    private let limit: Int
    private(set) var bytes: [UInt8] = []
    private(set) var isOpen = true

    init(_ descriptor: FileDescriptor, limit: Int = .max) {
        self.descriptor = descriptor
        self.limit = limit
    }

    /// Waits for any of the pipes and reads what is there; false where nothing came in that time.
    static func poll(_ drains: inout [Drain], milliseconds: Int32) -> Bool {
        var entries = drains.map {
            pollfd(fd: $0.isOpen ? $0.descriptor.number : -1, events: Int16(POLLIN), revents: 0)
        }
        guard Glibc.poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return false }
        for index in drains.indices where entries[index].revents != 0 {
            drains[index].read()
        }
        return true
    }

    private mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor.number, &buffer, buffer.count)
        if count > 0 {
            bytes.append(contentsOf: buffer.prefix(min(count, limit - bytes.count)))
        } else if count == 0 || errno != EINTR {
            isOpen = false
        }
    }
}
