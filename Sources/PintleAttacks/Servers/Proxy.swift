internal import PintleTestKit
internal import Synchronization

/// A forward proxy, HTTP and SOCKS 5 on one port, that answers for named hosts with the servers of attacks.
///
/// It connects to these servers only, whatever the client asks for. HTTP clients that ask for another host get the
/// status 403, SOCKS clients the reply 2.
package final class Proxy: Sendable {
    /// A host and port that the client asked for, and that is not a named one. The proxy did not connect to it.
    package struct UnlistedHost: Sendable, Hashable {
        /// The host and port as the client wrote them, such as `example.com:443`.
        package let authority: String
        package let count: Int

        package init(authority: String, count: Int) {
            (self.authority, self.count) = (authority, count)
        }
    }

    /// The server that the proxy connects a client to when it asks for a name and a port.
    struct Route: Sendable, Hashable {
        /// The name or address in the client's URL.
        let host: String
        /// The port in the client's URL.
        let port: UInt16
        /// The port of the server on loopback.
        let server: UInt16
    }

    /// The address that a proxy listens at.
    package struct Address: Sendable {
        /// An IPv4 or IPv6 literal; `nil` for 127.0.0.1.
        package let literal: String?
        /// With 0 the system chooses a port.
        package let port: UInt16

        package init(_ literal: String? = nil, port: UInt16 = 0) {
            (self.literal, self.port) = (literal, port)
        }

        /// A Boolean value that indicates whether clients of other users or machines can be meant by the address.
        package var isReachable: Bool { literal.map { $0 != "127.0.0.1" && $0 != "::1" } ?? false }

        /// The URL of a proxy that listens here at a port.
        package func url(port: UInt16) -> String {
            "http://" + Proxy.authority(literal ?? "127.0.0.1", port)
        }
    }

    private struct UnlistedHosts {
        var counts: [String: Int] = [:]
        /// The number of connections to hosts that are not in ``counts``, because it is full.
        var others = 0
    }

    private let proxy: LoopbackProxy
    private let log = Log()
    /// The limit of different hosts that are counted, so that a client cannot fill the memory.
    private static let limit = 100

    /// Starts the proxy.
    /// - Parameters:
    ///   - address: The address to listen at.
    ///   - hosts: The named hosts, for `clear`.
    ///   - server: Returns the port on loopback of the server for a host and port, or `nil` to refuse the connection.
    ///     The host is in lower case without a dot at its end. Called on the connection's thread.
    ///   - isPlain: Returns `true` if a host and port belong to a server for plain HTTP.
    ///   - clear: Gets the number of bytes of each request without TLS to a named host, in the same spelling, that has
    ///     no server. Such a client fell back from TLS, or never used it.
    init(
        at address: Address, hosts: [String],
        server: @escaping @Sendable (_ host: String, _ port: UInt16) -> UInt16?,
        isPlain: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool,
        clear: @escaping @Sendable (_ host: String, _ byteCount: Int) -> Void = { _, _ in }
    ) throws(SystemCallError) {
        let log = log
        let names = Set(hosts.map(Self.normalized))
        @Sendable func countClear(_ name: String, _ byteCount: Int) {
            clear(name, byteCount)
            log.clearCounts.withLock { $0[name, default: 0] += byteCount }
        }
        proxy = try LoopbackProxy(
            .any, listeningAt: address.literal, port: address.port, timeLimit: Server.timeLimit(at: address.literal),
            route: { host, port in
                if let server = server(Self.normalized(host), port) { return .port(server) }
                log.count(Self.authority(host, port))
                return nil
            },
            refusal: LoopbackProxy.forbid,
            clear: { request in
                let name = Self.normalized(request.host)
                guard names.contains(name) else {
                    // Requests with http have no route, and are counted there.
                    if request.scheme != "http" { log.count(Self.authority(request.host, request.port)) }
                    return request.scheme != "http"
                }
                guard request.scheme != "http" || !isPlain(name, request.port) else { return false }
                countClear(name, request.byteCount)
                return true
            },
            unreadable: { request in
                guard let request else { return log.count("unreadable requests") }
                let name = Self.normalized(request.host)
                guard names.contains(name) else { return log.count(Self.authority(request.host, request.port)) }
                countClear(name, request.byteCount)
            })
    }

    /// Returns host and port as in a URL, without the port if it is `standard`.
    package static func authority(_ host: String, _ port: UInt16, standard: UInt16? = nil) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == standard ? name : "\(name):\(port)"
    }

    /// Returns a host in lower case, without a dot at its end.
    static func normalized(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Starts the proxy with a fixed list of servers.
    convenience init(_ routes: [Route], at address: Address = Address()) throws(SystemCallError) {
        let routes = routes.map { Route(host: $0.host.lowercased(), port: $0.port, server: $0.server) }
        let route = { @Sendable (host: String, port: UInt16) in routes.first { $0.host == host && $0.port == port } }
        try self.init(
            at: address, hosts: routes.map(\.host), server: { route($0, $1)?.server },
            isPlain: { route($0, $1) != nil })
    }

    /// Returns the number of bytes that came for a host without TLS, and were not for one of its servers.
    func clearByteCount(of host: String) -> Int {
        log.clearCounts.withLock { $0[Self.normalized(host)] ?? 0 }
    }

    package var port: UInt16 { proxy.port }

    /// The number of connections to the proxy, whatever they asked for.
    package var connectionCount: Int { proxy.connectionCount }

    /// The hosts that the proxy did not connect to, in the order of their names.
    package var unlistedHosts: [UnlistedHost] {
        log.unlistedHosts.withLock { unlistedHosts in
            unlistedHosts.counts.sorted { $0.key < $1.key }.map { UnlistedHost(authority: $0.key, count: $0.value) }
                + (unlistedHosts.others > 0
                    ? [UnlistedHost(authority: "other hosts", count: unlistedHosts.others)] : [])
        }
    }

    /// A Boolean value that indicates whether every open connection is a tunnel to a server.
    var hasOnlyTunnels: Bool { proxy.connections.allSatisfy { $0.isClosed || $0.isOpen } }

    /// Waits until no connection is queued or open. Returns `false` after a time-out.
    func waitUntilIdle(seconds: Double) -> Bool { proxy.waitUntilIdle(seconds: seconds) }

    /// Ends all connections and waits for their threads.
    package func close() { proxy.close() }

    private final class Log: Sendable {
        let unlistedHosts = Mutex(UnlistedHosts())
        /// The number of clear bytes of each named host.
        let clearCounts = Mutex<[String: Int]>([:])

        func count(_ authority: String) {
            unlistedHosts.withLock { unlistedHosts in
                if unlistedHosts.counts[authority] != nil || unlistedHosts.counts.count < Proxy.limit {
                    unlistedHosts.counts[authority, default: 0] += 1
                } else {
                    unlistedHosts.others += 1
                }
            }
        }
    }
}
