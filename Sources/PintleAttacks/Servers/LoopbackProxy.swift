package import PintleTestKit
internal import Synchronization

/// A forward proxy on loopback that counts what it relays.
///
/// Every name leads to this machine: the proxy connects a request for `example.com:443` to the port on loopback that
/// `route` returns. So tests need no name service and reach no other machine.
package final class LoopbackProxy: Sendable {
    /// A proxy protocol.
    package enum Kind: Sendable, Hashable {
        /// HTTP CONNECT (RFC 9110 section 9.3.6), with Basic authentication.
        case httpConnect
        /// SOCKS 5 (RFC 1928), with a user name and password (RFC 1929). A client that resolves names itself (curl's
        /// `socks5`, in contrast to `socks5h`) asks for addresses.
        case socks5
        /// Both on one port, and plain HTTP requests with an absolute URL (RFC 9112 section 3.2.2). The first byte of a
        /// connection selects the protocol: 5 is SOCKS.
        case any
    }

    /// The user name and password that a client must present.
    package struct Credentials: Sendable, Hashable {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// A record of one connection to the proxy.
    package struct Record: Sendable, Hashable {
        /// The requested host as the client wrote it; addresses in their usual notation.
        package internal(set) var host: String?
        package internal(set) var port: UInt16?
        /// A Boolean value that indicates whether the tunnel was opened.
        package internal(set) var isOpen = false
        /// A Boolean value that indicates whether the proxy refused because credentials were missing or wrong.
        package internal(set) var isUnauthorized = false
        package internal(set) var bytesToServer = 0
        package internal(set) var bytesToClient = 0
        package internal(set) var isClosed = false

        package init() {}
    }

    /// A request that a client sent to the proxy itself, with an absolute URL, and not through a tunnel. The proxy can
    /// read it.
    package struct ClearRequest: Sendable {
        let host: String
        let port: UInt16
        /// In lower case. A request for another scheme than `http` cannot be answered: its client should have asked
        /// for a tunnel.
        let scheme: String
        /// The number of bytes that the proxy has read of it.
        let byteCount: Int
    }

    /// The end of a tunnel.
    package enum Destination: Sendable {
        /// A port on loopback, to which the proxy connects.
        case port(UInt16)
        /// The proxy itself. The closure gets the client's connection and the bytes that were read from it already:
        /// those of a request with an absolute URL, or none. The connection ends when it returns.
        case here(@Sendable (TCPConnection, [UInt8]) -> Void)
    }

    private let server: LoopbackTCPServer
    private let log: Log

    /// Starts a proxy on 127.0.0.1.
    /// - Parameters:
    ///   - credentials: `nil` accepts every client.
    ///   - opening: The bytes that tell a client that its tunnel is open, for broken proxies; `nil` for the usual ones.
    ///   - route: Returns the port on loopback for a requested host and port, or `nil` to refuse. The proxy connects to
    ///     the host `::1` over IPv6, and to any other over IPv4.
    package convenience init(
        _ kind: Kind, credentials: Credentials? = nil, opening: [UInt8]? = nil,
        route: @escaping @Sendable (_ host: String, _ port: UInt16) -> UInt16? = { _, port in port }
    ) throws(SystemCallError) {
        try self.init(
            kind, credentials: credentials, opening: opening, route: { route($0, $1).map(Destination.port) },
            refusal: nil)
    }

    /// Starts a proxy that calls `refusal` to answer an HTTP request without a route.
    /// - Parameters:
    ///   - address: The address to listen at instead of 127.0.0.1, an IPv4 or IPv6 literal. Other machines may reach
    ///     it.
    ///   - port: The port to listen at; with 0 the system chooses one.
    ///   - opening: The bytes that tell a client that its tunnel is open; `nil` for the usual ones.
    ///   - timeLimit: The time for all that a client sends before its tunnel to a port opens, or until a tunnel that
    ///     ends here is over, in seconds; `nil` for no limit.
    ///   - peer: The only address that the proxy serves, an IPv4 or IPv6 literal; `nil` for every address.
    ///   - refusal: Writes the answer; the connection ends when it returns. A SOCKS client gets reply 2 instead.
    ///   - clear: Gets each request with an absolute URL, and returns `true` to refuse it.
    ///   - unreadable: Gets each other request, and the URL in its first line if there is one. The proxy answers none.
    package init(
        _ kind: Kind, listeningAt address: String? = nil, port: UInt16 = 0, onlyFrom peer: String? = nil,
        credentials: Credentials? = nil, opening: [UInt8]? = nil, timeLimit: Double? = nil,
        route: @escaping @Sendable (_ host: String, _ port: UInt16) -> Destination?,
        refusal: (@Sendable (TCPConnection) -> Void)?,
        clear: (@Sendable (ClearRequest) -> Bool)? = nil, unreadable: (@Sendable (ClearRequest?) -> Void)? = nil
    ) throws(SystemCallError) {
        let log = Log()
        self.log = log
        server = try LoopbackTCPServer(listeningAt: address, port: port, timeLimit: timeLimit) { client in
            if let peer, !client.isFrom(peer) { return }
            let index = log.append()
            let session = ProxySession(
                client: client, credentials: credentials, opening: opening, route: route, refusal: refusal,
                clear: clear, unreadable: unreadable
            ) { log.update(index, $0) }
            // Either side may disconnect at any time. The record has the bytes relayed until then.
            switch kind {
            case .httpConnect: try? session.serveHTTP()
            case .socks5: try? session.serveSOCKS()
            case .any: try? session.serveAny()
            }
            log.end(index)
        }
    }

    /// Answers a request for a host without a route.
    @Sendable static func forbid(_ client: TCPConnection) {
        try? client.write(Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
    }

    package var port: UInt16 { server.port }

    /// One record for each connection accepted, oldest first. Of ended connections only the last 10,000 are kept.
    package var connections: [Record] {
        log.records.withLock { $0.kept.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The number of connections accepted.
    package var connectionCount: Int { log.records.withLock { $0.count } }

    /// Waits until no connection is queued or open. Returns `false` after a time-out.
    func waitUntilIdle(seconds: Double) -> Bool { server.waitUntilIdle(seconds: seconds) }

    /// Ends all connections and waits for their threads.
    package func close() { server.close() }

    private final class Log: Sendable {
        struct Records {
            var count = 0
            var kept: [Int: Record] = [:]
            /// The numbers of ended connections. When it is full, a number takes the place of the oldest one.
            var ended: [Int] = []
            var oldest = 0
        }

        let records = Mutex(Records())
        private static let limit = 10_000

        func append() -> Int {
            records.withLock { records in
                defer { records.count += 1 }
                records.kept[records.count] = Record()
                return records.count
            }
        }

        func update(_ number: Int, _ change: (inout Record) -> Void) {
            records.withLock { records in
                if records.kept[number] != nil { change(&records.kept[number, default: Record()]) }
            }
        }

        func end(_ number: Int) {
            update(number) { $0.isClosed = true }
            records.withLock { records in
                guard records.ended.count == Self.limit else { return records.ended.append(number) }
                records.kept[records.ended[records.oldest]] = nil
                records.ended[records.oldest] = number
                records.oldest = (records.oldest + 1) % Self.limit
            }
        }
    }
}
