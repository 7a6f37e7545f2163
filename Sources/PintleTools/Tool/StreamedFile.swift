internal import Glibc

/// A file that is written piece by piece and is there only when it is whole: until then it has another name. What is
/// no regular file, such as a pipe, is written to.
final class StreamedFile {
    private let path: String
    private let temporary: String?
    private let descriptor: CInt
    private var buffer: [UInt8] = []
    private var isFinished = false

    init(_ path: String) throws(ToolError) {
        self.path = path
        var status = stat()
        let isDevice = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        let name = isDevice ? path : "\(path).new-\(getpid())"
        temporary = isDevice ? nil : name
        // Left behind by a process of the same number.
        if !isDevice { unlink(name) }
        let flags = isDevice ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        descriptor = open(name, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        close(descriptor)
        if !isFinished, let temporary { unlink(temporary) }
    }

    func write(_ text: String) throws(ToolError) {
        buffer += text.utf8
        if buffer.count >= 65_536 { try flush() }
    }

    /// Gives the file its name.
    func finish() throws(ToolError) {
        try flush()
        guard let temporary else {
            isFinished = true
            return
        }
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw Self.failure(path) }
        isFinished = true
    }

    private func flush() throws(ToolError) {
        guard ByteSink(descriptor: descriptor).write(buffer) else { throw Self.failure(path) }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func failure(_ path: String) -> ToolError {
        let number = errno
        let reason = String(cString: strerror(number))
        return .unusable(
            "unwritable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path,
            hint: number == ENOSPC ? "the disk is full" : "check that the folder exists and is yours")
    }
}
