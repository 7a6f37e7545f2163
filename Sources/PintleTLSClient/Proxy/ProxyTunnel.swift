internal import Pintle
internal import PintleOpenSSL
internal import PintleStorage
internal import PintleSystem

/// A tunnel that a proxy opens to the server. A proxy's answer may be slow, huge or malformed; it never reaches
/// OpenSSL.
struct ProxyTunnel: ~Copyable {
    let proxy: ServerEndpoint
    let socket: Socket
    let deadline: Deadline
    let timeout: Duration

    /// Connects to the proxy within `timeout`. The proxy then has the same time again to connect to `destination`.
    static func open(
        _ configuration: ProxyConfiguration, to destination: ServerEndpoint, timeout: Duration
    ) throws(HandshakeError) -> Socket {
        let proxy: ServerEndpoint
        switch configuration {
        case .none: return try TCPConnector.connect(to: destination, as: .server, timeout: timeout)
        case .http(let endpoint, _), .socks5(let endpoint, _, _), .socks4a(let endpoint, _): proxy = endpoint
        }
        let socket = try TCPConnector.connect(to: proxy, as: .proxy, timeout: timeout)
        let tunnel = ProxyTunnel(
            proxy: proxy, socket: socket, deadline: Deadline(after: timeout), timeout: timeout
        )
        switch configuration {
        case .none: break
        case .http(_, let credentials):
            try tunnel.openByConnect(to: destination, credentials: credentials)
        case .socks5(_, let credentials, let remoteDNS):
            try tunnel.openBySOCKS5(to: destination, credentials: credentials, remoteDNS: remoteDNS)
        case .socks4a(_, let user):
            try tunnel.openBySOCKS4a(to: destination, user: user)
        }
        return tunnel.intoSocket()
    }

    private consuming func intoSocket() -> Socket { socket }

    borrowing func send(_ bytes: [UInt8]) throws(HandshakeError) {
        do throws(SocketError) { try socket.send(bytes, until: deadline) } catch { throw failure(error) }
    }

    borrowing func receive(atMost limit: Int) throws(HandshakeError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SocketError) {
            bytes = try socket.receive(atMost: limit, until: deadline)
        } catch {
            throw failure(error)
        }
        guard !bytes.isEmpty else { throw mismatch("it closed the connection") }
        return bytes
    }

    /// Reads exactly `count` bytes, because the bytes after them belong to the tunnel.
    borrowing func receive(exactly count: Int) throws(HandshakeError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += try receive(atMost: count - bytes.count) }
        return bytes
    }

    /// Returns the error for an answer that this kind of proxy does not give.
    func mismatch(_ what: String) -> HandshakeError {
        HandshakeError(
            .proxyProtocol, "the proxy \(proxy) cannot be used: \(what)",
            hint: "check the scheme and the port in HTTPS_PROXY and ALL_PROXY (http://, socks5h://)"
        )
    }

    func refused(_ destination: ServerEndpoint, _ what: String) -> HandshakeError {
        HandshakeError(
            .proxyRefused, "the proxy \(proxy) refused to connect to \(destination): \(what)",
            hint: "ask who runs the proxy; NO_PROXY names the hosts that are reached without it"
        )
    }

    func unauthenticated(_ credentialsWereSent: Bool) -> HandshakeError {
        HandshakeError(
            .proxyAuthenticationRequired,
            credentialsWereSent
                ? "the proxy \(proxy) did not accept the user name and password"
                : "the proxy \(proxy) wants a user name and password",
            hint: "write them into HTTPS_PROXY, percent-encoded: http://user:password@host:port (Basic only)"
        )
    }

    private func failure(_ failure: SocketError) -> HandshakeError {
        switch failure {
        case .timedOut:
            HandshakeError(
                .proxyTimeout, "the proxy \(proxy) did not open a connection within \(timeout.inSeconds)",
                hint: "--connect-timeout waits longer; NO_PROXY names the hosts that are reached without it"
            )
        case .broken(let error): mismatch(Descriptor.errorText(error))
        }
    }
}
