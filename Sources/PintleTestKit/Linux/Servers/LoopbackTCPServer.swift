internal import Synchronization

/// A server on loopback that passes each connection to a closure, for broken servers, plain HTTP, and peers that never
/// answer.
package final class LoopbackTCPServer: Sendable {
    private let listener: LoopbackListener
    private let counter: Counter

    /// Starts listening on a free port.
    /// - Parameters:
    ///   - ipv6: `true` listens on `::1` instead of 127.0.0.1.
    ///   - maximumConnections: The number of connections served at the same time. More wait.
    ///   - serve: Runs on the connection's thread; the connection ends when it returns.
    package convenience init(
        ipv6: Bool = false, maximumConnections: Int = 32, serve: @escaping @Sendable (TCPConnection) -> Void
    ) throws(SystemCallError) {
        try self.init(.loopback(port: 0, ipv6: ipv6), maximumConnections: maximumConnections, serve: serve)
    }

    /// Starts listening at another address of this machine, which other machines may reach.
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 literal; `nil` for 127.0.0.1.
    ///   - port: With 0 the system chooses a port.
    ///   - timeLimit: The time for all reads of a connection together, in seconds; `nil` for no limit.
    ///   - serve: Runs on the connection's thread; the connection ends when it returns.
    package convenience init(
        listeningAt address: String?, port: UInt16 = 0, timeLimit: Double? = nil,
        serve: @escaping @Sendable (TCPConnection) -> Void
    ) throws(SystemCallError) {
        try self.init(
            try .named(address, port: port), maximumConnections: 32, timeLimit: timeLimit, serve: serve)
    }

    private init(
        _ address: SocketAddress, maximumConnections: Int, timeLimit: Double? = nil,
        serve: @escaping @Sendable (TCPConnection) -> Void
    ) throws(SystemCallError) {
        let counter = Counter()
        self.counter = counter
        listener = try LoopbackListener(
            address, maximumConnections: maximumConnections, timeLimit: timeLimit
        ) { connection in
            counter.connections.add(1, ordering: .relaxed)
            serve(connection)
        }
    }

    /// Starts a server of plain HTTP/1.1.
    package static func http(
        ipv6: Bool = false, handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws(SystemCallError) -> LoopbackTCPServer {
        try LoopbackTCPServer(ipv6: ipv6) { connection in
            HTTPService(handler: handler).serve(connection)
        }
    }

    /// Starts a server of plain HTTP/1.1 at another address of this machine. It answers one request a connection.
    package static func http(
        listeningAt address: String?, timeLimit: Double?, handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(SystemCallError) -> LoopbackTCPServer {
        try LoopbackTCPServer(listeningAt: address, timeLimit: timeLimit) {
            HTTPService(handler: handler).serveOnce($0)
        }
    }

    package var port: UInt16 { listener.port }

    /// The number of connections accepted so far.
    package var connectionCount: Int { counter.connections.load(ordering: .relaxed) }

    /// Waits until no connection is queued or open. Returns `false` after a time-out.
    package func waitUntilIdle(seconds: Double) -> Bool { listener.waitUntilIdle(seconds: seconds) }

    /// Ends all connections and waits for their threads.
    package func close() { listener.close() }

    private final class Counter: Sendable {
        let connections = Atomic(0)
    }
}
