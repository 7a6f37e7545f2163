internal import PintleTestKit

/// One entry of the ``Catalogue``: the servers that a client meets, and the result that it must produce.
///
/// A scenario is an attack that a client must refuse, or a change of a server that it must accept.
///
/// ```swift
/// let catalogue = try Catalogue()
/// for scenario in catalogue.scenarios where scenario.expectation == .refused {
///     let server = try scenario.start()
///     // ... point a client at server.url, which trusts only catalogue.certificates.anchorsPEM ...
///     #expect(server.observation().exposedByteCount == 0)
/// }
/// ```
///
/// Each scenario differs in one thing from ``Catalogue/control``, which a correct client accepts.
package struct Scenario: Sendable {
    /// The result that a client must produce.
    package enum Expectation: String, Sendable, Hashable {
        /// The client sends the server no request.
        case refused
        /// The client sends its request.
        case accepted
        /// The client ends by itself. It may send its request or not.
        case ended
    }

    /// The stable id, such as `trusted-interceptor`.
    package let id: String
    /// The server's behavior, in one line.
    package let summary: String
    /// The result that a client must produce.
    package let expectation: Expectation
    /// The standard and section that demand the result.
    package let reference: String
    /// The consequence for users if the client produces another result, in a few words.
    package let impact: String
    /// The group of the attack; `nil` for the control.
    package internal(set) var group: Group?
    let setup: Setup
    /// The name or address that the client is sent to.
    var host = "localhost"
    /// The versions of HTTP that the servers offer.
    var offered = OfferedProtocols.both
    /// The question of the right servers for the client's certificate; `nil` if they do not ask.
    var question: TLSServerConfiguration.ClientCertificateQuestion?

    /// The servers of the attack.
    enum Setup: Sendable {
        case server(TLSServerConfiguration)
        /// The right server, which redirects the client to another server with this credential.
        case redirect(TLSServerConfiguration.Credential, host: String, to: TLSServerConfiguration.Credential)
        /// The right server, which redirects the client to plain HTTP.
        case plainRedirect(TLSServerConfiguration.Credential)
        /// The right server, which asks for a password and ends the connection. Later connections get the other
        /// credential.
        case challenge(TLSServerConfiguration.Credential, then: TLSServerConfiguration.Credential)
        /// The right server, which answers in a way of its own.
        case application(TLSServerConfiguration.Credential, @Sendable (any ByteStream) -> Void)
        /// The right server, which tells HTTP/2 clients that it processed no request, and ends the connection. Later
        /// connections get the other credential.
        case move(HTTP2Service.Signal, TLSServerConfiguration.Credential, then: TLSServerConfiguration.Credential)
        /// The right server, which redirects the client to the right server of another host at the same port. The first
        /// credential also covers that host; the second is the one that the other host's pins allow.
        case coalescing(TLSServerConfiguration.Credential, host: String, right: TLSServerConfiguration.Credential)
    }

    init(
        _ id: String, _ summary: String, _ expectation: Expectation, reference: String, impact: String,
        _ setup: Setup
    ) {
        (self.id, self.summary, self.expectation) = (id, summary, expectation)
        (self.reference, self.impact, self.setup) = (reference, impact, setup)
    }

    /// A Boolean value that indicates whether only a client that sends a request reaches the attack.
    var needsRequest: Bool {
        if case .server = setup { false } else { true }
    }

    /// A Boolean value that indicates whether the server stops in the middle of the handshake, so that a client must
    /// give up.
    var stalls: Bool {
        if case .server(let configuration) = setup { configuration.stall != nil } else { false }
    }

    /// The time that a busy machine may need to send the certificates, in seconds.
    var transferSeconds: Double {
        Double(chains.flatMap(\.certificates).reduce(0) { $0 + $1.count }) / Double(10 << 20)
    }

    /// The number of connections to the scenario's host until the client has met the attack. Connections to the place
    /// of a redirect do not count.
    package var connectionCount: Int {
        switch setup {
        case .challenge, .move: 2
        default: 1
        }
    }

    /// A Boolean value that indicates whether only clients of HTTP/1.1 reach the attack.
    var needsHTTP1: Bool {
        if case .application = setup { true } else { false }
    }

    /// A Boolean value that indicates whether only clients of HTTP/2 reach the attack.
    var needsHTTP2: Bool {
        switch setup {
        case .move, .coalescing: true
        default: false
        }
    }

    /// A Boolean value that indicates whether the attack proves something only about a client that pins
    /// ``Certificates/secondGenuine`` for ``Certificates/secondHost``.
    package var needsSecondPin: Bool {
        if case .coalescing = setup { true } else { false }
    }

    /// A Boolean value that indicates whether the attack proves something only about a client that has
    /// ``Certificates/client``.
    package var needsIdentity: Bool {
        if case .server(let configuration) = setup { configuration.clientCertificateQuestion != nil } else { false }
    }

    /// Certificates that the servers of the attack present.
    package struct Chain: Sendable {
        /// The place, such as `first` or `redirect`.
        package let place: String
        /// Each certificate as it is sent, in this order. The bytes need not be a certificate.
        package let certificates: [[UInt8]]
    }

    /// The certificates of all servers of the attack, those of the first connection first.
    package var chains: [Chain] {
        switch setup {
        case .server(let configuration): [Chain(place: "first", certificates: configuration.credential.chain)]
        case .redirect(let credential, _, let target):
            [
                Chain(place: "first", certificates: credential.chain),
                Chain(place: "redirect", certificates: target.chain),
            ]
        case .plainRedirect(let credential), .application(let credential, _):
            [Chain(place: "first", certificates: credential.chain)]
        case .coalescing(let credential, _, let right):
            [
                Chain(place: "first", certificates: credential.chain),
                Chain(place: "other-host", certificates: right.chain),
            ]
        case .challenge(let credential, let later), .move(_, let credential, let later):
            [Chain(place: "first", certificates: credential.chain), Chain(place: "later", certificates: later.chain)]
        }
    }
}

extension Scenario.Setup {
    static func server(_ identity: Identity) -> Self { .server(TLSServerConfiguration(.init(identity))) }

    static func server(_ chain: [[UInt8]], _ key: PrivateKey) -> Self {
        .server(TLSServerConfiguration(.init(chain: chain, key: key)))
    }
}

extension Scenario {
    /// A kind of attack, by the part of the client that must withstand it.
    package enum Group: String, Sendable, Hashable, CaseIterable {
        /// The validation of the certificates and their path.
        case path
        /// The pins: interceptors whose authority the client trusts, and changes of a server that must not lock it out.
        case pins
        /// The comparison of names.
        case names
        /// The version of TLS.
        case transport
        /// The second server: after a redirect, or after a response that moves the request to another connection.
        case redirect
        /// The client's time and memory.
        case hold

        /// Mints the certificates of the group's attacks.
        func scenarios(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
            switch self {
            case .path: try Catalogue.path(certificates)
            case .pins: try Catalogue.pins(certificates)
            case .names: try Catalogue.names(certificates)
            case .transport: Catalogue.transport(certificates)
            case .redirect: try Catalogue.redirect(certificates)
            case .hold: try Catalogue.hold(certificates)
            }
        }
    }
}

/// The versions of HTTP that the servers of an attack offer by ALPN (RFC 7301). Clients without ALPN get HTTP/1.1.
package enum OfferedProtocols: String, Sendable, Hashable, CaseIterable {
    case http1 = "1.1"
    case http2 = "2"
    case both

    /// The protocol names for ALPN, the preferred one first, as real servers have them.
    var names: [String] {
        switch self {
        case .http1: ["http/1.1"]
        case .http2: ["h2"]
        case .both: ["h2", "http/1.1"]
        }
    }

    /// Returns the names for a server.
    ///
    /// HTTP/2 needs TLS 1.2 (RFC 9113 section 9.2). So a server with an older version offers HTTP/1.1 if it can: the
    /// client has to refuse the old version of TLS, and not HTTP/2 over it.
    func names(for configuration: TLSServerConfiguration) -> [String] {
        self == .both && configuration.versions.upperBound < .tls12 ? OfferedProtocols.http1.names : names
    }
}
