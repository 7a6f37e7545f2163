#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Reads files whole: regular ones, whose end comes, up to a size that the caller can hold.
package enum RegularFile {
    package static func content(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        // C would stop at the NUL and open another file than the one named.
        guard !path.utf8.contains(0) else {
            throw FileError(unreadable: path, "the name has a NUL in it", help: "write the name of a file")
        }
        // A pipe without a writer must not block before it can be told from a file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileError(unreadable: path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(unreadable: path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileError(
                unreadable: path, "not a regular file", help: "name a file, not a folder, pipe or device")
        }
        var content: [UInt8] = []
        content.reserveCapacity(max(0, min(Int(clamping: status.st_size), limit)) + 1)
        while content.count <= limit {
            let some = try some(of: descriptor, path)
            if some.isEmpty { return content }
            content += some
        }
        throw FileError(
            id: "too-large", path: path, message: "larger than \(limit >> 20) MiB",
            help: "split it, or leave out what is not needed")
    }

    private static func some(of descriptor: Int32, _ path: String) throws(FileError) -> [UInt8] {
        while true {
            var count = 0
            var number: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
                count = read(descriptor, buffer.baseAddress, buffer.count)
                number = errno
                initialized = max(0, count)
            }
            if count >= 0 { return bytes }
            if number != EINTR { throw FileError(unreadable: path, number) }
        }
    }
}
