public import Glibc

public typealias mode_t = UInt16
public typealias dev_t = Int32

public struct stat: Sendable {
    public var st_dev: dev_t = 0
    public var st_mode: mode_t = 0
    public var st_nlink: UInt16 = 0
    public var st_ino: UInt64 = 0
    public var st_uid: UInt32 = 0
    public var st_gid: UInt32 = 0
    public var st_atimespec = timespec()
    public var st_mtimespec = timespec()
    public var st_ctimespec = timespec()
    public var st_size: Int64 = 0
    public init() {}

    /// Copies Linux's structure.
    public init(_ own: Glibc.stat) {
        // Negative, as some file systems of macOS are.
        st_dev = ~dev_t(truncatingIfNeeded: own.st_dev)
        st_mode = mode_t(own.st_mode)
        st_nlink = UInt16(clamping: own.st_nlink)
        st_ino = UInt64(own.st_ino)
        st_uid = own.st_uid
        st_gid = own.st_gid
        st_atimespec = own.st_atim
        st_mtimespec = own.st_mtim
        st_ctimespec = own.st_ctim
        st_size = Int64(own.st_size)
    }
}
