internal import COpenSSL
package import Pintle
package import PintleOpenSSL

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Opens TLS connections on which a policy judges the server's certificate inside the handshake:
/// ``connect(to:checking:approvals:at:validator:)``.
///
/// OpenSSL's own validation is replaced: it has no anchors here. Each handshake asks exactly once whether this is the
/// right server. A connection is handed out only if the answer was yes, so resumption, tickets and renegotiation are
/// off.
///
/// Threads: any number of threads may use a client at once. Each call blocks its thread for at most the sum of the
/// time-outs, plus the time of the system's resolver.
package final class TLSClient: Sendable {
    /// The settings of a client, the same for all of its connections.
    package struct Configuration: Hashable, Sendable {
        /// The limit for TCP, after the name is resolved. 5 seconds by default. A proxy gets the same time again to
        /// open its tunnel.
        package var connectTimeout: Duration
        /// The limit from the ClientHello to the end of the handshake, including the verdict. 5 seconds by default.
        package var handshakeTimeout: Duration
        /// The protocol names for ALPN (RFC 7301), the preferred one first; empty to send no ALPN.
        package var applicationProtocols: [String]
        /// The lowest version of TLS that the client offers.
        package var minimumVersion: TLSVersion

        /// Creates settings. The defaults suit most servers.
        package init(
            connectTimeout: Duration = .seconds(5), handshakeTimeout: Duration = .seconds(5),
            applicationProtocols: [String] = ["http/1.1"], minimumVersion: TLSVersion = .v1_2
        ) {
            self.connectTimeout = connectTimeout
            self.handshakeTimeout = handshakeTimeout
            self.applicationProtocols = applicationProtocols
            self.minimumVersion = minimumVersion
        }
    }

    /// The settings of the client.
    package let configuration: Configuration
    private let context: TLSContext

    /// Creates a client.
    ///
    /// - Parameter configuration: the settings of all connections.
    /// - Throws: ``HandshakeError`` with the code `invalid-configuration` (an ALPN name must have 1 to 255 bytes) or
    ///   `no-resources`.
    package init(_ configuration: Configuration = Configuration()) throws(HandshakeError) {
        self.configuration = configuration
        context = try TLSContext(configuration)
    }

    /// Connects. `verdict` judges the server's certificates before any application data is sent.
    ///
    /// Only here, because a closure could accept every server, and a policy cannot.
    ///
    /// - Parameters:
    ///   - target: the server. Its host is sent as SNI, unless it is an IP literal.
    ///   - proxy: the proxy to use, if any.
    ///   - authentication: answers a CertificateRequest.
    ///   - verdict: called once, on this thread. It must not wait for a person, because the handshake's time-out is
    ///     running.
    /// - Throws: ``HandshakeError``. If the verdict refuses the server, the code is `rejected-by-verifier`: the server
    ///   was sent an alert and no application data.
    package func connect(
        to target: HandshakeTarget, via proxy: ProxyConfiguration = .none,
        authentication: ClientAuthentication? = nil,
        verdict: @escaping (borrowing PeerChain) -> HandshakeVerdict
    ) throws(HandshakeError) -> TLSConnection {
        try target.requireOwnAddress()
        let socket = try ProxyTunnel.open(proxy, to: target.destination, timeout: configuration.connectTimeout)
        var handshake = try TLSHandshake(
            context: context, socket: socket, target: target.endpoint, timeout: configuration.handshakeTimeout
        )
        try handshake.run(VerificationHook(for: target.endpoint, authentication: authentication, judge: verdict))
        return try TLSConnection(handshake.intoPump(), target: target.endpoint)
    }
}

/// The result of a handshake that a policy judged.
package enum CheckedConnection {
    /// The server is trusted. The connection is open, and nothing has been sent over it yet.
    case trusted(TLSConnection, TrustEvaluation)
    /// The server was refused. Either the handshake ended with an alert, or the policy does not allow the host and
    /// nothing was sent.
    case rejected(TrustEvaluation)

    /// The verdict with its reasons.
    package var evaluation: TrustEvaluation {
        switch self {
        case .trusted(_, let evaluation), .rejected(let evaluation): evaluation
        }
    }
}

extension TLSClient {
    /// Connects. The policy judges the server's certificates before any application data is sent.
    ///
    /// The verdict is about the target's own endpoint, even if ``HandshakeTarget/connectTo`` names another one. A host
    /// that the policy does not allow (`host-not-allowed`) is neither resolved nor connected to, because that would
    /// disclose its name to resolvers, to proxies and, in the ClientHello, to every observer on the network. An address
    /// that the system replaces with another one (`0.0.0.0`, `::`, `::ffff:192.0.2.1`) is not connected to either: the
    /// error is `invalid-host`.
    ///
    /// - Parameters:
    ///   - target: the server.
    ///   - policy: the policy that judges the server.
    ///   - approvals: the decisions of users about servers without a rule, for a policy that asks the user.
    ///   - instant: the time of the verdict.
    ///   - validator: builds and checks the certification path.
    /// - Returns: the connection or the refusal, with the reasons.
    /// - Throws: ``HandshakeError`` if there was no verdict. A refusal is a returned value, not an error.
    package func connect(
        to target: HandshakeTarget, checking policy: PinningPolicy, approvals: TrustApprovals = .none,
        at instant: Date = Date(), validator: PathValidator = PathValidator()
    ) throws(HandshakeError) -> CheckedConnection {
        try connect(
            to: target, via: .none, checking: policy, approvals: approvals, at: instant, validator: validator)
    }

    /// Connects through a proxy. Otherwise does the same as the function without a proxy.
    package func connect(
        to target: HandshakeTarget, via proxy: ProxyConfiguration, checking policy: PinningPolicy,
        approvals: TrustApprovals = .none, at instant: Date = Date(), validator: PathValidator = PathValidator()
    ) throws(HandshakeError) -> CheckedConnection {
        try target.requireOwnAddress()
        if policy.unpinnedHosts == .reject, policy.rule(for: target.endpoint) == nil {
            return .rejected(TrustEvaluation(notAllowed: target.endpoint))
        }
        var evaluation: TrustEvaluation?
        let connection: TLSConnection
        do {
            connection = try connect(to: target, via: proxy) { chain in
                let verdict = policy.evaluate(
                    target.endpoint, chain, approvals: approvals, at: instant, validator: validator)
                evaluation = verdict
                return verdict.decision.handshakeVerdict
            }
        } catch {
            if error.code == .rejectedByVerifier, let evaluation { return .rejected(evaluation) }
            if let failure = error.pathFailure {
                return .rejected(TrustEvaluation(of: target.endpoint, unreadable: failure))
            }
            throw error
        }
        guard let evaluation, evaluation.decision.isTrusted else {
            throw HandshakeError(
                .verifierNotCalled, "the handshake ended without a verdict", hint: nil, isBeforeCertificate: false)
        }
        return .trusted(connection, evaluation)
    }
}
