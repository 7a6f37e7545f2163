internal import Synchronization

/// A server on loopback that does with each connection whatever a closure says: for broken servers,
/// plain HTTP, and peers that never answer.
public final class LoopbackTCPServer: Sendable {
    private let listener: LoopbackListener
    private let counter: Counter

    /// Starts listening on a free port.
    /// - Parameters:
    ///   - ipv6: Listens on `::1` instead of 127.0.0.1.
    ///   - serve: Runs on the connection's thread; the connection ends when it returns.
    public init(
        ipv6: Bool = false, maximumConnections: Int = 32, serve: @escaping @Sendable (TCPConnection) -> Void
    ) throws(SystemCallError) {
        let counter = Counter()
        self.counter = counter
        listener = try LoopbackListener(ipv6: ipv6, maximumConnections: maximumConnections) { connection in
            counter.connections.add(1, ordering: .relaxed)
            serve(connection)
        }
    }

    /// A server of plain HTTP/1.1.
    public static func http(
        ipv6: Bool = false, handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws(SystemCallError) -> LoopbackTCPServer {
        try LoopbackTCPServer(ipv6: ipv6) { connection in
            HTTPService(handler: handler).serve(connection)
        }
    }

    public var port: UInt16 { listener.port }

    /// How many connections were accepted so far.
    public var connectionCount: Int { counter.connections.load(ordering: .relaxed) }

    /// Ends all connections and waits for their threads.
    public func close() { listener.close() }

    private final class Counter: Sendable {
        let connections = Atomic(0)
    }
}
