internal import Glibc

/// Why a file was not read.
package struct FileError: Error, Sendable {
    /// Stable: `unreadable-file` or `too-large`.
    package let id: String
    package let path: String
    /// Lower case, no full stop.
    package let message: String
    /// What to do about it.
    package let help: String
}

extension FileError: CustomStringConvertible {
    package var description: String { "\(path): \(message)" }
}

/// Reads files whole: regular ones, whose end comes, up to a size that the caller can hold.
enum RegularFile {
    static func content(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        // C would stop at the NUL and open another file than the one named.
        guard !path.utf8.contains(0) else {
            throw unreadable(path, "the name has a NUL in it", help: "write the name of a file")
        }
        // A pipe without a writer must not block before it can be told from a file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable(path, "not a regular file", help: "name a file, not a folder, pipe or device")
        }
        var content: [UInt8] = []
        content.reserveCapacity(max(0, min(Int(status.st_size), limit)) + 1)
        while content.count <= limit {
            let some = try read(descriptor, path)
            if some.isEmpty { return content }
            content += some
        }
        throw FileError(
            id: "too-large", path: path, message: "larger than \(limit >> 20) MiB",
            help: "split it, or leave out what is not needed")
    }

    private static func read(_ descriptor: Int32, _ path: String) throws(FileError) -> [UInt8] {
        while true {
            var count = 0
            var number: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
                count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                number = errno
                initialized = max(0, count)
            }
            if count >= 0 { return bytes }
            if number != EINTR { throw unreadable(path, number) }
        }
    }

    private static func unreadable(_ path: String, _ number: Int32) -> FileError {
        let text = String(cString: strerror(number))
        let help =
            switch number {
            case ENOENT: "check the name and the folder"
            case EACCES: "you may not read it: check its owner and mode"
            default: "check that it can be read"
            }
        return unreadable(path, text.prefix(1).lowercased() + text.dropFirst(), help: help)
    }

    private static func unreadable(_ path: String, _ message: String, help: String) -> FileError {
        FileError(id: "unreadable-file", path: path, message: message, help: help)
    }
}
