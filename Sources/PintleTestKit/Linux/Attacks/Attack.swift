/// One server of the ``AttackCatalogue``, and the result that a client must come to.
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
    /// The result that a client must come to.
    public enum Expectation: String, Sendable, Hashable {
        /// Send it nothing.
        case refused
        /// Send its request.
        case accepted
    }

    /// Stable, such as `trusted-interceptor`.
    public let id: String
    /// The server's behaviour, in one line.
    public let summary: String
    /// The result that a client must come to.
    public let expectation: Expectation
    /// The standard and section that say so.
    public let reference: String
    /// Why it matters, in a few words.
    public let stake: String
    let staging: Staging
    /// The name or address that the client is sent to.
    var host = "localhost"

    /// The servers of the attack.
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

    /// A Boolean value that indicates whether only a client that sends a request reaches the attack.
    package var needsRequest: Bool {
        if case .server = staging { false } else { true }
    }

    /// Starts the servers, each on a free port.
    public func start() throws -> AttackServer { try AttackServer(self) }
}
