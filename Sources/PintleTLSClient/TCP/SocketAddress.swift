internal import Pintle
internal import PintleStorage
internal import PintleSystem

/// An address to which a host resolves, including the port.
struct SocketAddress: Sendable {
    private let storage: sockaddr_storage
    private let length: socklen_t

    init(_ storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = min(length, socklen_t(MemoryLayout<sockaddr_storage>.size))
    }

    var family: CInt { CInt(storage.ss_family) }

    func withUnsafeAddress<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The bytes of the address, 4 or 16 in network order, without port and scope.
    var octets: [UInt8]? {
        withUnsafeBytes(of: storage) { raw in
            switch family {
            case AF_INET: withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
            case AF_INET6: withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
            default: nil
            }
        }
    }

    /// The numeric address without the port.
    var numericHost: String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withUnsafeAddress { address, length in
            getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        }
        guard status == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the IPv4 and IPv6 addresses of `endpoint` in the resolver's order (RFC 6724), at most 32.
    ///
    /// Blocks until the system's resolver answers; the resolver has its own time-outs.
    ///
    /// - Throws: `name-not-resolved`.
    static func resolve(_ endpoint: ServerEndpoint, as role: ConnectionRole) throws(HandshakeError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = StreamSocket.type
        hints.ai_protocol = CInt(IPPROTO_TCP)
        // An IP literal must never be sent to a name server.
        hints.ai_flags = AI_NUMERICSERV | (endpoint.isAddress ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(endpoint.name, String(endpoint.port), &hints, &list)
        let error = errno
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else { throw notResolved(endpoint, as: role, status: status, error: error) }

        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry?.pointee, addresses.count < 32 {
            entry = info.ai_next
            guard let address = info.ai_addr, info.ai_family == AF_INET || info.ai_family == AF_INET6,
                info.ai_addrlen <= MemoryLayout<sockaddr_storage>.size
            else { continue }
            var storage = sockaddr_storage()
            withUnsafeMutableBytes(of: &storage) { raw in
                raw.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
            }
            addresses.append(SocketAddress(storage, length: info.ai_addrlen))
        }
        guard !addresses.isEmpty else { throw notResolved(endpoint, as: role, status: EAI_NONAME, error: 0) }
        return addresses
    }

    private static func notResolved(
        _ endpoint: ServerEndpoint, as role: ConnectionRole, status: CInt, error: CInt
    ) -> HandshakeError {
        let why =
            switch status {
            case EAI_NONAME: "no such host"
            case EAI_AGAIN: "the name server did not answer"
            case EAI_SYSTEM: Descriptor.errorText(error)
            default: gai_strerror(status).map { String(cString: $0) } ?? "error \(status)"
            }
        return HandshakeError(
            .nameNotResolved, "cannot resolve \(role.prefix)\(endpoint.host): \(why)", hint: role.resolutionHint
        )
    }
}

/// The role of an endpoint, for messages: the remedy depends on it.
enum ConnectionRole: Sendable {
    case server, proxy

    var prefix: String { self == .proxy ? "the proxy " : "" }

    var resolutionHint: String {
        switch self {
        case .server: "check the spelling; behind a proxy that resolves names? set HTTPS_PROXY, or use --connect-to"
        case .proxy: "check HTTPS_PROXY and ALL_PROXY; NO_PROXY names the hosts that are reached without it"
        }
    }

    var connectionHint: String {
        switch self {
        case .server: "behind a proxy? set HTTPS_PROXY, or point at a server with --connect-to"
        case .proxy: "check HTTPS_PROXY and ALL_PROXY; NO_PROXY names the hosts that are reached without it"
        }
    }
}
