internal import PintleStorage
internal import PintleSystem
internal import PintleText

/// Functions that write files.
package enum OutputFile {
    /// Returns whether anything has that name, also a dangling link.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns whether the name is that of a regular file, or of a link to one.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Writes a file that must not exist yet. The file is complete on disk when this returns; after an error it is
    /// removed.
    ///
    /// The file has its own name from the beginning, unlike a `FileReplacement`: a rename would replace a key that
    /// another process has made meanwhile.
    package static func create(_ path: String, mode: UInt16, _ bytes: [UInt8]) throws(ToolError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw errno == EEXIST ? .keyExists(path) : failure(path) }
        // A private key gets exactly the mode that was asked for, also under another umask.
        let isWritten =
            fchmod(descriptor, mode_t(mode)) == 0 && ByteSink(descriptor: descriptor).write(bytes)
            && fsync(descriptor) == 0
        let error = isWritten ? nil : failure(path)
        close(descriptor)
        if let error {
            unlink(path)
            throw error
        }
    }

    /// Replaces or creates a file atomically. A replaced file keeps its permissions; a new one has those of the umask.
    /// Something other than a regular file, such as a pipe, is written to.
    package static func replace(_ path: String, _ bytes: [UInt8]) throws(ToolError) {
        let file = try StreamedFile(path)
        try file.write(bytes)
        try file.finish()
    }

    /// Checks that a file can be created or written there, without changing anything.
    package static func checkFolder(of path: String) throws(ToolError) {
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
    package static func failure(_ path: String, _ number: Int32 = errno) -> ToolError {
        .unusable(
            "unwritable-file", ToolError.reason(number), file: path,
            hint: number == ENOSPC ? "the disk is full" : "check that the folder exists and is yours")
    }
}

extension Invocation {
    /// Replaces or creates a file that the command line names, and says so.
    package func write(_ bytes: some Sequence<UInt8>, to path: String) throws(ToolError) {
        try OutputFile.replace(path, Array(bytes))
        console.printMessage("wrote \(SafeText.escape(path))")
    }
}

extension ToolError {
    /// Returns the text of a system error, in lower case.
    package static func reason(_ number: Int32) -> String {
        let reason = String(cString: strerror(number))
        return reason.prefix(1).lowercased() + reason.dropFirst()
    }

    package static func keyExists(_ path: String) -> ToolError {
        .unusable(
            "file-exists", "\(path) exists already; a signing key is never overwritten",
            hint: "choose another name with --out, or read its id: pintle inspect \(path)")
    }
}

/// A lock on the folder of a file, which leaves no file behind. It keeps out only programs that take it too.
package struct FolderLock {
    private let descriptor: CInt

    /// Waits for the lock. Without a folder, or where a file system has no locks, there is none.
    package init(of path: String) {
        descriptor = open(
            path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    package func unlock() {
        if descriptor >= 0 { close(descriptor) }
    }
}

/// Functions that make folders.
package enum OutputFolder {
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes the folder and its parents if they do not exist.
    package static func create(_ path: String) throws(ToolError) {
        guard !path.isEmpty, !exists(path) else { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try create(String(path[..<slash])) }
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
            throw .unusable(
                "unwritable-file", ToolError.reason(errno), file: path, hint: "check that you may write there")
        }
    }
}
