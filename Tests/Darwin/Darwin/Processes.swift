// The declarations repeat those that Swift derives from macOS's headers, with their optional pointers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals, NeverForceUnwrap

public import Glibc

@_exported public import struct DarwinTypes.rlimit
@_exported public import struct DarwinTypes.sigaction
@_exported public import typealias DarwinTypes.sigset_t

// Threads.

public struct _opaque_pthread_t {}
public struct _opaque_pthread_attr_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public typealias pthread_attr_t = _opaque_pthread_attr_t

public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>!, _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    // Both kinds of functions have the same calling convention, and the argument is never null here.
    let body = unsafeBitCast(body, to: (@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?).self)
    var id = Glibc.pthread_t()
    let code = Glibc.pthread_create(&id, nil, body, argument)
    thread.pointee = pthread_t(bitPattern: id)
    return code
}

public func pthread_self() -> pthread_t { pthread_t(bitPattern: Glibc.pthread_self())! }

@discardableResult
public func pthread_join(_ thread: pthread_t, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> Int32 {
    Glibc.pthread_join(UInt(bitPattern: thread), result)
}

@discardableResult
public func pthread_detach(_ thread: pthread_t) -> Int32 { Glibc.pthread_detach(UInt(bitPattern: thread)) }

// Programs.

public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public let POSIX_SPAWN_SETPGROUP: Int32 = 0x0002
public let POSIX_SPAWN_SETSIGDEF: Int32 = 0x0004
public let POSIX_SPAWN_SETSIGMASK: Int32 = 0x0008
public let POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 = 0x4000

@discardableResult
public func posix_spawn_file_actions_init(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!) -> Int32 {
    let made = UnsafeMutablePointer<Glibc.posix_spawn_file_actions_t>.allocate(capacity: 1)
    made.initialize(to: Glibc.posix_spawn_file_actions_t())
    actions.pointee = UnsafeMutableRawPointer(made)
    return Glibc.posix_spawn_file_actions_init(made)
}

@discardableResult
public func posix_spawn_file_actions_destroy(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!) -> Int32 {
    let made = glibc(actions, Glibc.posix_spawn_file_actions_t.self)
    defer { made.deallocate() }
    return Glibc.posix_spawn_file_actions_destroy(made)
}

@discardableResult
public func posix_spawn_file_actions_adddup2(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _ from: Int32, _ to: Int32
) -> Int32 {
    Glibc.posix_spawn_file_actions_adddup2(glibc(actions, Glibc.posix_spawn_file_actions_t.self), from, to)
}

@discardableResult
public func posix_spawnattr_init(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 {
    let made = UnsafeMutablePointer<Glibc.posix_spawnattr_t>.allocate(capacity: 1)
    made.initialize(to: Glibc.posix_spawnattr_t())
    attributes.pointee = UnsafeMutableRawPointer(made)
    return Glibc.posix_spawnattr_init(made)
}

@discardableResult
public func posix_spawnattr_destroy(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 {
    let made = glibc(attributes, Glibc.posix_spawnattr_t.self)
    defer { made.deallocate() }
    return Glibc.posix_spawnattr_destroy(made)
}

@discardableResult
public func posix_spawnattr_setsigmask(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!, _ signals: UnsafePointer<sigset_t>!
) -> Int32 {
    var set = Glibc.sigset_t(signals.pointee)
    return Glibc.posix_spawnattr_setsigmask(glibc(attributes, Glibc.posix_spawnattr_t.self), &set)
}

@discardableResult
public func posix_spawnattr_setsigdefault(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!, _ signals: UnsafePointer<sigset_t>!
) -> Int32 {
    var set = Glibc.sigset_t(signals.pointee)
    return Glibc.posix_spawnattr_setsigdefault(glibc(attributes, Glibc.posix_spawnattr_t.self), &set)
}

@discardableResult
public func posix_spawnattr_setpgroup(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!, _ group: pid_t) -> Int32
{
    Glibc.posix_spawnattr_setpgroup(glibc(attributes, Glibc.posix_spawnattr_t.self), group)
}

@discardableResult
public func posix_spawnattr_setflags(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>!, _ flags: Int16) -> Int32 {
    // Linux has the first three flags, with the same numbers, and not POSIX_SPAWN_CLOEXEC_DEFAULT.
    Glibc.posix_spawnattr_setflags(glibc(attributes, Glibc.posix_spawnattr_t.self), flags & 0x3FFF)
}

public func posix_spawnp(
    _ child: UnsafeMutablePointer<pid_t>!, _ program: UnsafePointer<CChar>!,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>!, _ attributes: UnsafePointer<posix_spawnattr_t?>!,
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>!, _ variables: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 {
    Glibc.posix_spawnp(
        child, program, glibc(actions, Glibc.posix_spawn_file_actions_t.self),
        glibc(attributes, Glibc.posix_spawnattr_t.self), arguments, variables)
}

private func glibc<Value>(_ pointer: UnsafePointer<UnsafeMutableRawPointer?>, _: Value.Type) -> UnsafeMutablePointer<
    Value
> {
    pointer.pointee!.assumingMemoryBound(to: Value.self)
}

public func _NSGetEnviron() -> UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>! {
    environmentPlace.pointee = environ
    return environmentPlace
}

// Holds the same pointer each time.
nonisolated(unsafe) private let environmentPlace =
    UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>.allocate(capacity: 1)

public func _NSGetExecutablePath(_ buffer: UnsafeMutablePointer<CChar>!, _ size: UnsafeMutablePointer<UInt32>!) -> Int32
{
    let count = readlink("/proc/self/exe", buffer, Int(size.pointee) - 1)
    guard count >= 0 else { return -1 }
    buffer[count] = 0
    return 0
}

public let RLIMIT_NOFILE: Int32 = 8

public func getrlimit(_ kind: Int32, _ limit: UnsafeMutablePointer<DarwinTypes.rlimit>!) -> Int32 {
    precondition(kind == RLIMIT_NOFILE)
    var own = Glibc.rlimit()
    defer { limit.pointee.rlim_cur = UInt64(own.rlim_cur) }
    return Glibc.getrlimit(kind - 1, &own)
}

// Signals.

extension Glibc.sigset_t {
    fileprivate init(_ bits: UInt32) {
        self.init()
        Glibc.sigemptyset(&self)
        for number in 1...31 where bits & 1 << UInt32(number - 1) != 0 { Glibc.sigaddset(&self, Int32(number)) }
    }
}

@discardableResult
public func sigemptyset(_ set: UnsafeMutablePointer<sigset_t>!) -> Int32 {
    set.pointee = 0
    return 0
}

@discardableResult
public func sigaddset(_ set: UnsafeMutablePointer<sigset_t>!, _ number: Int32) -> Int32 {
    set.pointee |= 1 << UInt32(number - 1)
    return 0
}

@discardableResult
public func sigaction(
    _ number: Int32, _ new: UnsafePointer<DarwinTypes.sigaction>!, _ old: UnsafeMutablePointer<DarwinTypes.sigaction>!
) -> Int32 {
    var before = Glibc.sigaction()
    let code: Int32
    if let new {
        var action = Glibc.sigaction()
        action.__sigaction_handler.sa_handler = new.pointee.__sigaction_u.__sa_handler
        code = linuxSigaction(number, &action, &before)
    } else {
        code = linuxSigaction(number, nil, &before)
    }
    if let old { old.pointee.__sigaction_u.__sa_handler = before.__sigaction_handler.sa_handler }
    return code
}

// The name means Linux's structure too, so its function needs another one.
@_silgen_name("sigaction")
private func linuxSigaction(
    _ number: Int32, _ new: UnsafePointer<Glibc.sigaction>?, _ old: UnsafeMutablePointer<Glibc.sigaction>?
) -> Int32
