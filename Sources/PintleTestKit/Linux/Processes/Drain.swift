internal import Glibc

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
