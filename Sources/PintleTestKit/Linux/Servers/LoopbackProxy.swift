internal import Glibc
internal import Synchronization

/// A forward proxy on loopback that counts what it relays.
///
/// Every name leads to this machine: the proxy connects a request for `example.com:443` to the port on loopback that `route`
/// returns. So tests need no name service and reach no other machine.
package final class LoopbackProxy: Sendable {
    /// A proxy protocol.
    package enum Kind: Sendable, Hashable {
        /// HTTP CONNECT (RFC 9110 section 9.3.6), with Basic authentication.
        case httpConnect
        /// SOCKS 5 (RFC 1928), with a user name and password (RFC 1929). A client that resolves names itself (curl's
        /// `socks5`, in contrast to `socks5h`) asks for addresses.
        case socks5
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

    package let kind: Kind
    private let listener: LoopbackListener
    private let log: Log

    /// Starts a proxy on 127.0.0.1.
    /// - Parameters:
    ///   - credentials: `nil` accepts every client.
    ///   - route: Returns the port on loopback for a requested host and port, or `nil` to refuse. The proxy connects to
    ///     the host `::1` over IPv6, and to any other over IPv4.
    package convenience init(
        _ kind: Kind, credentials: Credentials? = nil,
        route: @escaping @Sendable (_ host: String, _ port: UInt16) -> UInt16? = { _, port in port }
    ) throws(SystemCallError) {
        try self.init(kind, credentials: credentials, route: route, refusal: nil)
    }

    /// Starts a proxy that calls `refusal` to answer a CONNECT request without a route.
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
                log.update(index, $0)
            }
            // Either side may disconnect at any time. The record has the bytes relayed until then.
            switch kind {
            case .httpConnect: try? session.serveConnect()
            case .socks5: try? session.serveSOCKS()
            }
            log.update(index) { $0.isClosed = true }
        }
    }

    package var port: UInt16 { listener.port }

    /// One record for each connection accepted, oldest first.
    package var connections: [Record] { log.records.withLock { $0 } }

    /// Ends all connections and waits for their threads.
    package func close() { listener.close() }

    private final class Log: Sendable {
        let records = Mutex<[Record]>([])

        func append() -> Int {
            records.withLock { records in
                records.append(Record())
                return records.count - 1
            }
        }

        func update(_ index: Int, _ change: (inout Record) -> Void) {
            records.withLock { change(&$0[index]) }
        }
    }
}

/// One connection to a loopback proxy.
struct ProxySession {
    let client: TCPConnection
    let credentials: LoopbackProxy.Credentials?
    let route: @Sendable (String, UInt16) -> UInt16?
    let refusal: (@Sendable (TCPConnection) -> Void)?
    let update: @Sendable ((inout LoopbackProxy.Record) -> Void) -> Void

    // MARK: HTTP CONNECT

    func serveConnect() throws {
        var reader = HTTPReader(client)
        while let request = try reader.head() {
            guard isAuthorized(request["proxy-authorization"]) else {
                update { $0.isUnauthorized = true }
                try answer("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"test\"\r\n")
                continue
            }
            guard request.method == "CONNECT", let target = ProxySession.authority(request.target) else {
                return try answer("405 Method Not Allowed", "Connection: close\r\n")
            }
            guard let server = connect(to: target.host, port: target.port) else {
                if let refusal { return refusal(client) }
                return try answer("502 Bad Gateway", "Connection: close\r\n")
            }
            try client.write(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8))
            return try relay(with: server, firstBytes: reader.unread)
        }
    }

    private func answer(_ status: String, _ fields: String) throws {
        try client.write(Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\(fields)\r\n".utf8))
    }

    private func isAuthorized(_ value: String?) -> Bool {
        guard let credentials else { return true }
        let expected = PEM.base64(Array("\(credentials.user):\(credentials.password)".utf8))
        return value == "Basic " + String(decoding: expected, as: UTF8.self)
    }

    private static func authority(_ text: String) -> (host: String, port: UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[" && host.last == "]" { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }

    // MARK: SOCKS 5

    func serveSOCKS() throws {
        let greeting = try client.read(exactly: 2)
        let methods = try client.read(exactly: Int(greeting[1]))
        let method: UInt8 = credentials == nil ? 0 : 2
        guard greeting[0] == 5, methods.contains(method) else {
            update { $0.isUnauthorized = true }
            return try client.write([5, 0xFF])
        }
        try client.write([5, method])
        if let credentials {
            let user = try authenticationField(skipping: 1)
            let password = try authenticationField(skipping: 0)
            let isRight = user == Array(credentials.user.utf8) && password == Array(credentials.password.utf8)
            try client.write([1, isRight ? 0 : 1])
            guard isRight else { return update { $0.isUnauthorized = true } }
        }
        let request = try client.read(exactly: 4)
        let host = try address(ofType: request[3])
        let port = try client.read(exactly: 2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        guard request[1] == 1, let host else { return try reply(7) }
        guard let server = connect(to: host, port: port) else { return try reply(5) }
        try reply(0)
        try relay(with: server, firstBytes: [])
    }

    private func reply(_ code: UInt8) throws {
        // The address that the proxy connected from, which clients ignore.
        try client.write([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    private func authenticationField(skipping count: Int) throws -> [UInt8] {
        let length = try client.read(exactly: count + 1)
        return try client.read(exactly: Int(length.last ?? 0))
    }

    private func address(ofType type: UInt8) throws -> String? {
        switch type {
        case 1: return ProxySession.text(of: try client.read(exactly: 4), family: AF_INET)
        case 4: return ProxySession.text(of: try client.read(exactly: 16), family: AF_INET6)
        case 3:
            let length = try client.read(exactly: 1)
            return String(decoding: try client.read(exactly: Int(length[0])), as: UTF8.self)
        default: return nil
        }
    }

    private static func text(of octets: [UInt8], family: Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        return inet_ntop(family, octets, &buffer, socklen_t(buffer.count)).map { String(cString: $0) }
    }

    // MARK: Tunnel

    private func connect(to host: String, port: UInt16) -> TCPConnection? {
        update { record in
            record.host = host
            record.port = port
        }
        guard let target = route(host, port),
            let descriptor = try? SocketAddress.loopback(port: target, ipv6: host == "::1").connected()
        else { return nil }
        update { $0.isOpen = true }
        return TCPConnection(descriptor, stop: client.stop)
    }

    private func relay(with server: TCPConnection, firstBytes: [UInt8]) throws {
        try server.write(firstBytes)
        update { $0.bytesToServer += firstBytes.count }
        // One thread for each direction, so that neither waits for the other.
        let wayBack = ThreadGroup()
        let started = wayBack.start { [client, update] in
            ProxySession.copy(from: server, to: client) { count in update { $0.bytesToClient += count } }
        }
        guard started else { throw StreamError(reason: "no thread for the bytes from the server") }
        ProxySession.copy(from: client, to: server) { count in update { $0.bytesToServer += count } }
        wayBack.joinAll()
    }

    /// Copies until the source ends its side, then ends the target's.
    private static func copy(from source: TCPConnection, to target: TCPConnection, willCopy: (Int) -> Void) {
        do {
            while true {
                let bytes = try source.read(upTo: 65_536)
                guard !bytes.isEmpty else { break }
                // Count before writing, so that a peer that has the bytes finds them counted.
                willCopy(bytes.count)
                try target.write(bytes)
            }
        } catch {
            // The target accepts no more bytes, so the source must not wait for it.
            source.shutdownReading()
        }
        target.shutdownWriting()
    }
}
