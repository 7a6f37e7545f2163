internal import PintleSystem

/// A file that was read whole.
package struct InputFile {
    /// The path as it was given; `-` is standard input.
    package let path: String
    package var bytes: [UInt8]

    /// The name of the file in messages.
    package var name: String { path == "-" ? "stdin" : path }

    /// Reads a file that the command line names, a pipe such as `<(...)`, or standard input. `PolicyFolder` reads the
    /// files that other files name.
    ///
    /// - Parameter limit: a larger file is refused.
    /// - Throws: the problem with the path and the remedy.
    package init(_ path: String, limit: Int = 16 << 20, standardInput: ByteSource) throws(ToolError) {
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
                "too-large", "larger than \(limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB")", file: name,
                hint: "give a file with only the certificates, the keys or the policy")
        }
        bytes = content
    }

    /// Opens a file for reading. The caller closes it.
    package static func open(_ path: String) throws(ToolError) -> Int32 {
        guard !path.isEmpty else {
            throw .unusable(
                "unreadable-file", "the name of a file is empty", hint: "has a variable of the command line no value?")
        }
        let descriptor = PintleSystem.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, ByteSource.SystemError(number: errno)) }
        return descriptor
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns whether both names are those of one regular file.
    package static func isSame(_ path: String, _ other: String) -> Bool {
        FileIdentity(path).map { $0 == FileIdentity(other) } ?? false
    }

    package static func unreadable(_ name: String, _ error: ByteSource.SystemError) -> ToolError {
        let hint: String? =
            switch error.number {
            case ENOENT: "check the name and the folder"
            case EACCES: "you may not read it: check its owner and mode"
            case EISDIR: "name a file in it"
            default: nil
            }
        return .unusable("unreadable-file", ToolError.reason(error.number), file: name, hint: hint)
    }
}
