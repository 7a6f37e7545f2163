internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem

/// The file of an audit's results. The audit appends each server's line as soon as the answer is known, so that an
/// interrupted audit can be resumed from the file.
final class AuditResults {
    let path: String
    /// Servers that need not be asked again.
    private(set) var known: Set<AuditKey> = []
    private let descriptor: CInt

    /// - Parameters:
    ///   - resumes: `true` if the file may exist; its results then count.
    ///   - basis: the policy and the anchors of this audit.
    /// - Throws: `malformed-results` for a file with other content, which is left unchanged.
    init(_ path: String, resumes: Bool, basis: AuditBasis) throws(ToolError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (resumes ? 0 : O_EXCL), 0o644)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw .unusable(
                    "file-exists", "there are results already", file: path,
                    hint: "--resume goes on with them; for a new audit choose another name, or remove the file")
            }
            throw Self.failure(path, errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .unusable(
                "file-in-use", "another audit writes to it", file: path, hint: "wait for it, or choose another name")
        }
        var reader = AuditReader(path, ByteSource(descriptor: descriptor))
        while let record = try reader.next() {
            if let error = basis.problem(with: record) {
                throw .unusable(
                    error.code, error.message, file: path, line: reader.line,
                    hint: "such results do not mix: begin a new file")
            }
            known.insert(record.server.key)
        }
        // Cut off a line that a killed audit did not finish. The audit asks its server again.
        guard reader.tornBytes == 0 || ftruncate(descriptor, off_t(reader.wholeBytes)) == 0 else {
            throw Self.failure(path, errno)
        }
    }

    deinit {
        // Unlock explicitly: a child process may hold a copy of the descriptor for a moment, and the lock with it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// - Parameter line: with its line break.
    func append(_ line: [UInt8]) throws(ToolError) {
        guard ByteSink(descriptor: descriptor).write(line) else { throw Self.failure(path, errno) }
    }

    /// Flushes the appended lines to the disk with `fsync`.
    func finish() throws(ToolError) {
        // These codes mean a pipe or device, which has no disk.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw Self.failure(path, errno) }
    }

    private static func failure(_ path: String, _ error: CInt) -> ToolError {
        .unusable(
            "unwritable-file", ToolError.reason(error), file: path,
            hint: error == ENOSPC
                ? "the disk is full; --resume goes on afterwards" : "check that the folder exists and is yours")
    }
}
