internal import COpenSSL
public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Opens TLS connections whose server certificate is judged by a policy, inside the handshake:
/// ``connect(to:checking:approvals:at:validator:)``.
///
/// OpenSSL validates nothing here and has no anchors: the question "is this the server?" is asked exactly
/// once per connection. A connection on which it was not asked, or not answered with yes, is never handed
/// out; so resumption, tickets and renegotiation are off.
///
/// Threads: a client may be used from any number of threads at once; each call blocks its own thread for
/// at most the sum of the time-outs, beside what the system's resolver takes.
public final class TLSClient: Sendable {
    /// Time limits of the two phases before there is a connection.
    package struct Timeouts: Hashable, Sendable {
        /// TCP, after the name is resolved. The request to a proxy has a limit of the same length of its own.
        package var connect: Duration
        /// From the ClientHello to the end of the handshake, the verdict included.
        package var handshake: Duration

        package init(connect: Duration = .seconds(5), handshake: Duration = .seconds(5)) {
            self.connect = connect
            self.handshake = handshake
        }
    }

    /// The settings of a client, the same for all of its connections.
    public struct Configuration: Hashable, Sendable {
        /// The time limits of each connection.
        package var timeouts: Timeouts
        /// The time limit for TCP, after the name is resolved. 5 seconds by default.
        public var connectTimeout: Duration {
            get { timeouts.connect }
            set { timeouts.connect = newValue }
        }
        /// The time limit from the ClientHello to the end of the handshake, the verdict included. 5 seconds by default.
        public var handshakeTimeout: Duration {
            get { timeouts.handshake }
            set { timeouts.handshake = newValue }
        }
        /// Protocol names for ALPN (RFC 7301), the preferred one first; none: no ALPN.
        public var applicationProtocols: [String]
        /// The lowest version of TLS that is offered.
        public var minimumVersion: TLSVersion

        /// Settings that suit most servers, unless given otherwise.
        public init(
            connectTimeout: Duration = .seconds(5), handshakeTimeout: Duration = .seconds(5),
            applicationProtocols: [String] = ["http/1.1"], minimumVersion: TLSVersion = .v1_2
        ) {
            timeouts = Timeouts(connect: connectTimeout, handshake: handshakeTimeout)
            self.applicationProtocols = applicationProtocols
            self.minimumVersion = minimumVersion
        }

        package init(timeouts: Timeouts) {
            self.init(connectTimeout: timeouts.connect, handshakeTimeout: timeouts.handshake)
        }
    }

    /// The settings that the client was made with.
    public let configuration: Configuration
    private let context: TLSContext

    /// - Throws: ``HandshakeError`` with the code `invalid-configuration` (a name for ALPN has 1 to 255
    ///   bytes) or `no-resources`.
    public init(_ configuration: Configuration = Configuration()) throws(HandshakeError) {
        self.configuration = configuration
        context = try TLSContext(configuration)
    }

    /// Connects, and lets `verdict` judge what the server presents before anything is sent to it.
    ///
    /// Not public: a closure can accept everybody, a policy cannot.
    ///
    /// - Parameters:
    ///   - target: the server; its host is the SNI unless it is an IP literal.
    ///   - proxy: how to get there.
    ///   - verdict: called once, on this thread. It must not wait for a person: the handshake's clock runs.
    /// - Throws: ``HandshakeError``. After a refusal its code is `rejected-by-verifier`, the server has
    ///   been sent the alert, and no byte of application data was.
    package func connect(
        to target: HandshakeTarget, via proxy: ProxyConfiguration = .none,
        verdict: @escaping (borrowing PeerChain) -> HandshakeVerdict
    ) throws(HandshakeError) -> TLSConnection {
        try target.requireOwnAddress()
        let timeouts = configuration.timeouts
        let socket = try ProxyTunnel.open(proxy, to: target.destination, timeout: timeouts.connect)
        var handshake = try TLSHandshake(
            context: context, socket: socket, target: target.endpoint, timeout: timeouts.handshake
        )
        try handshake.run(VerificationHook(for: target.endpoint, judge: verdict))
        return try TLSConnection(handshake.intoPump(), target: target.endpoint)
    }
}

/// What came of a handshake that a policy judged.
public enum CheckedConnection {
    /// The server is trusted; the connection is open and nothing has been sent over it yet.
    case trusted(TLSConnection, TrustEvaluation)
    /// The server was refused inside the handshake and has been told so by an alert; or the policy allows no
    /// such host, and nothing was sent to it at all.
    case rejected(TrustEvaluation)

    /// The verdict with its reasons.
    public var evaluation: TrustEvaluation {
        switch self {
        case .trusted(_, let evaluation), .rejected(let evaluation): evaluation
        }
    }
}

extension TLSClient {
    /// Connects, and lets a policy judge the server before anything is sent to it.
    ///
    /// The verdict is about the target's own endpoint, wherever ``HandshakeTarget/connectTo`` leads. A host
    /// that the policy does not allow (`host-not-allowed`) is neither resolved nor connected to: its name
    /// would be told to resolvers, proxies and, in the ClientHello, to every listener on the way. Neither is an
    /// address under which the system connects to another one (`0.0.0.0`, `::`, `::ffff:192.0.2.1`): the error is
    /// `invalid-host`.
    ///
    /// - Parameters:
    ///   - target: the server; its host is the SNI unless it is an IP literal.
    ///   - policy: the policy that judges the server.
    ///   - approvals: what people have said about servers that no rule covers, for a policy that asks them.
    ///   - instant: the time at which certificates and pins have to be valid.
    ///   - validator: the validator of the server's path.
    /// - Returns: the connection, or the reasons of the refusal.
    /// - Throws: ``HandshakeError`` where no verdict came about. A refusal is a value, not an error.
    public func connect(
        to target: HandshakeTarget, checking policy: PinningPolicy, approvals: TrustApprovals = .none,
        at instant: Date = Date(), validator: PathValidator = PathValidator()
    ) throws(HandshakeError) -> CheckedConnection {
        try connect(
            to: target, via: .none, checking: policy, approvals: approvals, at: instant, validator: validator)
    }

    /// Connects through a proxy, and lets a policy judge the server as the public function does.
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
