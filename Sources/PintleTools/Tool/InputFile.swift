internal import Glibc

/// A file that was read whole.
struct InputFile {
    /// The path as it was given; `-` is standard input.
    let path: String
    var bytes: [UInt8]

    /// The name of the file in messages.
    var name: String { path == "-" ? "stdin" : path }

    /// Reads a file that the command line names, a pipe such as `<(...)`, or standard input. `PolicyFolder` reads the files
    /// that other files name.
    ///
    /// - Parameter limit: a larger file is refused.
    /// - Throws: the problem with the path and the remedy.
    init(_ path: String, limit: Int = 16 << 20, standardInput: ByteSource) throws(ToolError) {
        if path == "-" {
            try self.init(path, limit: limit, from: standardInput)
        } else {
            let descriptor = try Self.open(path)
            defer { close(descriptor) }
            try self.init(path, limit: limit, from: ByteSource(descriptor: descriptor))
        }
    }

    private init(_ path: String, limit: Int, from source: ByteSource) throws(ToolError) {
        self.path = path
        let name = path == "-" ? "stdin" : path
        let content: [UInt8]?
        do {
            content = try source.readAll(limit: limit)
        } catch {
            throw Self.unreadable(name, error)
        }
        guard let content else {
            throw .unusable(
                "too-large", "larger than \(limit >> 20) MiB", file: name,
                hint: "give the certificates, keys or policy alone")
        }
        bytes = content
    }

    private static func open(_ path: String) throws(ToolError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, ByteSource.SystemError(number: errno)) }
        return descriptor
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func unreadable(_ name: String, _ error: ByteSource.SystemError) -> ToolError {
        let hint: String? =
            switch error.number {
            case ENOENT: "check the name and the folder"
            case EACCES: "you may not read it: check its owner and mode"
            case EISDIR: "name a file in it"
            default: nil
            }
        let message = error.message
        return .unusable(
            "unreadable-file", message.prefix(1).lowercased() + message.dropFirst(), file: name, hint: hint)
    }
}

/// Splits a stream into lines, in memory that does not grow with the stream.
struct LineReader {
    enum Line {
        /// A line without its line break.
        case text([UInt8])
        /// A line that is longer than allowed. It was skipped.
        case tooLong
    }

    private let source: ByteSource
    private let limit: Int
    private var buffer: [UInt8] = []
    /// The index of the first byte in `buffer` that was not handed out yet.
    private var start = 0
    private var isAtEnd = false

    /// - Parameter limit: the longest line in bytes.
    init(_ source: ByteSource, limit: Int) {
        self.source = source
        self.limit = limit
    }

    /// Returns the next line, or `nil` at the end. Bytes behind the last line break are a line if there are any.
    mutating func next() throws(ByteSource.SystemError) -> Line? {
        var scanned = start
        var isSkipping = false
        while true {
            if let end = lineBreak(from: scanned) {
                let line = buffer[start..<end]
                start = end + 1
                return isSkipping || line.count > limit ? .tooLong : .text(Array(line))
            }
            if isAtEnd {
                let line = buffer[start...]
                start = buffer.count
                if isSkipping || line.count > limit { return .tooLong }
                return line.isEmpty ? nil : .text(Array(line))
            }
            if buffer.count - start > limit { isSkipping = true }
            if isSkipping { start = buffer.count }
            buffer.removeSubrange(..<start)
            start = 0
            scanned = buffer.count
            let bytes = try source.readSome(65_536)
            isAtEnd = bytes.isEmpty
            buffer += bytes
        }
    }

    private func lineBreak(from index: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard index < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + index, 0x0A, bytes.count - index)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
