internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyLint
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleTLSClient

/// The verdict of a policy about one server, inside a handshake.
final class LiveVerdict {
    /// The time in which a server with TLS 1.3 has to refuse a client's certificate.
    private static let refusalTime = Duration.seconds(1)

    private let endpoint: ServerEndpoint
    private let policy: PinningPolicy
    private let validator: PathValidator
    private let instant: Date
    private let approvals: TrustApprovals
    private let families: AuthorityFamilies?
    private var evaluation: TrustEvaluation?
    /// The parameters of the connection when the certificates came, also of one that was refused.
    private var tls: NegotiatedTLS?
    private let identity: ClientIdentity?
    private(set) lazy var authentication = ClientAuthentication(identity) { [unowned self] in
        ClientAuthentication.Objection(of: policy, after: evaluation, to: identity)
    }

    /// - Parameters:
    ///   - approvals: the approvals of servers that no rule covers.
    ///   - families: the authorities of which ``CheckFacts`` knows the keys.
    init(
        of endpoint: ServerEndpoint, by policy: PinningPolicy, validator: PathValidator, instant: Date,
        approvals: TrustApprovals = .none, identity: ClientIdentity? = nil, families: AuthorityFamilies? = nil
    ) {
        self.endpoint = endpoint
        self.policy = policy
        self.validator = validator
        self.instant = instant
        self.approvals = approvals
        self.identity = identity
        self.families = families
    }

    /// Makes the handshake and decides inside it.
    ///
    /// - Throws: an error if no certificate arrived, or if the server broke off a handshake whose certificate was
    ///   accepted: it has not proved that it holds the key.
    func facts(of handshake: LiveHandshake) throws(ToolError) -> CheckFacts {
        let outcome = handshake.run(authentication: authentication, judge: judge)
        var facts = try facts(outcome)
        if authentication.answer != .notAsked, let connection = outcome.connection {
            // The server has proved its key, so the verdict stands.
            let end = connection.awaitEnd(timeout: Self.refusalTime)
            facts.clientCertificateFailure = end.flatMap(clientCertificateFailure)
        }
        return facts
    }

    func judge(_ chain: borrowing PeerChain) -> HandshakeVerdict {
        let evaluation = policy.evaluate(
            endpoint, chain, approvals: approvals, at: instant, validator: validator)
        self.evaluation = evaluation
        tls = NegotiatedTLS(on: chain.connection)
        return evaluation.decision.handshakeVerdict
    }

    /// - Throws: the errors of ``facts(of:)``.
    func facts(_ outcome: LiveHandshake.Outcome) throws(ToolError) -> CheckFacts {
        if let evaluation {
            var facts = facts(evaluation, outcome)
            guard evaluation.decision.isTrusted, let error = outcome.error else { return facts }
            guard let failure = clientCertificateFailure(error) else { throw Self.broken(error) }
            // Before TLS 1.3 the server refuses a client inside the handshake. The verdict stands if the server has
            // proved its key before it asked.
            guard authentication.followsProofOfKey else {
                throw ToolError(
                    exitCode: .unreachable, code: failure.code, message: failure.message, hint: failure.hint)
            }
            facts.clientCertificateFailure = failure
            return facts
        }
        guard let error = outcome.error else {
            throw ToolError(
                exitCode: .unreachable, code: "no-certificate", message: "\(endpoint) showed no certificate")
        }
        guard let failure = error.pathFailure else { throw ToolError(error) }
        return facts(TrustEvaluation(of: endpoint, unreadable: failure), outcome)
    }

    /// Returns the reason why a server that was accepted has ended the connection, if it is the client's certificate.
    private func clientCertificateFailure(_ end: HandshakeError) -> ClientCertificateFailure? {
        guard evaluation?.decision.isTrusted == true else { return nil }
        let hasRefused = end.alert.map(ClientCertificateFailure.alertNames.contains) ?? false
        guard hasRefused || [.closedDuringHandshake, .truncated].contains(end.code) else { return nil }
        return ClientCertificateFailure(
            authentication.answer, of: endpoint, hasRefused: hasRefused, remedy: "give one with --identity FILE")
    }

    private static func broken(_ error: HandshakeError) -> ToolError {
        var failure = ToolError(error)
        failure.exitCode = .unreachable
        failure.hint = "the certificate was acceptable, but the server did not prove that it holds its key"
        return failure
    }

    private func facts(_ evaluation: TrustEvaluation, _ outcome: LiveHandshake.Outcome) -> CheckFacts {
        let rule = policy.rule(for: endpoint)
        return CheckFacts(
            endpoint: endpoint, instant: instant, evaluation: evaluation, rule: rule,
            host: rule.map { policy.hosts[$0.index] },
            positions: PathPositions(path: evaluation.path, presented: outcome.presented ?? []),
            connection: outcome.connection, tls: outcome.connection?.tls ?? tls,
            alert: evaluation.decision.isTrusted ? nil : outcome.error?.alert, clientCertificate: authentication.answer,
            families: families)
    }
}

extension ClientCertificateFailure {
    /// The stable code.
    fileprivate var code: String { wasShown ? "client-certificate-refused" : "client-certificate-required" }
}
