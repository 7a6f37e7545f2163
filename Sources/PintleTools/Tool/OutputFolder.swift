internal import Glibc

/// Functions that make folders.
enum OutputFolder {
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes the folder and its parents if they do not exist.
    static func create(_ path: String) throws(ToolError) {
        guard !path.isEmpty, !exists(path) else { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try create(String(path[..<slash])) }
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
            let reason = String(cString: strerror(errno))
            throw .unusable(
                "unwritable-file", reason.prefix(1).lowercased() + reason.dropFirst(), file: path,
                hint: "check that you may write there")
        }
    }
}
