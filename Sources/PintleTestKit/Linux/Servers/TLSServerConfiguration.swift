/// The settings of a loopback TLS server.
public struct TLSServerConfiguration: Sendable {
    /// The certificates that the server presents, DER, in this order, and the key that signs the handshake. They are
    /// not checked: the order may be wrong, the certificates foreign, the key another one, the bytes garbage.
    ///
    /// A chain that OpenSSL would not send unchanged is spliced into the handshake, which needs unencrypted server
    /// messages. Such a server speaks at most TLS 1.2. A client that accepts the certificates still fails, because its
    /// Finished message cannot match.
    package struct Credential: Sendable {
        /// The certificates in the order of the message, each in DER.
        package var chain: [[UInt8]]
        /// The key that signs the handshake.
        package var key: PrivateKey
        /// A Boolean value that indicates whether connections with this credential get the
        /// ``TLSServerConfiguration/clientCertificateQuestion``.
        package var asksClients = true

        /// Makes a credential of parts that need not fit each other.
        package init(chain: [[UInt8]], key: PrivateKey) {
            self.chain = chain
            self.key = key
        }

        /// Makes a credential of the identity's chain, without the root, and its key.
        package init(_ identity: Identity) {
            self.init(chain: identity.chain, key: identity.key)
        }
    }

    /// A point of the handshake at which the server pauses.
    package enum Stall: Sendable, Hashable {
        /// After the ClientHello has arrived.
        case beforeServerHello(seconds: Double)
        /// After half the bytes of the server's first flight.
        case midHandshake(seconds: Double)
    }

    /// The protocol that the server speaks after the handshake.
    package enum Application: Sendable {
        /// HTTP/2 if ALPN selected `h2`, otherwise HTTP/1.1 with keep-alive. The closure runs on the connection's
        /// thread.
        case http(@Sendable (HTTPRequest) -> HTTPResponse)
        /// Any protocol. The closure gets the decrypted stream; the connection ends when it returns.
        case stream(@Sendable (any ByteStream) -> Void)
    }

    /// A server's question for a client certificate (RFC 8446 section 4.3.2, RFC 5246 section 7.4.4).
    package struct ClientCertificateQuestion: Sendable {
        /// A Boolean value that indicates whether the server ends the handshake of a client that shows no certificate.
        package var isRequired: Bool
        /// The authorities whose names the question contains. The server checks no path.
        package var authorities: [MintedCertificate]
        /// A Boolean value that indicates whether the server refuses every certificate that it gets.
        package var refusesAll = false

        package init(isRequired: Bool = true, authorities: [MintedCertificate] = [], refusesAll: Bool = false) {
            (self.isRequired, self.authorities, self.refusesAll) = (isRequired, authorities, refusesAll)
        }
    }

    /// The certificates and the key for each client that names no host of ``credentialsByServerName``.
    package var credential: Credential
    /// Credentials for other names in SNI, lower case.
    package var credentialsByServerName: [String: Credential] = [:]
    /// The versions of TLS that the server offers. 1.0 and 1.1 work, because OpenSSL's security level is 0.
    package var versions: ClosedRange<LoopbackTLSServer.Version> = .tls12 ... .tls13
    /// The groups for the key exchange in OpenSSL's notation, such as `X25519:P-256`; `nil` for OpenSSL's own.
    package var groups: String?
    /// Protocol names for ALPN, the preferred one first. If the client offers none of them, the server ignores the
    /// extension.
    public var applicationProtocols: [String] = []
    package var stall: Stall?
    /// The question for a client certificate; `nil` if the server does not ask.
    package var clientCertificateQuestion: ClientCertificateQuestion?
    /// A Boolean value that indicates whether clients can resume sessions, by ticket or by id.
    public var allowsResumption = true
    /// The protocol after the handshake; by default HTTP with the response `ok`.
    package var application: Application = .http { _ in .ok }
    /// A Boolean value that indicates whether the server listens on `::1` instead of 127.0.0.1.
    public var ipv6 = false
    /// The address to listen at instead of loopback, an IPv4 or IPv6 literal. Other machines may reach it.
    package var address: String?
    /// The port to listen at; with 0 the system chooses one.
    package var port: UInt16 = 0
    /// Gets the record of each ended connection, on the connection's thread. A kept HTTP/2 connection is reported with
    /// each response, with what it has brought since the last one. With an observer the server keeps no records.
    package var connectionObserver: (@Sendable (TLSConnectionRecord) -> Void)?
    /// The time for all that a client sends, in seconds; `nil` for no limit.
    package var timeLimit: Double?
    /// The content that the server sends together with the end of the handshake, before any request.
    package var earlyContent: [UInt8] = []
    /// The number of received bytes to keep of each connection, after decryption.
    package var transcriptLimit = 0
    /// The number of connections served at the same time. More wait.
    public var maximumConnections = 32

    package init(_ credential: Credential) {
        self.credential = credential
    }

    /// Makes the server end the handshake of each client that shows no certificate.
    ///
    /// The server checks no path: ``TLSConnectionRecord/clientCertificates`` has what a client showed.
    ///
    /// - Parameter authorities: the authorities whose names the server sends to its clients; empty for any.
    public mutating func requireClientCertificates(from authorities: [CertificateAuthority] = []) {
        clientCertificateQuestion = ClientCertificateQuestion(authorities: authorities.map(\.certificate))
    }

    /// Makes the server pass the decrypted bytes to a closure, instead of answering HTTP requests.
    ///
    /// - Parameter body: runs on the connection's thread; the connection ends when it returns.
    public mutating func serve(_ body: @escaping @Sendable (any ByteStream) -> Void) {
        application = .stream(body)
    }
}
