internal import PintleStorage
internal import PintleSystem

/// A file that is written in pieces and gets its name only when it is complete. Until then it has another name.
/// Something other than a regular file, such as a pipe, is written to.
///
/// A file that is replaced keeps its permissions if it is the user's own and not a link. Any other file gets those that
/// the umask leaves, and no more than the replaced file had.
///
/// The file is complete also after a loss of power, because its content is on the disk before it gets its name. Its
/// folder is not flushed: the old file may then come back, and the command can be run again.
package final class StreamedFile {
    private enum Target {
        case replacement(FileReplacement)
        case device(CInt)
    }

    private let path: String
    private let target: Target
    private var buffer: [UInt8] = []

    package init(_ path: String) throws(ToolError) {
        self.path = path
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw OutputFile.failure(path) }
            target = .device(descriptor)
            return
        }
        // A link's target, or a file of another user, may let others write. Repeat only what its mode forbids.
        let mode = exists ? UInt32(status.st_mode) & 0o777 : 0o666
        let isOwn = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
        let permissions: FileReplacement.Permissions = isOwn ? .exactly(mode) : .atMost(mode & 0o666)
        target = .replacement(
            try Self.naming(path) { () throws(ReplacementError) in
                try FileReplacement(of: path, permissions)
            })
    }

    deinit {
        if case .device(let descriptor) = target { close(descriptor) }
    }

    package func write(_ text: String) throws(ToolError) {
        buffer += text.utf8
        if buffer.count >= 65_536 { try flush() }
    }

    func write(_ bytes: [UInt8]) throws(ToolError) {
        buffer += bytes
        if buffer.count >= 65_536 { try flush() }
    }

    /// Gives the file its name.
    package func finish() throws(ToolError) {
        try flush()
        guard case .replacement(let replacement) = target else { return }
        try Self.naming(path) { () throws(ReplacementError) in
            try replacement.sync()
            try replacement.commit()
        }
    }

    private func flush() throws(ToolError) {
        switch target {
        case .replacement(let replacement):
            try Self.naming(path) { () throws(ReplacementError) in try replacement.write(buffer[...]) }
        case .device(let descriptor):
            guard ByteSink(descriptor: descriptor).write(buffer) else { throw OutputFile.failure(path) }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Turns a failure of `body` into the tool's error, which names the file.
    private static func naming<Result>(
        _ path: String, _ body: () throws(ReplacementError) -> Result
    ) throws(ToolError) -> Result {
        do {
            return try body()
        } catch {
            throw OutputFile.failure(path, error.number)
        }
    }
}

extension FileReplacement {
    /// Creates an empty file under a name of this process, and removes what killed processes have left of the file.
    ///
    /// - Parameter mark: stands between the name of the file and the number of the process.
    convenience init(of path: String, mark: String = ".new-", _ permissions: Permissions) throws(ReplacementError) {
        Self.removeRemains(of: path, mark)
        try self.init(of: path, as: "\(path)\(mark)\(getpid())", permissions)
    }

    /// Removes what processes that were killed have left of this file, if they are no processes any more.
    private static func removeRemains(of path: String, _ mark: String) {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? "./"
        let start = (slash.map { String(path[path.index(after: $0)...]) } ?? path) + mark
        guard let listing = opendir(folder) else { return }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(start), let process = pid_t(name.dropFirst(start.count)), process > 0,
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            unlink(folder + name)
        }
    }
}
