/// What a loopback TLS server saw of one connection, so far or in all.
public struct TLSConnectionRecord: Sendable, Hashable {
    /// The name in SNI.
    public internal(set) var serverName: String?
    /// Whether the client's Finished came: it has accepted the certificate.
    public internal(set) var isHandshakeComplete = false
    /// Why the handshake failed, in OpenSSL's words.
    public internal(set) var handshakeFailure: String?
    /// Whether the handshake resumed a session, without a certificate.
    public internal(set) var isResumed = false
    public internal(set) var version: LoopbackTLSServer.Version?
    /// The protocol agreed on by ALPN.
    public internal(set) var applicationProtocol: String?
    /// Alerts from the client, in order: a client that refuses a certificate should say so.
    public internal(set) var alertsReceived: [LoopbackTLSServer.Alert] = []
    /// Alerts to the client, in order.
    public internal(set) var alertsSent: [LoopbackTLSServer.Alert] = []
    /// Application bytes received, decrypted: what an interceptor would have got.
    public internal(set) var requestByteCount = 0
    /// Bytes received where the connection did not begin with a TLS record (RFC 8446 section 5.1): what a client that
    /// falls back to plain HTTP has sent, as far as it was read.
    public internal(set) var clearByteCount = 0
    /// HTTP requests received.
    public internal(set) var requestCount = 0
    /// Whether the client's first bytes were those of a TLS handshake.
    package internal(set) var hasBegunHandshake = false
    /// Which certificates were shown: 0 for those at the start, and one more for each that came in their place.
    package internal(set) var credentialNumber = 0
    /// Whether the connection is over.
    public internal(set) var isClosed = false

    public init() {}
}
