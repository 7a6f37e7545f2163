internal import Glibc
internal import PintleStorage

/// A file that is written piece by piece and is there only when it is whole: until then it has another name. What is
/// no regular file, such as a pipe, is written to.
///
/// Whole also after a loss of power, because its content is on the disk before it gets its name. Its folder is not brought
/// to the disk: the old file may then come back, and the command can be run again.
final class StreamedFile {
    private enum Target {
        case replacement(FileReplacement)
        case device(CInt)
    }

    private let path: String
    private let target: Target
    private var buffer: [UInt8] = []

    init(_ path: String, _ permissions: FileReplacement.Permissions = .atMost(0o644)) throws(ToolError) {
        self.path = path
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw OutputFile.failure(path) }
            target = .device(descriptor)
            return
        }
        do throws(FileReplacement.Failure) {
            target = .replacement(try FileReplacement(of: path, as: "\(path).new-\(getpid())", permissions))
        } catch {
            throw OutputFile.failure(path, error.number)
        }
    }

    deinit {
        if case .device(let descriptor) = target { close(descriptor) }
    }

    func write(_ text: String) throws(ToolError) {
        buffer += text.utf8
        if buffer.count >= 65_536 { try flush() }
    }

    func write(_ bytes: [UInt8]) throws(ToolError) {
        buffer += bytes
        if buffer.count >= 65_536 { try flush() }
    }

    /// Gives the file its name.
    func finish() throws(ToolError) {
        try flush()
        guard case .replacement(let replacement) = target else { return }
        do throws(FileReplacement.Failure) {
            try replacement.sync()
            try replacement.commit()
        } catch {
            throw OutputFile.failure(path, error.number)
        }
    }

    private func flush() throws(ToolError) {
        switch target {
        case .replacement(let replacement):
            do throws(FileReplacement.Failure) {
                try replacement.write(buffer[...])
            } catch {
                throw OutputFile.failure(path, error.number)
            }
        case .device(let descriptor):
            guard ByteSink(descriptor: descriptor).write(buffer) else { throw OutputFile.failure(path) }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
