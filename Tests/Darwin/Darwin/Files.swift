// The declarations repeat those that Swift derives from macOS's headers, with their optional pointers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals, NeverForceUnwrap

internal import Glibc

@_exported public import typealias DarwinTypes.dev_t
@_exported public import typealias DarwinTypes.mode_t
@_exported public import struct DarwinTypes.stat

public let S_IFMT: mode_t = 0o170000
public let S_IFDIR: mode_t = 0o040000
public let S_IFREG: mode_t = 0o100000
public let F_FULLFSYNC: Int32 = 51

public func stat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<DarwinTypes.stat>!) -> Int32 {
    fill(status) { fstatat(AT_FDCWD, path, &$0, 0) }
}

public func lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<DarwinTypes.stat>!) -> Int32 {
    fill(status) { fstatat(AT_FDCWD, path, &$0, AT_SYMLINK_NOFOLLOW) }
}

public func fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<DarwinTypes.stat>!) -> Int32 {
    fill(status) { Glibc.fstat(descriptor, &$0) }
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { Glibc.open(path, flags) }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    Glibc.open(path, flags, UInt32(mode))
}
public func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    Glibc.openat(folder, path, flags)
}
public func mkdir(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { Glibc.mkdir(path, UInt32(mode)) }
public func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 { Glibc.fchmod(descriptor, UInt32(mode)) }

private func fill(_ status: UnsafeMutablePointer<DarwinTypes.stat>!, _ ask: (inout Glibc.stat) -> Int32) -> Int32 {
    var own = Glibc.stat()
    let code = ask(&own)
    status.pointee = DarwinTypes.stat(own)
    return code
}

// The name means a structure too, so the function needs another one.
@_silgen_name("flock")
private func linuxLock(_ descriptor: Int32, _ operation: Int32) -> Int32

@discardableResult
public func flock(_ descriptor: Int32, _ operation: Int32) -> Int32 { linuxLock(descriptor, operation) }

public typealias off_t = Int64
public func lseek(_ descriptor: Int32, _ offset: off_t, _ from: Int32) -> off_t {
    off_t(Glibc.lseek(descriptor, Glibc.off_t(offset), from))
}
public func ftruncate(_ descriptor: Int32, _ size: off_t) -> Int32 { Glibc.ftruncate(descriptor, Glibc.off_t(size)) }

// Terminals.

public typealias tcflag_t = UInt

public struct termios: Sendable {
    public var c_lflag: tcflag_t = 0
    fileprivate var own = Glibc.termios()
    public init() {}
}

public func tcgetattr(_ descriptor: Int32, _ terminal: UnsafeMutablePointer<termios>!) -> Int32 {
    defer { terminal.pointee.c_lflag = tcflag_t(terminal.pointee.own.c_lflag) }
    return Glibc.tcgetattr(descriptor, &terminal.pointee.own)
}

@discardableResult
public func tcsetattr(_ descriptor: Int32, _ when: Int32, _ terminal: UnsafePointer<termios>!) -> Int32 {
    var own = terminal.pointee.own
    own.c_lflag = Glibc.tcflag_t(terminal.pointee.c_lflag)
    return Glibc.tcsetattr(descriptor, when, &own)
}
