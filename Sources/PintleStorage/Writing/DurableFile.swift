#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A small file that one process replaces while others read it: it has the old content or the new one, whole, whatever
/// ends the process or the machine, and whenever.
///
/// Whoever changes it takes ``lock(patience:)``, reads, and writes what is to be there instead. Readers take no lock. The
/// file is the user's own, mode 0600; one that belongs to somebody else, or that others may write into, is refused. That
/// others may read it is told, and ends with the next change.
package struct DurableFile: Sendable {
    /// What has just been done on the way to a new content; for tests that end the process there.
    package enum Step: String, Sendable, CaseIterable {
        case locked, created, wrote, synced, renamed, folderSynced
    }

    package struct Options: Sendable {
        /// In bytes; a larger file is neither read nor written.
        package var maximumSize: Int
        /// How much is written at a time.
        package var pieceSize: Int
        /// How long a change waits for another one, in milliseconds.
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

    /// What was read.
    package struct Content: Sendable {
        package let bytes: [UInt8]
        package let version: FileVersion
        /// The permission bits.
        package let mode: UInt32
        /// Keeps the version from being any other content's.
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

    /// `nil`: there is no such file. Anything else that keeps it from being read is an error.
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

    /// What is there now, without opening it: one system call. `nil` where nothing is, or nothing that can be looked at.
    package var version: FileVersion? {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0 else { return nil }
        return FileVersion(status)
    }

    private func check(_ status: stat) throws(StorageError) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path) }
        // Root may write into everything anyway.
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw StorageError(
                .foreignOwner, path, "it belongs to user \(status.st_uid)",
                hint: "who owns it decides what is in it: make one of your own")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw StorageError(
                .writableByOthers, path, "others may write into it", hint: "look what is in it, then: chmod 600 \(path)"
            )
        }
        guard status.st_size <= options.maximumSize else { throw tooLarge }
    }

    private var tooLarge: StorageError {
        StorageError(
            .tooLarge, path, "larger than \(options.maximumSize >> 10) KiB", hint: "keep less in it")
    }

    // MARK: Changing

    /// - Parameter patience: in milliseconds, instead of the one in the options; 0 does not wait.
    package func lock(patience: Int? = nil) throws(StorageError) -> FileLock {
        let lock = try FileLock(for: path, patience: patience ?? options.patience)
        options.onStep?(.locked)
        return lock
    }

    /// Puts another content in the place of the file's.
    ///
    /// Written beside it, mode 0600, brought to the disk, renamed, and the folder brought to the disk. Where it throws,
    /// the old content is there, or the new one whole: an error after the rename says only that a loss of power may
    /// bring the old one back.
    package func write(_ bytes: [UInt8], under lock: FileLock) throws(StorageError) {
        guard bytes.count <= options.maximumSize else { throw tooLarge }
        // A file of that name was left behind by a process that was ended here: only the holder of the lock makes one.
        let new = path + ".new"
        let replacement = try Self.reporting(new) { () throws(FileReplacement.Failure) in
            try FileReplacement(of: path, as: new, .exactly(0o600))
        }
        options.onStep?(.created)
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(options.pieceSize)
            try Self.reporting(new) { () throws(FileReplacement.Failure) in try replacement.write(piece) }
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

    /// Runs a step of a replacement, and says for that path what keeps it from being done.
    private static func reporting<Value>(
        _ path: String, _ step: () throws(FileReplacement.Failure) -> Value
    ) throws(StorageError) -> Value {
        do throws(FileReplacement.Failure) {
            return try step()
        } catch {
            throw .notWritten(path, error.number)
        }
    }

    /// Gives a file that makes no sense another name beside this one, for somebody to look at; none that was put there
    /// before is overwritten, until there are ten.
    ///
    /// - Returns: the path that it has now.
    package func setAside(under lock: FileLock) throws(StorageError) -> String {
        try lock.check()
        let names = [firstNameAside] + (2...10).map { "\(path).corrupt-\($0)" }
        let name = names.first { !Self.isThere($0) } ?? path + ".corrupt-10"
        guard rename(path, name) == 0 else { throw .notWritten(name, errno) }
        try syncFolder()
        withExtendedLifetime(lock) {}
        return name
    }

    /// Whether one stands there that was set aside and that nobody has taken away since: it has the first of the names.
    package var hasSetAside: Bool { !path.utf8.contains(0) && Self.isThere(firstNameAside) }

    private var firstNameAside: String { path + ".corrupt" }

    private static func isThere(_ name: String) -> Bool {
        var status = stat()
        return lstat(name, &status) == 0
    }

    private func syncFolder() throws(StorageError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // Not through `Descriptor.open`: the folder may well be reached by a link.
        guard let descriptor = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)), descriptor.sync() else {
            throw .notWritten(folder, errno)
        }
    }
}
