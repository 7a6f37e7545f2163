internal import PintleSystem

/// A small file that a process replaces atomically while others read it. It has either the old content or the new one
/// as a whole, even if the process or the machine stops at any time.
///
/// To change the file, a process takes ``lock(patience:)``, reads, and writes the new content. Readers take no lock.
/// The file has mode 0600. A file that belongs to another user, except root, is refused, and so is a file that others
/// may write. A file that others may only read is accepted: the caller sees its mode, and the next change sets 0600.
package struct DurableFile: Sendable {
    /// A completed step of a change. Tests end the process there.
    package enum Step: String, Sendable, CaseIterable {
        case locked, created, wrote, synced, renamed, folderSynced
    }

    package struct Options: Sendable {
        /// The size limit in bytes. A larger file is neither read nor written.
        package var maximumSize: Int
        /// The number of bytes that are written at a time.
        package var pieceSize: Int
        /// The time in milliseconds for which a change waits for another one.
        package var patience: Int
        package var onStep: (@Sendable (Step) -> Void)?

        package init(
            maximumSize: Int, pieceSize: Int = 1 << 20, patience: Int = 10_000,
            onStep: (@Sendable (Step) -> Void)? = nil
        ) {
            self.maximumSize = maximumSize
            self.pieceSize = pieceSize
            self.patience = patience
            self.onStep = onStep
        }
    }

    /// The content of the file at a read.
    package struct Content: Sendable {
        package let bytes: [UInt8]
        package let version: FileVersion
        /// The permission bits.
        package let mode: UInt32
        /// Kept open, so that no other content can have the same version.
        private let descriptor: Descriptor

        fileprivate init(bytes: [UInt8], status: stat, descriptor: Descriptor) {
            self.bytes = bytes
            version = FileVersion(status)
            mode = UInt32(status.st_mode & 0o7777)
            self.descriptor = descriptor
        }
    }

    package let path: String
    private let options: Options

    package init(_ path: String, options: Options) {
        self.path = path
        self.options = options
    }

    // MARK: Reading

    /// Reads the file; `nil` if it does not exist. Any other failure is an error.
    package func read() throws(StorageError) -> Content? {
        guard let descriptor = Descriptor.open(path, O_RDONLY) else {
            if errno == ENOENT { return nil }
            throw .unreadable(path, errno)
        }
        guard let status = descriptor.status else { throw .unreadable(path, errno) }
        try check(status)
        guard let bytes = descriptor.content(limit: options.maximumSize) else { throw .unreadable(path, errno) }
        guard bytes.count <= options.maximumSize else { throw tooLarge }
        return Content(bytes: bytes, status: status, descriptor: descriptor)
    }

    /// The version of the current content, found with one system call; `nil` if there is no file or it is not
    /// accessible.
    package var version: FileVersion? {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0 else { return nil }
        return FileVersion(status)
    }

    private func check(_ status: stat) throws(StorageError) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path) }
        // A file of root is accepted, because root can write to every file anyway.
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw StorageError(
                .foreignOwner, at: path, message: "it belongs to user \(status.st_uid)",
                hint: "the owner of a file controls its content: use a file of your own")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw StorageError(
                .writableByOthers, at: path, message: "others may write into it",
                hint: "look what is in it, then: chmod 600 \(path)"
            )
        }
        guard status.st_size <= options.maximumSize else { throw tooLarge }
    }

    private var tooLarge: StorageError {
        StorageError(
            .tooLarge, at: path, message: "larger than \(options.maximumSize >> 10) KiB",
            hint: "remove entries that are no longer needed")
    }

    // MARK: Changing

    /// Takes the lock.
    ///
    /// - Parameter patience: the time to wait in milliseconds, instead of that in the options; 0 does not wait.
    package func lock(patience: Int? = nil) throws(StorageError) -> FileLock {
        let lock = try FileLock(for: path, patience: patience ?? options.patience)
        options.onStep?(.locked)
        return lock
    }

    /// Replaces the content.
    ///
    /// Writes a file beside it with mode 0600, syncs it, renames it, and syncs the folder. After an error the file has
    /// either the old content or the whole new one. An error after the rename means only that a loss of power may bring
    /// the old content back.
    package func write(_ bytes: [UInt8], under lock: FileLock) throws(StorageError) {
        guard bytes.count <= options.maximumSize else { throw tooLarge }
        // The name is safe to reuse: only the holder of the lock writes it, so an existing file is left over from a
        // crash.
        let new = path + ".new"
        let replacement = try Self.reporting(new) { () throws(ReplacementError) in
            try FileReplacement(of: path, as: new, .exactly(0o600))
        }
        options.onStep?(.created)
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(options.pieceSize)
            try Self.reporting(new) { () throws(ReplacementError) in try replacement.write(piece) }
            rest = rest.dropFirst(options.pieceSize)
            options.onStep?(.wrote)
        }
        try Self.reporting(new, replacement.sync)
        options.onStep?(.synced)
        try lock.check()
        try Self.reporting(path, replacement.commit)
        options.onStep?(.renamed)
        try syncFolder()
        options.onStep?(.folderSynced)
        withExtendedLifetime(lock) {}
    }

    /// Runs a step of a replacement. Reports a failure with this path.
    private static func reporting<Value>(
        _ path: String, _ step: () throws(ReplacementError) -> Value
    ) throws(StorageError) -> Value {
        do throws(ReplacementError) {
            return try step()
        } catch {
            throw .notWritten(path, error.number)
        }
    }

    /// Renames an unusable file to a name beside it, so that the user can inspect it. Up to ten such files are kept;
    /// only the last one is overwritten.
    ///
    /// - Returns: the new path.
    package func setAside(under lock: FileLock) throws(StorageError) -> String {
        try lock.check()
        let names = [firstNameAside] + (2...10).map { "\(path).corrupt-\($0)" }
        let name = names.first { !Self.isThere($0) } ?? path + ".corrupt-10"
        guard rename(path, name) == 0 else { throw .notWritten(name, errno) }
        try syncFolder()
        withExtendedLifetime(lock) {}
        return name
    }

    /// A Boolean value that indicates whether a file that was set aside is still there. It has the first of the names.
    package var hasSetAside: Bool { !path.utf8.contains(0) && Self.isThere(firstNameAside) }

    private var firstNameAside: String { path + ".corrupt" }

    private static func isThere(_ name: String) -> Bool {
        var status = stat()
        return lstat(name, &status) == 0
    }

    private func syncFolder() throws(StorageError) {
        try Self.reporting(FileReplacement.folder(of: path)) { () throws(ReplacementError) in
            try FileReplacement.syncFolder(of: path)
        }
    }
}
