internal import FoundationEssentials
internal import Glibc
internal import Pintle

/// The file of an audit's results: a line for each server that was asked, appended when its answer is known, so that
/// the file is the state from which an audit that was interrupted goes on.
final class AuditResults {
    let path: String
    /// Servers that need not be asked again.
    private(set) var known: Set<AuditKey> = []
    private let descriptor: CInt

    /// - Parameters:
    ///   - resumes: whether the file may be there already; then what is in it counts.
    ///   - basis: what is to decide.
    /// - Throws: `malformed-results` for a file that holds anything else, which is left as it is.
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
            known.insert(record.key)
        }
        // What an audit that was killed did not finish is asked again.
        guard reader.tornBytes == 0 || ftruncate(descriptor, off_t(reader.wholeBytes)) == 0 else {
            throw Self.failure(path, errno)
        }
    }

    deinit {
        // A process that is being started may have a copy of the descriptor for a moment, and the lock with it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// - Parameter line: with its line break.
    func append(_ line: [UInt8]) throws(ToolError) {
        guard ByteSink(descriptor: descriptor).write(line) else { throw Self.failure(path, errno) }
    }

    /// What was appended is on the disk when this returns, as far as the system can tell.
    func finish() throws(ToolError) {
        // A pipe or device has no disk.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw Self.failure(path, errno) }
    }

    private static func failure(_ path: String, _ error: CInt) -> ToolError {
        let reason = String(cString: strerror(error))
        return .unusable(
            "unwritable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path,
            hint: error == ENOSPC
                ? "the disk is full; --resume goes on afterwards" : "check that the folder exists and is yours")
    }
}

/// Reads results one after the other, in memory that does not grow with them.
struct AuditReader {
    private let name: String
    private let source: ByteSource
    private var buffer: [UInt8] = []
    private var start = 0
    /// Of the result that was read last, counted from 1.
    private(set) var line = 0
    /// Up to the end of the last line that is whole.
    private(set) var wholeBytes = 0
    /// At the end: what follows the last line break. A result is written with its line break, so it is none.
    private(set) var tornBytes = 0

    init(_ name: String, _ source: ByteSource) {
        self.name = name
        self.source = source
    }

    /// - Throws: with its place, a line that is no result; so may what follows the last line break be no part of one.
    mutating func next() throws(ToolError) -> AuditRecord? {
        while let text = try nextLine() {
            if text.isEmpty { continue }
            do {
                return try AuditRecord(text)
            } catch {
                throw unreadable("this is no result of an audit: \(error.message)")
            }
        }
        guard buffer.starts(with: Self.beginning.prefix(buffer.count)) else {
            line += 1
            throw unreadable("the last line is no result of an audit, nor the beginning of one")
        }
        return nil
    }

    /// Of every result: its first member is the host.
    private static let beginning = Array("{\"host\":\"".utf8)

    private mutating func nextLine() throws(ToolError) -> [UInt8]? {
        var scanned = start
        while true {
            if let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
                line += 1
                let text = Array(buffer[start..<end])
                wholeBytes += text.count + 1
                start = end + 1
                return text
            }
            guard buffer.count - start <= AuditRecord.maximumLineLength else {
                line += 1
                throw unreadable("the line is longer than those of an audit")
            }
            buffer.removeSubrange(..<start)
            start = 0
            scanned = buffer.count
            let bytes: [UInt8]
            do {
                bytes = try source.readSome(65_536)
            } catch {
                throw .unusable("unreadable-file", error.message, file: name)
            }
            if bytes.isEmpty {
                tornBytes = buffer.count
                return nil
            }
            buffer += bytes
        }
    }

    private func unreadable(_ message: String) -> ToolError {
        .unusable(
            "malformed-results", message, file: name, line: line,
            hint: "results are what 'pintle audit -o' writes: one JSON object a line")
    }

    /// Every result of a file that is there, with its line, and whether the last one was torn off.
    static func forEach(
        in path: String, _ body: (AuditRecord, _ line: Int) throws(ToolError) -> Void
    ) throws(ToolError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw .unusable("unreadable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path)
        }
        defer { close(descriptor) }
        var reader = AuditReader(path, ByteSource(descriptor: descriptor))
        while let record = try reader.next() { try body(record, reader.line) }
        return reader.tornBytes > 0
    }
}

/// The results of files that count: of each server the newest, whatever files it is in; of equally new ones the first.
///
/// The files are read once for that, and once more each time the results are asked for: what is kept of a server is a
/// key, a date and a place.
struct AuditSelection {
    private let paths: [String]
    private var newest: [AuditKey: (instant: Date, place: Int)] = [:]

    /// How many results count.
    var count: Int { newest.count }

    /// - Parameters:
    ///   - wanted: the servers whose results count; nil for all.
    ///   - warning: told of a file whose last line was cut off.
    /// - Throws: `other-policy` and `other-anchors` with the place of the result that differs from the first.
    init(
        of paths: [String], wanted: Set<AuditKey>? = nil, warning: (String) -> Void = { _ in }
    ) throws(ToolError) {
        self.paths = paths
        var newest: [AuditKey: (instant: Date, place: Int)] = [:]
        var basis: AuditBasis?
        var place = 0
        for path in paths {
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
                throw .unusable(
                    "not-a-file", "results are read more than once, and a pipe only once", file: path,
                    hint: "keep them in a file")
            }
            let isTorn = try AuditReader.forEach(in: path) { record, line throws(ToolError) in
                defer { place += 1 }
                let first = basis ?? AuditBasis(record)
                basis = first
                if let error = first.problem(with: record) {
                    throw .unusable(
                        error.code, error.message + " than the results before it", file: path, line: line,
                        hint: "such results do not mix: make a report of each")
                }
                let key = record.key
                guard wanted?.contains(key) ?? true else { return }
                if let known = newest[key], known.instant >= record.instant { return }
                newest[key] = (record.instant, place)
            }
            if isTorn { warning("\(path): the last line was cut off and does not count") }
        }
        self.newest = newest
    }

    /// The results that count, in the order of the files.
    func read(_ body: (AuditRecord) throws(ToolError) -> Void) throws(ToolError) {
        var place = 0
        for path in paths {
            _ = try AuditReader.forEach(in: path) { record, _ throws(ToolError) in
                defer { place += 1 }
                if newest[record.key]?.place == place { try body(record) }
            }
        }
    }
}
