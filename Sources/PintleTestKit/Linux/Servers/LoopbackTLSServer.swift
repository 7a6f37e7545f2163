internal import Glibc

/// A real TLS server on loopback that shows whatever certificates it is told to and keeps count of
/// what a client lets it have.
///
/// ```swift
/// let root = try CertificateAuthority.root()
/// let server = try LoopbackTLSServer(root.issue(hosts: ["localhost"]))
/// // ... point a client at server.url(host: "localhost") ...
/// #expect(server.requestByteCount == 0)
/// ```
///
/// It listens on 127.0.0.1, or `::1`, at a port that the system chooses, serves each connection on
/// a thread of its own, and stops when it is closed or the last reference goes. Everything here may
/// be used from any thread.
public final class LoopbackTLSServer: Sendable {
    private let state: TLSServerState
    private let listener: LoopbackListener

    /// Starts a server.
    public init(_ configuration: TLSServerConfiguration) throws {
        let state = try TLSServerState(configuration)
        self.state = state
        listener = try LoopbackListener(
            try .named(configuration.address, port: 0, ipv6: configuration.ipv6),
            maximumConnections: configuration.maximumConnections, timeLimit: configuration.timeLimit
        ) { state.serve($0) }
    }

    /// Starts a server with this identity's chain that answers HTTP with `handler`.
    public convenience init(
        _ identity: Identity, configure: (inout TLSServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws {
        var configuration = TLSServerConfiguration(.init(identity))
        configuration.application = .http(handler)
        configure(&configuration)
        try self.init(configuration)
    }

    public var port: UInt16 { listener.port }

    /// `https://host:port/`; the host should be one that leads here.
    public func url(host: String = "localhost") -> String {
        "https://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// Refuses new connections, ends those that are open and waits for their threads. A handler
    /// that does not return is waited for.
    public func close() { listener.close() }

    /// Shows other certificates from the next handshake on, as after a renewal or a rotation. Names
    /// with credentials of their own keep them.
    public func replaceCredential(_ credential: TLSServerConfiguration.Credential) throws(MintingError) {
        state.replaceCredential(try TLSCredential(credential))
    }

    /// One record for each connection accepted, oldest first.
    public var connections: [TLSConnectionRecord] { state.connections }

    /// HTTP requests received, oldest first; of many, the newest 256.
    public var requests: [HTTPRequest] { state.requests }

    public var connectionCount: Int { connections.count }

    /// Handshakes in which the client accepted the certificate, or resumed a session.
    public var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// Application bytes received on all connections, decrypted: what an interceptor would have got.
    public var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// Alerts from clients, by connection and then in order.
    public var alertsReceived: [LoopbackTLSServer.Alert] { connections.flatMap(\.alertsReceived) }

    /// Names seen in SNI, one for each connection that sent one.
    public var serverNames: [String] { connections.compactMap(\.serverName) }

    /// Waits until the records satisfy `condition`, which is how a test waits for what the client's
    /// last bytes bring about; false where they do not in time.
    public func wait(
        seconds: Double = 5, until condition: ([TLSConnectionRecord]) -> Bool
    ) -> Bool {
        let deadline = Deadline(seconds: seconds)
        while !condition(connections) {
            if deadline.isOver { return false }
            usleep(1_000)
        }
        return true
    }

    /// Waits until no connection waits to be taken and all are over; false where the time was up first.
    func waitUntilIdle(seconds: Double) -> Bool { listener.waitUntilIdle(seconds: seconds) }

    /// Waits until at least `count` connections were accepted and all that were are over.
    public func waitUntilClosed(connections count: Int = 1, seconds: Double = 5) -> Bool {
        wait(seconds: seconds) { $0.count >= count && $0.allSatisfy(\.isClosed) }
    }
}
