/// One server of the ``AttackCatalogue``: what it does, and what has to come of it.
///
/// ```swift
/// let catalogue = try AttackCatalogue()
/// for attack in catalogue.attacks where attack.expectation == .refused {
///     let server = try attack.start()
///     // ... point a client at server.url, with catalogue.cast.anchorsPEM as all that it trusts ...
///     #expect(server.observation().exposedByteCount == 0)
/// }
/// ```
///
/// Each differs in one thing from ``AttackCatalogue/control``, which a sound client accepts.
public struct Attack: Sendable {
    /// What a client must do about a server.
    public enum Expectation: String, Sendable, Hashable {
        /// Send it nothing.
        case refused
        /// Send its request.
        case accepted
    }

    /// Stable, such as `trusted-interceptor`.
    public let id: String
    /// What the server does, in one line.
    public let summary: String
    public let expectation: Expectation
    /// The standard and section that say so.
    public let reference: String
    /// Why it matters, in a few words.
    public let stake: String
    let staging: Staging
    /// The name or address that the client is sent to.
    var host = "localhost"

    /// What the server is.
    enum Staging: Sendable {
        case server(TLSServerConfiguration)
        /// The right server, which sends the client on to another one, whose identity is given.
        case redirect(TLSServerConfiguration.Credential, host: String, to: TLSServerConfiguration.Credential)
        /// The right server, which sends the client on to plain HTTP.
        case plainRedirect(TLSServerConfiguration.Credential)
        /// The right server, which asks for a password; whoever connects again meets the other.
        case challenge(TLSServerConfiguration.Credential, then: TLSServerConfiguration.Credential)
    }

    init(
        _ id: String, _ summary: String, _ expectation: Expectation, reference: String, stake: String,
        _ staging: Staging
    ) {
        (self.id, self.summary, self.expectation) = (id, summary, expectation)
        (self.reference, self.stake, self.staging) = (reference, stake, staging)
    }

    /// Whether only a client that sends a request comes to where the attack is.
    package var needsRequest: Bool {
        if case .server = staging { false } else { true }
    }

    /// Starts the servers, each on a free port.
    public func start() throws -> AttackServer { try AttackServer(self) }
}
