/// One attack of the ``AttackCatalogue``, and the result that a client must produce.
///
/// ```swift
/// let catalogue = try AttackCatalogue()
/// for attack in catalogue.attacks where attack.expectation == .refused {
///     let server = try attack.start()
///     // ... point a client at server.url, which trusts only catalogue.cast.anchorsPEM ...
///     #expect(server.observation().exposedByteCount == 0)
/// }
/// ```
///
/// Each attack differs in one thing from ``AttackCatalogue/control``, which a correct client accepts.
package struct Attack: Sendable {
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
    /// The server's behaviour, in one line.
    package let summary: String
    /// The result that a client must produce.
    package let expectation: Expectation
    /// The standard and section that demand the result.
    package let reference: String
    /// The consequence of another result, in a few words.
    package let stake: String
    /// The group of the attack; `nil` for the control.
    package internal(set) var group: AttackGroup?
    let staging: Staging
    /// The name or address that the client is sent to.
    var host = "localhost"
    /// The versions of HTTP that the servers offer.
    package internal(set) var offered = OfferedProtocols.both

    /// The servers of the attack.
    enum Staging: Sendable {
        case server(TLSServerConfiguration)
        /// The right server, which redirects the client to another server with this credential.
        case redirect(TLSServerConfiguration.Credential, host: String, to: TLSServerConfiguration.Credential)
        /// The right server, which redirects the client to plain HTTP.
        case plainRedirect(TLSServerConfiguration.Credential)
        /// The right server, which asks for a password and ends the connection. Later connections get the other credential.
        case challenge(TLSServerConfiguration.Credential, then: TLSServerConfiguration.Credential)
        /// The right server, which answers in a way of its own.
        case application(TLSServerConfiguration.Credential, @Sendable (any ByteStream) -> Void)
        /// The right server, which tells HTTP/2 clients that it processed no request, and ends the connection. Later connections
        /// get the other credential.
        case move(HTTP2Service.Signal, TLSServerConfiguration.Credential, then: TLSServerConfiguration.Credential)
        /// The right server, which redirects the client to the right server of another host at the same port. The first
        /// credential also covers that host; the second is the one that the other host's pins allow.
        case coalescing(TLSServerConfiguration.Credential, host: String, right: TLSServerConfiguration.Credential)
    }

    init(
        _ id: String, _ summary: String, _ expectation: Expectation, reference: String, stake: String,
        _ staging: Staging
    ) {
        (self.id, self.summary, self.expectation) = (id, summary, expectation)
        (self.reference, self.stake, self.staging) = (reference, stake, staging)
    }

    /// A Boolean value that indicates whether only a client that sends a request reaches the attack.
    package var needsRequest: Bool {
        if case .server = staging { false } else { true }
    }

    /// The number of connections to the attack's host that the attack needs, without those to other places.
    package var connectionCount: Int {
        switch staging {
        case .challenge, .move: 2
        default: 1
        }
    }

    /// Starts the servers, each on a free port.
    package func start() throws -> AttackServer { try AttackServer(self) }
}
