internal import COpenSSL
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

    /// The TCP port that the server listens at.
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

    /// The number of connections accepted.
    public var connectionCount: Int { connections.count }

    /// Handshakes in which the client accepted the certificate, or resumed a session.
    public var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// Application bytes received on all connections, decrypted: the loss where this server is an interceptor.
    public var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// Alerts from clients, by connection and then in order.
    package var alertsReceived: [LoopbackTLSServer.Alert] { connections.flatMap(\.alertsReceived) }

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

/// One connection as a loopback TLS server saw it, so far or in all.
public struct TLSConnectionRecord: Sendable, Hashable {
    /// The name in SNI.
    public internal(set) var serverName: String?
    /// A Boolean value that indicates whether the client's Finished came: it has accepted the certificate.
    public internal(set) var isHandshakeComplete = false
    /// Why the handshake failed, in OpenSSL's words.
    public internal(set) var handshakeFailure: String?
    /// A Boolean value that indicates whether the handshake resumed a session, without a certificate.
    public internal(set) var isResumed = false
    package internal(set) var version: LoopbackTLSServer.Version?
    /// The protocol agreed on by ALPN.
    public internal(set) var applicationProtocol: String?
    /// Alerts from the client, in order: a client that refuses a certificate should say so.
    package internal(set) var alertsReceived: [LoopbackTLSServer.Alert] = []
    /// Alerts to the client, in order.
    package internal(set) var alertsSent: [LoopbackTLSServer.Alert] = []
    /// Application bytes received, decrypted: the loss where this server is an interceptor.
    public internal(set) var requestByteCount = 0
    /// Bytes received where the connection did not begin with a TLS record (RFC 8446 section 5.1), as far as they were read: a
    /// client that falls back to plain HTTP has sent them.
    public internal(set) var clearByteCount = 0
    /// HTTP requests received.
    public internal(set) var requestCount = 0
    /// A Boolean value that indicates whether the client's first bytes were those of a TLS handshake.
    package internal(set) var hasBegunHandshake = false
    /// Which certificates were shown: 0 for those at the start, and one more for each that came in their place.
    package internal(set) var credentialNumber = 0
    /// A Boolean value that indicates whether the connection is over.
    public internal(set) var isClosed = false

    package init() {}
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

        /// A Boolean value that indicates whether the alert is fatal and says that the certificate was refused:
        /// bad_certificate (42) to certificate_unknown (46), unknown_ca (48) or access_denied (49), RFC 8446 section 6.2.
        package var refusesCertificate: Bool { isFatal && (42...46 ~= code || code == 48 || code == 49) }

        /// The name in RFC 8446, such as `bad_certificate`.
        package var name: String {
            let name = SSL_alert_desc_string_long(Int32(code)).map { String(cString: $0) } ?? "unknown"
            return String(name.lowercased().map { $0 == " " ? "_" : $0 })
        }

        package var description: String { "\(name) (\(code))" }
    }
}
