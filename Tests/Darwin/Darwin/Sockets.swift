// The declarations repeat those that Swift derives from macOS's headers, with their optional pointers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals, NeverForceUnwrap

internal import Glibc

// The structures have the layout of Linux, so that its calls can fill them. The length has the place of the upper byte
// of Linux's family, which is always 0. Callers leave it 0, as on macOS, where the system takes the argument of the
// call.

public typealias sa_family_t = UInt8
public let AF_UNIX: Int32 = 1
public let AF_INET: Int32 = Glibc.AF_INET
public let AF_INET6: Int32 = Glibc.AF_INET6
public let SOCK_STREAM: Int32 = 1
public let SHUT_RD: Int32 = 0
public let SHUT_WR: Int32 = 1
public let SHUT_RDWR: Int32 = 2
public let IPPROTO_TCP: Int32 = 6
public let SO_NOSIGPIPE: Int32 = 0x1022

public struct in_addr: Sendable {
    public var s_addr: UInt32 = 0
    public init() {}
}

public struct in6_addr: Sendable {
    public var __u6_addr: (UInt64, UInt64) = (0, 0)
    public init() {}
}

public struct sockaddr: Sendable {
    public var sa_family: sa_family_t = 0
    public var sa_len: UInt8 = 0
    public var sa_data: (UInt16, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
    public init() {}
}

public struct sockaddr_in: Sendable {
    public var sin_family: sa_family_t = 0
    public var sin_len: UInt8 = 0
    public var sin_port: UInt16 = 0
    public var sin_addr = in_addr()
    public var sin_zero: UInt64 = 0
    public init() {}
}

public struct sockaddr_in6: Sendable {
    public var sin6_family: sa_family_t = 0
    public var sin6_len: UInt8 = 0
    public var sin6_port: UInt16 = 0
    public var sin6_flowinfo: UInt32 = 0
    // Of the alignment of Linux, so that the address follows directly.
    public var sin6_addr = (UInt32(0), UInt32(0), UInt32(0), UInt32(0))
    public var sin6_scope_id: UInt32 = 0
    public init() {}
}

public struct sockaddr_storage: Sendable {
    public var ss_family: sa_family_t = 0
    public var ss_len: UInt8 = 0
    public var __ss_pad: (UInt16, UInt32) = (0, 0)
    public var __ss_rest: InlineArray<15, UInt64> = .init(repeating: 0)
    public init() {}
}

public typealias addrinfo = DarwinAddressInfo

/// `addrinfo`. Darwin has the fields in another order, which no caller sees.
public struct DarwinAddressInfo {
    public var ai_flags: Int32 = 0
    public var ai_family: Int32 = 0
    public var ai_socktype: Int32 = 0
    public var ai_protocol: Int32 = 0
    public var ai_addrlen: socklen_t = 0
    public var ai_addr: UnsafeMutablePointer<sockaddr>!
    public var ai_canonname: UnsafeMutablePointer<CChar>!
    public var ai_next: UnsafeMutablePointer<addrinfo>!
    public init() {}
}

public func socket(_ family: Int32, _ type: Int32, _ number: Int32) -> Int32 { Glibc.socket(family, type, number) }

public func socketpair(_ family: Int32, _ type: Int32, _ number: Int32, _ ends: UnsafeMutablePointer<Int32>!) -> Int32 {
    Glibc.socketpair(family, type, number, ends)
}

private func address(_ address: UnsafePointer<sockaddr>!) -> UnsafePointer<Glibc.sockaddr>? {
    UnsafeRawPointer(address)?.assumingMemoryBound(to: Glibc.sockaddr.self)
}

private func place(_ address: UnsafeMutablePointer<sockaddr>!) -> UnsafeMutablePointer<Glibc.sockaddr>? {
    UnsafeMutableRawPointer(address)?.assumingMemoryBound(to: Glibc.sockaddr.self)
}

public func connect(_ socket: Int32, _ to: UnsafePointer<sockaddr>!, _ length: socklen_t) -> Int32 {
    Glibc.connect(socket, address(to), length)
}

public func bind(_ socket: Int32, _ to: UnsafePointer<sockaddr>!, _ length: socklen_t) -> Int32 {
    Glibc.bind(socket, address(to), length)
}

public func accept(
    _ socket: Int32, _ from: UnsafeMutablePointer<sockaddr>!, _ length: UnsafeMutablePointer<socklen_t>!
) -> Int32 {
    Glibc.accept(socket, place(from), length)
}

public func getsockname(
    _ socket: Int32, _ name: UnsafeMutablePointer<sockaddr>!, _ length: UnsafeMutablePointer<socklen_t>!
) -> Int32 {
    Glibc.getsockname(socket, place(name), length)
}

public func getnameinfo(
    _ from: UnsafePointer<sockaddr>!, _ length: socklen_t, _ host: UnsafeMutablePointer<CChar>!,
    _ hostLength: socklen_t,
    _ service: UnsafeMutablePointer<CChar>!, _ serviceLength: socklen_t, _ flags: Int32
) -> Int32 {
    Glibc.getnameinfo(address(from), length, host, hostLength, service, serviceLength, flags)
}

public func getaddrinfo(
    _ host: UnsafePointer<CChar>!, _ service: UnsafePointer<CChar>!, _ hints: UnsafePointer<addrinfo>!,
    _ list: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>!
) -> Int32 {
    UnsafeRawPointer(hints).withMemoryRebound(to: Glibc.addrinfo.self, capacity: 1) { hints in
        UnsafeMutableRawPointer(list).withMemoryRebound(to: UnsafeMutablePointer<Glibc.addrinfo>?.self, capacity: 1) {
            Glibc.getaddrinfo(host, service, hints, $0)
        }
    }
}

public func freeaddrinfo(_ list: UnsafeMutablePointer<addrinfo>!) {
    UnsafeMutableRawPointer(list).withMemoryRebound(to: Glibc.addrinfo.self, capacity: 1) { Glibc.freeaddrinfo($0) }
}

/// Ignores SO_NOSIGPIPE, which Linux does not have.
@discardableResult
public func setsockopt(
    _ socket: Int32, _ level: Int32, _ option: Int32, _ value: UnsafeRawPointer!, _ length: socklen_t
) -> Int32 {
    option == SO_NOSIGPIPE ? 0 : Glibc.setsockopt(socket, level, option, value, length)
}

/// Adds Linux's MSG_NOSIGNAL in the place of SO_NOSIGPIPE. Other flags have no effect, as MSG_DONTWAIT has none on
/// macOS.
public func send(_ socket: Int32, _ bytes: UnsafeRawPointer!, _ count: Int, _ flags: Int32) -> Int {
    Glibc.send(socket, bytes, count, 0x4000)
}

public func recv(_ socket: Int32, _ bytes: UnsafeMutableRawPointer!, _ count: Int, _ flags: Int32) -> Int {
    Glibc.recv(socket, bytes, count, flags)
}

@discardableResult
public func shutdown(_ socket: Int32, _ side: Int32) -> Int32 { Glibc.shutdown(socket, side) }

public func getpeername(
    _ socket: Int32, _ name: UnsafeMutablePointer<sockaddr>!, _ length: UnsafeMutablePointer<socklen_t>!
) -> Int32 {
    Glibc.getpeername(socket, place(name), length)
}
