internal import Synchronization

/// A forward proxy on loopback that counts what it relays.
///
/// Every name leads to this machine: a request for `example.com:443` is connected to a port here,
/// which `route` chooses, so that tests need no name service and reach nobody else.
public final class LoopbackProxy: Sendable {
    /// The language a proxy speaks.
    public enum Kind: Sendable, Hashable {
        /// HTTP CONNECT (RFC 9110 section 9.3.6), with Basic authentication.
        case httpConnect
        /// SOCKS 5 (RFC 1928), with a user name and password (RFC 1929). A client that looks names
        /// up itself (curl's `socks5`, as against `socks5h`) asks for addresses.
        case socks5
    }

    /// What a client has to present.
    public struct Credentials: Sendable, Hashable {
        public var user: String
        public var password: String

        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// What the proxy saw of one connection.
    public struct Record: Sendable, Hashable {
        /// The host asked for, as the client wrote it; addresses in their usual notation.
        public internal(set) var host: String?
        public internal(set) var port: UInt16?
        /// Whether the tunnel was opened.
        public internal(set) var isOpen = false
        /// Whether it was refused for want of the right credentials.
        public internal(set) var isUnauthorized = false
        public internal(set) var bytesToServer = 0
        public internal(set) var bytesToClient = 0
        public internal(set) var isClosed = false

        public init() {}
    }

    public let kind: Kind
    private let listener: LoopbackListener
    private let log: Log

    /// Starts a proxy on 127.0.0.1.
    /// - Parameters:
    ///   - credentials: `nil` lets everyone in.
    ///   - route: The port on loopback for a host and port asked for; `nil` refuses. The host `::1`
    ///     is reached over IPv6, any other over IPv4.
    public convenience init(
        _ kind: Kind, credentials: Credentials? = nil,
        route: @escaping @Sendable (_ host: String, _ port: UInt16) -> UInt16? = { _, port in port }
    ) throws(SystemCallError) {
        try self.init(kind, credentials: credentials, route: route, refusal: nil)
    }

    /// Starts a proxy that answers a CONNECT without a route in its own way.
    /// - Parameter refusal: Writes the answer; the connection ends when it returns.
    package init(
        _ kind: Kind, credentials: Credentials? = nil,
        route: @escaping @Sendable (_ host: String, _ port: UInt16) -> UInt16?,
        refusal: (@Sendable (TCPConnection) -> Void)?
    ) throws(SystemCallError) {
        let log = Log()
        self.kind = kind
        self.log = log
        listener = try LoopbackListener(.loopback(port: 0), maximumConnections: 32) { client in
            let index = log.append()
            let session = ProxySession(client: client, credentials: credentials, route: route, refusal: refusal) {
                log.note(index, $0)
            }
            // Either side may hang up at any time; what was relayed until then is on record.
            switch kind {
            case .httpConnect: try? session.serveConnect()
            case .socks5: try? session.serveSOCKS()
            }
            log.note(index) { $0.isClosed = true }
        }
    }

    public var port: UInt16 { listener.port }

    /// One record for each connection accepted, oldest first.
    public var connections: [Record] { log.records.withLock { $0 } }

    /// Ends all connections and waits for their threads.
    public func close() { listener.close() }

    private final class Log: Sendable {
        let records = Mutex<[Record]>([])

        func append() -> Int {
            records.withLock { records in
                records.append(Record())
                return records.count - 1
            }
        }

        func note(_ index: Int, _ change: (inout Record) -> Void) {
            records.withLock { change(&$0[index]) }
        }
    }
}
