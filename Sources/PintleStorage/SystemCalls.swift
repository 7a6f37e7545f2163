#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// An open file, closed when the last reference goes.
final class Descriptor: Sendable {
    let number: Int32

    /// Takes the number over; `nil` for what `open` returns where it fails.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        close(number)
    }

    /// `nil`, and `errno` says why.
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Descriptor? {
        // C would stop at the NUL and open another file than the one named.
        guard !path.utf8.contains(0) else {
            errno = EINVAL
            return nil
        }
        // A pipe without a peer must not block before it can be told from a file; nobody's child inherits it.
        return Descriptor(openFile(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode))
    }

    /// `nil`, and `errno` says why.
    var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// Everything, up to one byte more than `limit`; `nil`, and `errno` says why.
    func content(limit: Int) -> [UInt8]? {
        var content: [UInt8] = []
        while content.count <= limit {
            var count = 0
            let some = [UInt8](unsafeUninitializedCapacity: min(65_536, limit + 1 - content.count)) {
                buffer, initialized in
                repeat { count = read(number, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
                initialized = max(0, count)
            }
            if count < 0 { return nil }
            if count == 0 { break }
            content += some
        }
        return content
    }

    /// False, and `errno` says why.
    func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeFile(number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits until it is on the disk; false, and `errno` says why.
    func sync() -> Bool {
        #if canImport(Darwin)
        // fsync leaves it in the drive's cache there.
        if fcntl(number, F_FULLFSYNC) == 0 { return true }
        #endif
        while fsync(number) != 0 {
            // Some file systems have nothing to synchronise of a folder.
            if errno == EINVAL { return true }
            if errno != EINTR { return false }
        }
        return true
    }
}

// Methods of the same name hide them.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func writeFile(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(number, bytes, count) }

/// Which content a file has, as far as can be told without reading it.
///
/// Two contents have two versions as long as the one that was read stays open: its inode is nobody else's then.
package struct FileVersion: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: [Int]
    private let changed: [Int]

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
        modified = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
        changed = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
        #else
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        #endif
    }
}

/// What the system calls error `number`, as a sentence goes on with it.
func systemText(_ number: Int32) -> String {
    let text = String(cString: strerror(number))
    return text.prefix(1).lowercased() + text.dropFirst()
}
