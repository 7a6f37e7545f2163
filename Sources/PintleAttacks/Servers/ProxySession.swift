internal import PintleSystem
internal import PintleTestKit

/// One connection to a loopback proxy.
struct ProxySession {
    let client: TCPConnection
    let credentials: LoopbackProxy.Credentials?
    /// The bytes that tell the client that its tunnel is open; `nil` for the usual ones.
    let opening: [UInt8]?
    let route: @Sendable (String, UInt16) -> LoopbackProxy.Destination?
    let refusal: (@Sendable (TCPConnection) -> Void)?
    /// Gets each request with an absolute URL, and returns `true` to refuse it.
    let clear: (@Sendable (LoopbackProxy.ClearRequest) -> Bool)?
    /// Gets each other request that is no tunnel, with the URL in its first line if there is one.
    let unreadable: (@Sendable (LoopbackProxy.ClearRequest?) -> Void)?
    let update: @Sendable ((inout LoopbackProxy.Record) -> Void) -> Void

    /// Serves either protocol. Another one, such as SOCKS 4 or TLS, ends with its first byte, so that its client need
    /// not wait.
    func serveAny() throws {
        let first = try client.read(exactly: 1)
        switch first[0] {
        case 5: try serveSOCKS(firstBytes: first)
        // Methods in lower case, and line breaks before them, are wrong, and servers take them.
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 0x0D, 0x0A:
            try serveHTTP(firstBytes: first, takesURLs: true)
        default: break
        }
    }

    // MARK: HTTP

    /// - Parameters:
    ///   - firstBytes: Bytes of the request that were read already.
    ///   - takesURLs: `true` to route plain HTTP requests with an absolute URL too.
    func serveHTTP(firstBytes: [UInt8] = [], takesURLs: Bool = false) throws {
        var reader = HTTPReader(client, unread: firstBytes)
        while let request = try nextHead(&reader) {
            guard isAuthorized(request["proxy-authorization"]) else {
                update { $0.isUnauthorized = true }
                try answer("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"test\"\r\n")
                continue
            }
            let isTunnel = request.method == "CONNECT"
            let head = Self.head(of: request) + reader.unread
            let clearRequest = isTunnel || !takesURLs ? nil : ProxySession.clearRequest(request.target, head.count)
            if let refusal, let clearRequest, clear?(clearRequest) == true { return refusal(client) }
            let target =
                isTunnel
                ? ProxySession.authority(request.target)
                : clearRequest.flatMap { $0.scheme == "http" ? ($0.host, $0.port) : nil }
            guard let target else {
                report(Array("\(request.method) \(request.target)".utf8), head.count)
                return try answer("405 Method Not Allowed", "Connection: close\r\n")
            }
            guard let serve = open(to: target.host, port: target.port) else {
                if let refusal { return refusal(client) }
                return try answer("502 Bad Gateway", "Connection: close\r\n")
            }
            guard isTunnel else { return try serve(head) }
            try client.write(opening ?? Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8))
            return try serve(reader.unread)
        }
    }

    private func nextHead(_ reader: inout HTTPReader) throws -> HTTPRequest? {
        do {
            return try reader.head()
        } catch {
            report(reader.unread, reader.unread.count)
            throw error
        }
    }

    /// Reports a request that the proxy cannot answer. Others on the way may read it all the same.
    private func report(_ bytes: [UInt8], _ byteCount: Int) {
        guard !bytes.isEmpty else { return }
        let line = bytes.drop { $0 == 0x0D || $0 == 0x0A }.prefix { $0 != 0x0A }.prefix(4_096)
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        unreadable?(words.lazy.compactMap { Self.clearRequest(String($0), byteCount) }.first)
    }

    /// Returns the request line and the fields as the client sent them, but for spaces around values.
    private static func head(of request: HTTPRequest) -> [UInt8] {
        let fields = request.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("\(request.method) \(request.target) \(request.version)\r\n\(fields)\r\n".utf8)
    }

    /// Returns scheme, host and port of an absolute URL (RFC 3986 section 3.1).
    private static func clearRequest(_ text: String, _ byteCount: Int) -> LoopbackProxy.ClearRequest? {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let first = scheme.utf8.first, 0x61...0x7A ~= first,
            scheme.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) })
        else { return nil }
        let authority = String(text[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        let ports: [String: UInt16] = ["https": 443, "wss": 443, "ftp": 21]
        guard let target = Self.authority(authority, standard: ports[scheme] ?? 80) else { return nil }
        return .init(host: target.host, port: target.port, scheme: scheme, byteCount: byteCount)
    }

    private func answer(_ status: String, _ fields: String) throws {
        try client.write(Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\(fields)\r\n".utf8))
    }

    private func isAuthorized(_ value: String?) -> Bool {
        guard let credentials else { return true }
        return value == "Basic " + Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString()
    }

    /// Returns host and port of an authority (RFC 3986 section 3.2) without its user information, which may be secret.
    ///
    /// - Parameter standard: the port of an authority without one; `nil` if it must have one.
    private static func authority(_ text: String, standard: UInt16? = nil) -> (host: String, port: UInt16)? {
        var host = text[...]
        if let sign = host.lastIndex(of: "@") { host = host[host.index(after: sign)...] }
        var port = standard
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            port = UInt16(host[host.index(after: colon)...])
            host = host[..<colon]
        }
        if host.first == "[" && host.last == "]" { host = host.dropFirst().dropLast() }
        guard let port, !host.isEmpty else { return nil }
        return (String(host), port)
    }

    // MARK: SOCKS 5

    func serveSOCKS(firstBytes: [UInt8] = []) throws {
        let greeting = firstBytes + (try client.read(exactly: 2 - firstBytes.count))
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
        guard let serve = open(to: host, port: port) else {
            // 2: not allowed by the rules; 5: connection refused (RFC 1928 section 6).
            return try reply(refusal == nil ? 5 : 2)
        }
        if let opening { try client.write(opening) } else { try reply(0) }
        try serve([])
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

    /// Returns a closure that serves the tunnel to a host and takes the first bytes of the client, or `nil` if there is
    /// no way to the host.
    private func open(to host: String, port: UInt16) -> (([UInt8]) throws -> Void)? {
        update { record in
            record.host = host
            record.port = port
        }
        let serve: ([UInt8]) throws -> Void
        switch route(host, port) {
        case nil: return nil
        case .here(let body): serve = { body(client, $0) }
        case .port(let target):
            guard let server = try? client.connect(toPort: target, ipv6: host == "::1") else { return nil }
            // A tunnel lasts as long as its two ends. Only the way to it is limited.
            client.removeTimeLimit()
            serve = { try relay(with: server, firstBytes: $0) }
        }
        update { $0.isOpen = true }
        return serve
    }

    private func relay(with server: TCPConnection, firstBytes: [UInt8]) throws {
        try server.write(firstBytes)
        update { $0.bytesToServer += firstBytes.count }
        // One thread for each direction, so that neither waits for the other.
        let wayBack = ThreadGroup()
        let started = wayBack.start { [client, update] in
            ProxySession.copy(from: server, to: client) { count in update { $0.bytesToClient += count } }
            // The server has ended. A client that keeps its side open must not keep the tunnel.
            client.stall(seconds: 1)
            client.shutdownReading()
        }
        guard started else { throw StreamError(reason: "no thread for the bytes from the server") }
        ProxySession.copy(from: client, to: server) { count in update { $0.bytesToServer += count } }
        wayBack.joinAll()
    }

    /// Copies until the source ends its side, then ends the target's.
    ///
    /// A client that has not read all bytes resets its connection, and the server must see that.
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
        if source.peerHasDroppedBytes() {
            target.resetOnClose()
            target.shutdownReading()
        } else {
            target.shutdownWriting()
        }
    }
}
