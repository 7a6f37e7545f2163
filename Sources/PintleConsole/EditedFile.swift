internal import PintleStorage
internal import PintleSystem
internal import PintleText

/// A file of the user that is read, changed, and replaced as a whole. It is not replaced if another program has changed
/// it since it was read.
///
/// A symbolic link, a folder, a read-only file and one with several names are refused. The file keeps its permissions.
package final class EditedFile {
    package let path: String
    /// The content; `nil` if there is no file.
    package let bytes: [UInt8]?
    /// Kept open, so that no other file can have the same version; negative without a file.
    private let descriptor: CInt
    private let version: FileVersion?
    private let permissions: FileReplacement.Permissions
    private let isReadOnly: Bool
    /// A Boolean value that indicates whether the file has other names, which would keep the old content.
    private let hasOtherNames: Bool

    /// - Parameter limit: a larger file is refused.
    package init(_ path: String, limit: Int) throws(ToolError) {
        self.path = path
        // With O_NONBLOCK, a pipe without a writer cannot block before `fstat` identifies it.
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0 else {
            let number = errno
            if number == ELOOP { throw Self.notRegular(path, "a symbolic link", "name the file that it leads to") }
            guard number == ENOENT else {
                throw .unusable(
                    "unreadable-file", ToolError.reason(number), file: path,
                    hint: number == EACCES ? "check its owner and mode" : "check the name and the folder")
            }
            (bytes, version, permissions, isReadOnly, hasOtherNames) = (nil, nil, .atMost(0o666), false, false)
            return
        }
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.notRegular(path, "not a regular file", "name a file, not a folder, pipe or device")
        }
        version = FileVersion(status)
        let mode = UInt32(status.st_mode) & 0o777
        permissions = status.st_uid == geteuid() ? .exactly(mode) : .atMost(mode & 0o666)
        hasOtherNames = status.st_nlink > 1
        isReadOnly = mode & 0o222 == 0 || access(path, W_OK) != 0
        do {
            bytes = try ByteSource(descriptor: descriptor).readAll(limit: limit)
        } catch {
            close(descriptor)
            throw .unusable("unreadable-file", error.message, file: path)
        }
        guard bytes != nil else {
            close(descriptor)
            throw .unusable("too-large", "larger than \(limit >> 20) MiB", file: path)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns whether both are the same file, also under two names.
    package func isSame(as other: EditedFile) -> Bool {
        version.map { $0 == other.version } ?? (other.version == nil && path == other.path)
    }

    /// Throws the error that ``replace(with:)`` would throw of a file that may not be replaced, or has changed already.
    package func check() throws(ToolError) {
        guard !isReadOnly else {
            throw .unusable(
                "read-only-file", "the file is read-only", file: path,
                hint: "chmod u+w \(ShellWord.quoted(path))")
        }
        guard !hasOtherNames else {
            throw .unusable(
                "several-names", "the file has other names (hard links), which would keep the old content", file: path,
                hint: "make a copy of it, and rename the copy to this name")
        }
        var status = stat()
        let current = lstat(path, &status) == 0 ? FileVersion(status) : nil
        guard current == version else {
            throw .unusable(
                "changed-file", "another program has changed the file meanwhile", file: path,
                hint: "close it there, and run the command again")
        }
    }

    /// Replaces the content, or creates the file. The new file and its name are on the disk when this returns.
    package func replace(with bytes: [UInt8]) throws(ToolError) {
        let replacement = try naming { () throws(ReplacementError) in
            // A name that no file of the user has by chance: what killed processes have left is removed.
            try FileReplacement(of: path, mark: ".pintle-sync-", permissions)
        }
        try naming { () throws(ReplacementError) in
            try replacement.write(bytes[...])
            try replacement.sync()
        }
        try check()
        try naming { () throws(ReplacementError) in
            try replacement.commit()
            try FileReplacement.syncFolder(of: path)
        }
    }

    private func naming<Result>(_ body: () throws(ReplacementError) -> Result) throws(ToolError) -> Result {
        do {
            return try body()
        } catch {
            throw OutputFile.failure(path, error.number)
        }
    }

    private static func notRegular(_ path: String, _ what: String, _ hint: String) -> ToolError {
        .unusable("not-a-regular-file", what, file: path, hint: hint)
    }
}
