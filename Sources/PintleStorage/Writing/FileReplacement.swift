internal import PintleSystem

/// The new content of a file. It is written under another name beside the file until it is complete.
///
/// A reader of the file sees the old content or the new one, never a mixture. If the file is a symbolic link, the link
/// is replaced. If a replacement is released before `commit()`, it removes what it has written.
///
/// The caller is responsible for locks, the owner of the file and the folder's `fsync`: `DurableFile` has all three.
/// Not thread-safe.
package final class FileReplacement {
    package enum Permissions: Sendable {
        /// Sets these bits and ignores the umask.
        case exactly(UInt32)
        /// Sets these bits without those of the umask.
        case atMost(UInt32)
    }

    private let path: String
    private let name: String
    private let descriptor: Descriptor
    private var isRenamed = false

    /// Creates an empty file, and replaces a file that another process has left behind under that name.
    ///
    /// - Parameters:
    ///   - path: the file to replace, which need not exist.
    ///   - name: the path of the content until `commit()`, in the same folder. No other process may use it.
    ///   - permissions: the permissions of the new file. Those of the old file do not matter.
    package init(of path: String, as name: String, _ permissions: Permissions) throws(ReplacementError) {
        let (mode, isExact) =
            switch permissions {
            case .exactly(let mode): (mode_t(truncatingIfNeeded: mode), true)
            case .atMost(let mode): (mode_t(truncatingIfNeeded: mode), false)
            }
        if !name.utf8.contains(0) { unlink(name) }
        guard let descriptor = Descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode) else {
            throw ReplacementError()
        }
        (self.path, self.name, self.descriptor) = (path, name, descriptor)
        guard !isExact || fchmod(descriptor.number, mode) == 0 else { throw ReplacementError() }
    }

    deinit {
        if !isRenamed { unlink(name) }
    }

    /// Appends to the content.
    package func write(_ bytes: ArraySlice<UInt8>) throws(ReplacementError) {
        guard descriptor.write(bytes) else { throw ReplacementError() }
    }

    /// Waits until the content is on the disk.
    package func sync() throws(ReplacementError) {
        guard descriptor.sync() else { throw ReplacementError() }
    }

    /// Renames the content to the file's name. Call `sync()` first: otherwise the file may be empty after a loss of
    /// power.
    package func commit() throws(ReplacementError) {
        guard rename(name, path) == 0 else { throw ReplacementError() }
        isRenamed = true
    }

    /// Waits until the names in a file's folder are on the disk, so that a loss of power does not bring the old file
    /// back.
    package static func syncFolder(of path: String) throws(ReplacementError) {
        let folder = folder(of: path)
        // Not `Descriptor.open`, which refuses symbolic links: the folder may be reached through one.
        guard let descriptor = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)), descriptor.sync() else {
            throw ReplacementError()
        }
    }

    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}

/// The error number of the call that failed.
package struct ReplacementError: Error, Sendable, Hashable {
    package let number: Int32

    /// Takes the error number from `errno`.
    fileprivate init() {
        number = errno
    }
}
