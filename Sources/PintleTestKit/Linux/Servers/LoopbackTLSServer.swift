internal import COpenSSL
internal import PintleSystem

/// A real TLS server on loopback that presents the certificates of a test and counts the bytes that clients send.
///
/// ```swift
/// let root = try CertificateAuthority.root()
/// let server = try LoopbackTLSServer(root.issue(hosts: ["localhost"]))
/// // ... point a client at server.url(host: "localhost") ...
/// #expect(server.requestByteCount == 0)
/// ```
///
/// The server listens on 127.0.0.1 or `::1` at a port that the system chooses, and serves each connection on a thread
/// of its own. It stops when it is closed or the last reference to it is released. All members can be used from any
/// thread.
public final class LoopbackTLSServer: Sendable {
    private let state: TLSServerState
    private let listener: LoopbackListener

    /// Starts a server.
    package init(_ configuration: TLSServerConfiguration) throws {
        let state = try TLSServerState(configuration)
        self.state = state
        listener = try LoopbackListener(
            try .named(configuration.address, port: configuration.port, ipv6: configuration.ipv6),
            maximumConnections: configuration.maximumConnections, timeLimit: configuration.timeLimit
        ) { state.serve($0) }
    }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - identity: the certificates that the server presents, and its key.
    ///   - configure: changes the configuration before the server starts.
    ///   - handler: answers an HTTP request, on the connection's thread. The server speaks HTTP/2 if ALPN selects `h2`,
    ///     and HTTP/1.1 otherwise.
    /// - Throws: ``MintingError`` if OpenSSL cannot use the key or the certificates, or an error of the system if the
    ///   server cannot listen.
    public convenience init(
        _ identity: Identity, configure: (inout TLSServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws {
        var configuration = TLSServerConfiguration(TLSServerConfiguration.Credential(identity))
        configuration.application = .http(handler)
        configure(&configuration)
        try self.init(configuration)
    }

    /// The TCP port that the server listens at.
    public var port: UInt16 { listener.port }

    /// Returns the server's URL, such as `https://localhost:49152/`.
    ///
    /// - Parameter host: a name or address that leads to loopback. IPv6 addresses get brackets.
    public func url(host: String = "localhost") -> String {
        "https://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// Refuses new connections, ends open ones and waits for their threads, also for a handler that is still running.
    public func close() { listener.close() }

    /// Presents other certificates from the next handshake on, as after a renewal or a rotation.
    ///
    /// - Parameter identity: the certificates that the server presents, and its key.
    /// - Throws: ``MintingError`` if OpenSSL cannot use the key or the certificates.
    public func replaceIdentity(_ identity: Identity) throws(MintingError) {
        try replaceCredential(TLSServerConfiguration.Credential(identity))
    }

    /// Presents other certificates from the next handshake on. Names with credentials of their own keep them.
    package func replaceCredential(_ credential: TLSServerConfiguration.Credential) throws(MintingError) {
        state.replaceCredential(try TLSCredential(credential))
    }

    /// One record for each connection accepted, oldest first.
    public var connections: [TLSConnectionRecord] { state.connections }

    /// The newest 256 HTTP requests, oldest first.
    public var requests: [HTTPRequest] { state.requests }

    /// The number of connections accepted.
    public var connectionCount: Int { connections.count }

    /// The number of handshakes in which the client accepted the certificate or resumed a session.
    public var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// The number of application bytes received on all connections, after decryption. If the server acts as an
    /// interceptor, these are the bytes that the client exposed. Over HTTP/2 only frames with parts of requests count.
    public var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// Alerts from clients, by connection and then by time.
    package var alertsReceived: [LoopbackTLSServer.Alert] { connections.flatMap(\.alertsReceived) }

    /// The names in SNI, one for each connection that sent one.
    public var serverNames: [String] { connections.compactMap(\.serverName) }

    /// Waits until the records satisfy a condition, for effects of the client's last bytes.
    ///
    /// - Parameters:
    ///   - seconds: the longest time to wait.
    ///   - condition: checks the records; it is called about once a millisecond.
    /// - Returns: `false` if the condition is not met in time.
    public func wait(
        seconds: Double = 30, until condition: ([TLSConnectionRecord]) -> Bool
    ) -> Bool {
        let deadline = Deadline(seconds: seconds)
        while !condition(connections) {
            if deadline.hasPassed { return false }
            usleep(1_000)
        }
        return true
    }

    /// Waits until no connection is queued or open. Returns `false` after a time-out.
    package func waitUntilIdle(seconds: Double) -> Bool { listener.waitUntilIdle(seconds: seconds) }

    /// A Boolean value that indicates whether no connection is queued, and the server has answered every request of the
    /// open ones.
    package var isAnswered: Bool { listener.isIdle(besides: state.answeredCount) }

    /// Waits until the server has accepted a number of connections and all its connections have ended.
    ///
    /// - Parameters:
    ///   - count: the smallest number of connections.
    ///   - seconds: the longest time to wait.
    /// - Returns: `false` if that does not happen in time.
    public func waitUntilClosed(connections count: Int = 1, seconds: Double = 30) -> Bool {
        wait(seconds: seconds) { $0.count >= count && $0.allSatisfy(\.isClosed) }
    }
}

/// A loopback TLS server's record of one connection, which may still be open.
public struct TLSConnectionRecord: Sendable, Hashable {
    /// The name in SNI; `nil` if the client sent none.
    public internal(set) var serverName: String?
    /// A Boolean value that indicates whether the client sent its Finished message, so that it accepted the
    /// certificate.
    public internal(set) var isHandshakeComplete = false
    /// The reason of a failed handshake, in OpenSSL's words.
    public internal(set) var handshakeFailure: String?
    /// A Boolean value that indicates whether the handshake resumed a session, without a certificate.
    public internal(set) var isResumed = false
    package internal(set) var version: LoopbackTLSServer.Version?
    /// The protocol selected by ALPN, also if the client then refused the certificate.
    public internal(set) var applicationProtocol: String?
    /// Alerts from the client, in order: a client that refuses a certificate should say so.
    package internal(set) var alertsReceived: [LoopbackTLSServer.Alert] = []
    /// Alerts to the client, in order.
    package internal(set) var alertsSent: [LoopbackTLSServer.Alert] = []
    /// The number of application bytes received, after decryption. Over HTTP/2 only HEADERS, CONTINUATION and DATA
    /// frames count, with their headers, and all bytes from the first that are not HTTP/2.
    public internal(set) var requestByteCount = 0
    /// The number of those bytes that belong to requests for a host to which another certificate belongs. A client
    /// sends them if it uses one connection for two hosts (RFC 9113 section 9.1.1).
    package internal(set) var misdirectedByteCount = 0
    /// The number of bytes read from a connection that did not begin with a TLS record (RFC 8446 section 5.1). A client
    /// sends them when it falls back to plain HTTP.
    public internal(set) var clearByteCount = 0
    /// The number of HTTP requests received.
    public internal(set) var requestCount = 0
    /// The first bytes received, up to ``TLSServerConfiguration/transcriptLimit``: after decryption, or those of a
    /// connection that did not begin with a TLS record.
    package internal(set) var received: [UInt8] = []
    /// The client's certificates, DER, leaf first, whether or not the client proved that it has the key; empty if it
    /// showed none.
    public internal(set) var clientCertificates: [[UInt8]] = []
    /// A Boolean value that indicates whether the client signed the handshake (CertificateVerify, RFC 8446 section
    /// 4.4.3).
    public internal(set) var hasClientSignature = false
    /// A Boolean value that indicates whether the client offers to authenticate itself after the handshake (RFC 8446
    /// section 4.2.6).
    package internal(set) var offersLateAuthentication = false
    /// A Boolean value that indicates whether the client's first bytes were those of a TLS handshake.
    package internal(set) var hasBegunHandshake = false
    /// A Boolean value that indicates whether the server answered the ClientHello with its certificates.
    package internal(set) var hasPresented = false
    /// A Boolean value that indicates whether the client closed its socket before it had read all of the server's
    /// bytes.
    package internal(set) var hasDroppedBytes = false
    /// The time of the first bytes.
    package internal(set) var begin: ContinuousClock.Instant?
    /// The time of the first byte of a request.
    package internal(set) var firstRequest: ContinuousClock.Instant?
    /// The time at which the client ended its side, or else the server.
    package internal(set) var end: ContinuousClock.Instant?
    /// The number of times that the server's certificates had been replaced before this handshake.
    package internal(set) var credentialNumber = 0
    /// A Boolean value that indicates whether the server ended the connection because the client took too long to send
    /// a request or to read the response.
    package internal(set) var wasGivenUp = false
    /// A Boolean value that indicates whether the connection has ended.
    public internal(set) var isClosed = false
    /// A Boolean value that indicates whether the server has answered every request of the connection, and keeps it.
    package internal(set) var isAnswered = false
    private var isReported = false

    package init() {}

    /// Returns the record if an observer does not know all of it, with the bytes and alerts since the last call.
    mutating func takeNews() -> TLSConnectionRecord? {
        guard !isReported || requestByteCount > 0 || alertsReceived.contains(where: \.isFatal) else { return nil }
        defer { (isReported, requestByteCount, misdirectedByteCount, alertsReceived) = (true, 0, 0, []) }
        return self
    }
}

extension LoopbackTLSServer {
    /// A version of TLS; the raw value is the number on the wire.
    package enum Version: UInt16, Sendable, Hashable, Comparable, CaseIterable {
        case tls10 = 0x0301
        case tls11 = 0x0302
        case tls12 = 0x0303
        case tls13 = 0x0304

        package static func < (left: Version, right: Version) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// An alert (RFC 8446 section 6).
    package struct Alert: Sendable, Hashable, CustomStringConvertible {
        package let isFatal: Bool
        /// The AlertDescription: 42 is bad_certificate.
        package let code: UInt8

        package init(isFatal: Bool, code: UInt8) {
            self.isFatal = isFatal
            self.code = code
        }

        package static let closeNotify = Alert(isFatal: false, code: 0)

        /// A Boolean value that indicates whether the alert is fatal and reports a refused certificate: bad_certificate
        /// (42) to certificate_unknown (46), unknown_ca (48) or access_denied (49), RFC 8446 section 6.2.
        package var refusesCertificate: Bool { isFatal && (42...46 ~= code || code == 48 || code == 49) }

        /// The name in RFC 8446, such as `bad_certificate`.
        package var name: String {
            let name = SSL_alert_desc_string_long(Int32(code)).map { String(cString: $0) } ?? "unknown"
            return String(name.lowercased().map { $0 == " " ? "_" : $0 })
        }

        package var description: String { "\(name) (\(code))" }
    }
}
