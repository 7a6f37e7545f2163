internal import PintleSystem

/// An exclusive lock for changing a file, among the threads of this process and among processes. It is released with
/// the last reference, or when the process ends. Keep a reference while you change the file.
///
/// The lock is a `flock` on a separate file, because the file itself is replaced by each change. The lock's file is
/// never removed. If a user removes it by hand, waiting processes switch to the new one, and the holder of the old one
/// can no longer change the file.
package final class FileLock: Sendable {
    private let descriptor: Descriptor
    /// The path of the file that the lock protects.
    private let path: String

    /// - Parameters:
    ///   - path: the file that the lock protects.
    ///   - patience: the time to wait in milliseconds; 0 does not wait.
    /// - Throws: `busy`, or the reason that the lock cannot be created.
    init(for path: String, patience: Int) throws(StorageError) {
        self.path = path
        let end = Uptime.milliseconds + Int64(min(max(patience, 0), 86_400_000))
        for _ in 0..<Self.attempts {
            let descriptor = try Self.opened(path)
            try Self.wait(for: descriptor, path, until: end)
            if Self.isInPlace(descriptor, path) {
                self.descriptor = descriptor
                return
            }
        }
        throw Self.busy(path, "its lock is removed again and again")
    }

    /// Unlocks explicitly. A child process that has been forked but has not called `exec` yet shares the descriptor. If
    /// this process only closed its own, the child would keep the lock, and the next caller would find it busy.
    deinit {
        flock(descriptor.number, LOCK_UN)
    }

    /// The most attempts if the lock's file is removed while this process waits for it.
    private static let attempts = 100

    /// Checks that this is still the lock that others wait for. Call it directly before a change.
    ///
    /// - Throws: `busy` if the lock's file was removed in the meantime.
    package func check() throws(StorageError) {
        guard Self.isInPlace(descriptor, path) else { throw Self.busy(path, "its lock was removed meanwhile") }
    }

    /// Returns the bytes that ``write(note:)`` put into the lock's own file, up to one byte more than `limit`; empty if
    /// nothing was written.
    package func note(limit: Int) throws(StorageError) -> [UInt8] {
        guard lseek(descriptor.number, 0, SEEK_SET) == 0, let bytes = descriptor.content(limit: limit) else {
            throw .unreadable(path + ".lock", errno)
        }
        return bytes
    }

    /// Writes a few bytes into the lock's own file, in place of those that were there.
    ///
    /// The file is never empty in between. If the process ends here, the file has the old note or the new one. It may
    /// also have the start of the new note over the old one, or the new note followed by the rest of a longer old one.
    /// The call does not wait for the disk. After a loss of power the file may hold an older note, or garbage.
    ///
    /// - Parameter bytes: the note.
    package func write(note bytes: [UInt8]) throws(StorageError) {
        try check()
        guard lseek(descriptor.number, 0, SEEK_SET) == 0, descriptor.write(bytes[...]),
            ftruncate(descriptor.number, off_t(bytes.count)) == 0
        else {
            throw .notWritten(path + ".lock", errno)
        }
    }

    private static func opened(_ path: String) throws(StorageError) -> Descriptor {
        let lock = path + ".lock"
        guard let descriptor = Descriptor.open(lock, O_RDWR | O_CREAT, mode: 0o600) else {
            // With ENOENT the folder is missing, so report the file's path and not that of the lock.
            throw .notWritten(errno == ENOENT ? path : lock, errno)
        }
        guard let status = descriptor.status else { throw .notWritten(lock, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(lock) }
        return descriptor
    }

    private static func wait(
        for descriptor: Descriptor, _ path: String, until end: Int64
    ) throws(StorageError) {
        while flock(descriptor.number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK where Uptime.milliseconds < end: usleep(2_000)
            case EWOULDBLOCK: throw busy(path, "another process is changing it")
            default: throw .notWritten(path + ".lock", errno)
            }
        }
    }

    /// Returns whether the locked file still has the lock's name, that is, was not removed.
    private static func isInPlace(_ descriptor: Descriptor, _ path: String) -> Bool {
        var named = stat()
        guard let own = descriptor.status, lstat(path + ".lock", &named) == 0 else { return false }
        return own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }

    private static func busy(_ path: String, _ message: String) -> StorageError {
        StorageError(
            .busy, at: path, message: message, hint: "try again, or end that process; leave \(path).lock where it is")
    }
}

extension StorageError {
    static func unreadable(_ path: String, _ number: Int32) -> StorageError {
        if number == ELOOP { return notRegular(path) }
        let hint =
            number == EACCES ? "you may not read it: check its owner and mode" : "check that it can be read"
        return StorageError(.unreadable, at: path, message: Descriptor.errorText(number), hint: hint)
    }

    static func notWritten(_ path: String, _ number: Int32) -> StorageError {
        let hint =
            switch number {
            case ENOENT, ENOTDIR: "make the folder first"
            case EACCES, EPERM, EROFS: "you may not write there: check the folder's owner and mode"
            case ENOSPC, EDQUOT: "make room on the disk; what was there before still counts"
            case ELOOP, EISDIR: "remove what stands there"
            default: "check the folder and the disk"
            }
        return StorageError(.notWritten, at: path, message: Descriptor.errorText(number), hint: hint)
    }

    static func notRegular(_ path: String) -> StorageError {
        StorageError(
            .notRegular, at: path, message: "not a regular file",
            hint: "name a file, not a folder, symbolic link, pipe or device")
    }
}
