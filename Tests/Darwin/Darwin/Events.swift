// The declarations repeat those that Swift derives from macOS's headers, with their optional pointers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import Glibc

@_exported public import struct DarwinTypes.kevent

public let EVFILT_READ: Int32 = -1
public let EV_ADD: Int32 = 0x1
public let EV_EOF: Int32 = 0x8000
public let NOTE_LOWAT: Int32 = 0x1

public func kqueue() -> Int32 { epoll_create1(0x80000) }  // EPOLL_CLOEXEC

/// Adds one filter for reading with the largest NOTE_LOWAT, which reports nothing but the end of the peer's side, or
/// asks for its event without waiting.
@discardableResult
public func kevent(
    _ queue: Int32, _ changes: UnsafePointer<DarwinTypes.kevent>!, _ changeCount: Int32,
    _ events: UnsafeMutablePointer<DarwinTypes.kevent>!, _ eventCount: Int32, _ time: UnsafePointer<timespec>!
) -> Int32 {
    guard let change = changes?.pointee else {
        var event: (UInt32, UInt32, UInt32) = (0, 0, 0)
        let count = epoll_wait(queue, &event, 1, 0)
        if count > 0 { events.pointee.flags = UInt16(EV_EOF) }
        return count
    }
    precondition(changeCount == 1 && eventCount == 0 && change.filter == EVFILT_READ && change.flags == EV_ADD)
    precondition(change.fflags == NOTE_LOWAT && change.data == Int32.max)
    var event: (events: UInt32, data: (UInt32, UInt32)) = (0x2000, (0, 0))  // EPOLLRDHUP
    return epoll_ctl(queue, 1, Int32(change.ident), &event)
}

// Swift's Glibc module does not declare these. The structure of an event is packed.
@_silgen_name("epoll_create1")
private func epoll_create1(_ flags: Int32) -> Int32
@_silgen_name("epoll_wait")
private func epoll_wait(_ queue: Int32, _ events: UnsafeMutableRawPointer, _ count: Int32, _ time: Int32) -> Int32
@_silgen_name("epoll_ctl")
private func epoll_ctl(_ queue: Int32, _ operation: Int32, _ descriptor: Int32, _ event: UnsafeMutableRawPointer)
    -> Int32
