#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The next content of a file, under another name beside it until it is whole.
///
/// A reader of the file sees the old content or the new one, never half of either. Where the file is a symbolic link, the
/// link is replaced. A replacement that is released before `commit()` removes what it has written.
///
/// Locks, the owner of the file and the folder's own `fsync` are left to the caller: `DurableFile` has all three. Not
/// thread-safe.
package final class FileReplacement {
    /// The error number of the call that failed.
    package struct Failure: Error, Sendable, Hashable {
        package let number: Int32

        /// Reads `errno`.
        fileprivate init() {
            number = errno
        }
    }

    package enum Permissions: Sendable {
        /// These bits, whatever the umask says.
        case exactly(UInt32)
        /// These bits without those of the umask.
        case atMost(UInt32)
    }

    private let path: String
    private let name: String
    private let descriptor: Descriptor
    private var isRenamed = false

    /// Creates an empty file, in the place of one that a process left behind under that name.
    ///
    /// - Parameters:
    ///   - path: the file to replace, which need not be there.
    ///   - name: the path that the content has until `commit()`, in the same folder. No other process may use it.
    ///   - permissions: of the new file; those of the old one do not count.
    package init(of path: String, as name: String, _ permissions: Permissions) throws(Failure) {
        let (mode, isExact) =
            switch permissions {
            case .exactly(let mode): (mode_t(truncatingIfNeeded: mode), true)
            case .atMost(let mode): (mode_t(truncatingIfNeeded: mode), false)
            }
        if !name.utf8.contains(0) { unlink(name) }
        guard let descriptor = Descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode) else { throw Failure() }
        (self.path, self.name, self.descriptor) = (path, name, descriptor)
        guard !isExact || fchmod(descriptor.number, mode) == 0 else { throw Failure() }
    }

    deinit {
        if !isRenamed { unlink(name) }
    }

    /// Appends to the content.
    package func write(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        guard descriptor.write(bytes) else { throw Failure() }
    }

    /// Waits until the content is on the disk.
    package func sync() throws(Failure) {
        guard descriptor.sync() else { throw Failure() }
    }

    /// Gives the content the file's name. Call `sync()` first: after a loss of power the file may be empty otherwise.
    package func commit() throws(Failure) {
        guard rename(name, path) == 0 else { throw Failure() }
        isRenamed = true
    }
}
