internal import Glibc
internal import PintleStorage

/// Files that the tool writes.
enum OutputFile {
    /// Whether anything stands under that name, a dangling link too.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// A file that must not be there yet. Whole on disk when this returns; what could not be written whole is removed.
    ///
    /// Under its own name from the beginning, unlike a `FileReplacement`: a rename would replace a key that another process
    /// has made meanwhile.
    static func create(_ path: String, mode: mode_t, _ bytes: [UInt8]) throws(ToolError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw errno == EEXIST ? .keyExists(path) : failure(path) }
        // Whatever the umask says, a private key's mode is what was asked for.
        let isWritten =
            fchmod(descriptor, mode) == 0 && ByteSink(descriptor: descriptor).write(bytes) && fsync(descriptor) == 0
        let error = isWritten ? nil : failure(path)
        close(descriptor)
        if let error {
            unlink(path)
            throw error
        }
    }

    /// Replaces a file, or makes it: it is the old one or the new one, never half of either. A replaced file keeps its
    /// permissions, a new one has those of the umask. Something other than a regular file, such as a pipe, is written to.
    static func replace(_ path: String, _ bytes: [UInt8]) throws(ToolError) {
        let file = try StreamedFile(path)
        try file.write(bytes)
        try file.finish()
    }

    /// Whether a file can be made there, or written to that is there: nothing is changed to find out.
    static func checkFolder(of path: String) throws(ToolError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            errno = EISDIR
            if status.st_mode & S_IFMT == S_IFDIR { throw failure(path) }
            guard access(path, W_OK) == 0 else { throw failure(path) }
            return
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw failure(path) }
    }

    /// Returns the tool's error for a file that cannot be written.
    ///
    /// - Parameter number: the error number; that of the last call by default.
    static func failure(_ path: String, _ number: Int32 = errno) -> ToolError {
        let reason = String(cString: strerror(number))
        return .unusable(
            "unwritable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path,
            hint: number == ENOSPC ? "the disk is full" : "check that the folder exists and is yours")
    }
}

extension ToolError {
    static func keyExists(_ path: String) -> ToolError {
        .unusable(
            "file-exists", "\(path) exists already; a signing key is never overwritten",
            hint: "choose another name with --out, or read its id: pintle inspect \(path)")
    }
}

/// Folders that the tool writes files to.
enum OutputFolder {
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes the folder and those above it, where they are not there.
    static func create(_ path: String) throws(ToolError) {
        guard !path.isEmpty, !exists(path) else { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try create(String(path[..<slash])) }
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
            let reason = String(cString: strerror(errno))
            throw .unusable(
                "unwritable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path,
                hint: "check that you may write there")
        }
    }
}

/// What a command must not write to: what it reads, and what else it writes.
struct GuardedFiles {
    private let command: Command
    private var reserved: [(path: String, file: FileIdentity?)]

    /// - Parameter inputs: as they stand on the command line; `-` is no file.
    init(_ inputs: [String], of command: Command) {
        self.command = command
        reserved = inputs.filter { $0 != "-" }.map { ($0, FileIdentity($0)) }
    }

    /// - Parameters:
    ///   - path: what will be written.
    ///   - option: which names it, or its folder.
    /// - Throws: where it is one of the others, under whatever name.
    mutating func reserve(_ path: String, for option: OptionSpecification) throws(ToolError) {
        guard let file = FileIdentity(path) else { return }
        if let other = reserved.first(where: { $0.file == file }) {
            throw .usage("--\(option.name) \(path) would replace \(other.path)", of: command)
        }
        reserved.append((path, file))
    }
}

/// Which regular file a path leads to, whatever it is called there; of one that is not there yet, its folder and name.
struct FileIdentity: Equatable {
    private let device: UInt
    private let inode: UInt
    private let name: String?

    /// nil for what is no regular file, and where the folder is not there.
    init?(_ path: String) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            name = nil
        } else {
            let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            let folder = String(path.dropLast(name.count))
            guard !name.isEmpty, stat(folder.isEmpty ? "." : folder, &status) == 0 else { return nil }
            self.name = String(name)
        }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }
}
