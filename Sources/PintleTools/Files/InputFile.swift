internal import Glibc

/// A file that was read whole.
struct InputFile {
    /// As it was given; `-` is standard input.
    let path: String
    var bytes: [UInt8]

    /// What messages call it.
    var name: String { path == "-" ? "stdin" : path }

    /// What the command line names: a file, a pipe such as `<(...)`, or standard input.
    ///
    /// - Parameter limit: a larger file is refused.
    /// - Throws: what is wrong, with the path and the remedy.
    init(_ path: String, limit: Int = 16 << 20, standardInput: ByteSource) throws(ToolError) {
        if path == "-" {
            try self.init(path, limit: limit, from: standardInput)
        } else {
            let descriptor = try Self.open(path)
            defer { close(descriptor) }
            try self.init(path, limit: limit, from: ByteSource(descriptor: descriptor))
        }
    }

    /// What another file names. That one may be a stranger's, and a pipe, a terminal or a device could keep the
    /// tool waiting for ever: only a regular file is read.
    init(namedInFile path: String, limit: Int) throws(ToolError) {
        // Opening must not wait for whoever would write into a pipe either.
        let descriptor = try Self.open(path, O_NONBLOCK | O_NOCTTY)
        defer { close(descriptor) }
        var status = stat()
        // A folder fails when it is read, in words of its own.
        guard fstat(descriptor, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw .unusable(
                "unreadable-file", "not a regular file", file: path, hint: "name a file, no pipe and no device")
        }
        try self.init(path, limit: limit, from: ByteSource(descriptor: descriptor))
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

    private static func open(_ path: String, _ flags: Int32 = 0) throws(ToolError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | flags)
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
