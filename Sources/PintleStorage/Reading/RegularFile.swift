package import PintleSystem

/// Reads whole files. Only regular files, which have an end, and only up to a size that fits into memory.
package enum RegularFile {
    /// Returns the content of a file. Follows a symbolic link.
    ///
    /// - Parameters:
    ///   - path: the file, relative to the current directory of the process.
    ///   - limit: the largest size to read, in bytes.
    /// - Throws: `too-large` for a larger file; `unreadable-file` for every other reason.
    package static func content(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        guard !path.utf8.contains(0) else {
            throw FileError(unreadable: path, "the name has a NUL in it", help: "write the name of a file")
        }
        guard let descriptor = Descriptor.open(path, O_RDONLY, followingLinks: true), let status = descriptor.status
        else {
            throw FileError(unreadable: path, errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileError(
                unreadable: path, "not a regular file", help: "name a file, not a folder, pipe or device")
        }
        guard let content = descriptor.content(limit: limit, expecting: Int(clamping: status.st_size)) else {
            throw FileError(unreadable: path, errno)
        }
        guard content.count <= limit else {
            throw FileError(
                id: "too-large", path: path, message: "larger than \(limit >> 20) MiB",
                help: "split it, or leave out what is not needed")
        }
        return content
    }
}

/// An identifier of a file's content that can be found without reading the file.
///
/// While the file that was read stays open, its inode is not reused. So no other content can have the same version.
package struct FileVersion: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: [Int]
    private let changed: [Int]

    package init(_ status: stat) {
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
