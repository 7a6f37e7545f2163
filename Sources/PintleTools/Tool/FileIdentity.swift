internal import Glibc

/// Which regular file a path leads to, whatever it is called there; of one that is not there yet, its folder and name.
struct FileIdentity: Equatable {
    private let device: UInt
    private let inode: UInt
    private let name: String?

    /// nil for what is no regular file, and where the folder is not there.
    init?(_ path: String) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            name = nil
        } else {
            let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            let folder = String(path.dropLast(name.count))
            guard !name.isEmpty, stat(folder.isEmpty ? "." : folder, &status) == 0 else { return nil }
            self.name = String(name)
        }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }
}
