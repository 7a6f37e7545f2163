/// How a loopback TLS server behaves.
public struct TLSServerConfiguration: Sendable {
    /// The certificates shown, DER, in this order, and the key that signs the handshake. Nothing is
    /// checked: the order may be wrong, certificates foreign, the key another's, the bytes garbage.
    ///
    /// Chains that OpenSSL would not send as they are get put into the handshake by hand, which
    /// needs the server's messages in the clear: such a server speaks TLS 1.2 at most, and a client
    /// that lets the certificates pass still fails in the end, as its Finished cannot match.
    public struct Credential: Sendable {
        /// The certificates in the order shown, each in DER.
        public var chain: [[UInt8]]
        /// The key that signs the handshake.
        public var key: PrivateKey

        /// A credential from its parts, which need not fit each other.
        public init(chain: [[UInt8]], key: PrivateKey) {
            self.chain = chain
            self.key = key
        }

        /// The identity's chain without the root, and its key.
        public init(_ identity: Identity) {
            self.init(chain: identity.chain, key: identity.key)
        }
    }

    /// Where the server stops answering for a while.
    package enum Stall: Sendable, Hashable {
        /// After the ClientHello has come.
        case beforeServerHello(seconds: Double)
        /// After half the bytes of the server's first flight.
        case midHandshake(seconds: Double)
    }

    /// The server's part in a connection whose handshake is complete.
    public enum Application: Sendable {
        /// HTTP/1.1 with keep-alive; the closure runs on the connection's thread.
        case http(@Sendable (HTTPRequest) -> HTTPResponse)
        /// The closure has the decrypted stream; the connection ends when it returns.
        case stream(@Sendable (any ByteStream) -> Void)
    }

    /// The certificates and the key for each client that names no host of ``credentialsByServerName``.
    public var credential: Credential
    /// Other credentials for other names in SNI, lower case.
    public var credentialsByServerName: [String: Credential] = [:]
    /// 1.0 and 1.1 are possible: the security level is 0.
    package var versions: ClosedRange<LoopbackTLSServer.Version> = .tls12 ... .tls13
    /// ALPN names, most wanted first; where none is the client's too, the extension is ignored.
    public var applicationProtocols: [String] = []
    package var stall: Stall?
    /// A Boolean value that indicates whether sessions can be resumed, by ticket or by id.
    public var allowsResumption = true
    /// HTTP with an answer `ok` by default.
    public var application: Application = .http { _ in .ok }
    /// A Boolean value that indicates whether the server listens on `::1` instead of 127.0.0.1.
    public var ipv6 = false
    /// Listens at this address of the machine instead, an IPv4 or IPv6 literal, where others may reach it.
    package var address: String?
    /// Is given the record of each connection that is over, on its thread; the server itself keeps none of those then.
    package var connectionObserver: (@Sendable (TLSConnectionRecord) -> Void)?
    /// How long a client may take for all that it sends, in seconds; `nil` for no limit.
    package var timeLimit: Double?
    /// How many connections are served at once; more wait.
    public var maximumConnections = 32

    /// The defaults with these certificates and this key.
    public init(_ credential: Credential) {
        self.credential = credential
    }
}
