internal import PintleSystem
internal import Synchronization

/// An address of this machine, on loopback by default, and a port.
struct SocketAddress {
    /// 4 octets, or 16.
    private let octets: [UInt8]
    let port: UInt16

    private var isIPv6: Bool { octets.count == 16 }

    static func loopback(port: UInt16, ipv6: Bool = false) -> SocketAddress {
        let octets = ipv6 ? [UInt8](repeating: 0, count: 15) + [1] : [127, 0, 0, 1]
        return SocketAddress(octets: octets, port: port)
    }

    /// Returns the address of an IPv4 or IPv6 literal; `nil` stands for loopback.
    static func named(_ literal: String?, port: UInt16, ipv6: Bool = false) throws(SystemCallError) -> SocketAddress {
        guard let literal else { return loopback(port: port, ipv6: ipv6) }
        guard case .ip(let octets) = CertificateTemplate.GeneralName.host(literal) else {
            throw SystemCallError(operation: "reading the address \(literal)", code: EINVAL)
        }
        return SocketAddress(octets: octets, port: port)
    }

    /// Opens a socket that listens at this address, and whose `accept` never blocks. With port 0 the system chooses a
    /// port.
    func listening(backlog: Int32) throws(SystemCallError) -> (FileDescriptor, port: UInt16) {
        let socket = try opened()
        var yes: Int32 = 1
        setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = withAddress { bind(socket.number, $0, $1) }
        guard bound == 0, listen(socket.number, backlog) == 0, fcntl(socket.number, F_SETFL, O_NONBLOCK) == 0 else {
            throw .last("listening on \(self)")
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port = withUnsafeMutablePointer(to: &storage) { pointer -> UInt16? in
            let named = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(socket.number, $0, &length)
            }
            guard named == 0 else { return nil }
            // The port has the same place in both families.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
        guard let port else { throw .last("asking for the port of \(self)") }
        return (socket, port)
    }

    /// Opens a socket that is connected to this address.
    func connected() throws(SystemCallError) -> FileDescriptor {
        let socket = try opened()
        let result = withAddress { connect(socket.number, $0, $1) }
        guard result == 0 else { throw .last("connecting to \(self)") }
        return socket
    }

    /// Opens a non-blocking socket that is connected to this address.
    ///
    /// - Parameter stop: ends the attempt when it becomes readable. A server with a full queue answers only after
    ///   minutes.
    func connected(stop: FileDescriptor) throws(SystemCallError) -> FileDescriptor {
        let socket = try opened(isBlocking: false)
        if withAddress({ connect(socket.number, $0, $1) }) == 0 { return socket }
        guard errno == EINPROGRESS || errno == EINTR else { throw .last("connecting to \(self)") }
        var entries = [
            pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&entries, 2, -1) < 0, errno == EINTR {}
        guard entries[1].revents == 0 else {
            throw SystemCallError(operation: "connecting to \(self)", code: ECANCELED)
        }
        var (code, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            throw .last("connecting to \(self)")
        }
        guard code == 0 else { throw SystemCallError(operation: "connecting to \(self)", code: code) }
        return socket
    }

    /// Returns `true` if the peer of a socket has this address, an IPv4 or IPv6 literal.
    static func isPeer(_ literal: String, of socket: FileDescriptor) -> Bool {
        guard case .ip(let octets) = CertificateTemplate.GeneralName.host(literal) else { return false }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            let found = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getpeername(socket.number, $0, &length)
            }
            guard found == 0 else { return false }
            // The octets of an address follow the family and the port, in IPv6 also the flow.
            let isIPv6 = Int32(pointer.pointee.ss_family) == AF_INET6
            guard octets.count == (isIPv6 ? 16 : 4) else { return false }
            let start =
                isIPv6
                ? MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) : MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
            return UnsafeRawBufferPointer(start: pointer, count: Int(length)).dropFirst(start ?? 0).starts(with: octets)
        }
    }

    private func opened(isBlocking: Bool = true) throws(SystemCallError) -> FileDescriptor {
        let number = descriptorLock.withLock { _ in
            StreamSocket.open(isIPv6 ? AF_INET6 : AF_INET, isBlocking: isBlocking)
        }
        guard number >= 0 else { throw .last("opening a socket") }
        return FileDescriptor(number)
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: octets) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: octets) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let text = inet_ntop(isIPv6 ? AF_INET6 : AF_INET, octets, &buffer, socklen_t(buffer.count))
        let host = text.map { String(cString: $0) } ?? "?"
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
