internal import PintleSystem

/// A folder with mode 0700 for temporary files, which only its owner can access.
package struct PrivateFolder: Sendable {
    package let path: String

    /// Creates the folder if it does not exist; its parent must exist. If others may read the folder, sets its mode to
    /// 0700.
    ///
    /// - Throws: `foreign-owner`, `writable-by-others`, or the reason that the folder cannot be created or used.
    package init(_ path: String) throws(StorageError) {
        self.path = path
        guard !path.utf8.contains(0) else { throw .notWritten(path, EINVAL) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .notWritten(path, errno) }
        guard let descriptor = Descriptor.open(path, O_RDONLY | O_DIRECTORY), let status = descriptor.status else {
            throw .notWritten(path, errno)
        }
        guard status.st_uid == geteuid() else {
            throw StorageError(
                .foreignOwner, at: path, message: "it belongs to user \(status.st_uid)",
                hint: "the owner of a folder controls its content: name a folder of your own")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw StorageError(
                .writableByOthers, at: path, message: "others may write into it",
                hint: "look what is in it, then: chmod 700 \(path)"
            )
        }
        guard status.st_mode & 0o7777 == 0o700 || fchmod(descriptor.number, 0o700) == 0 else {
            throw .notWritten(path, errno)
        }
    }

    /// Removes a file of the folder. A missing file is not an error.
    package func remove(_ name: String) throws(StorageError) {
        let file = "\(path)/\(name)"
        guard !file.utf8.contains(0) else { throw .notWritten(file, EINVAL) }
        guard unlink(file) == 0 || errno == ENOENT else { throw .notWritten(file, errno) }
    }
}
