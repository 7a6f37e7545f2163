internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

/// A handshake in which a policy decides.
struct LiveCheck {
    let policy: PinningPolicy
    let validator: PathValidator
    let instant: Date
    let handshake: LiveHandshake

    /// - Parameter approvals: what people have said about servers that no rule covers.
    /// - Throws: that there was nothing to decide about, or that the server broke off a handshake whose
    ///   certificate was accepted: it has not proved that it holds the key.
    func run(_ approvals: TrustApprovals = .none) throws(ToolError) -> CheckFindings {
        let kept = LiveHandshake.Kept<TrustEvaluation>()
        let (policy, validator, instant, endpoint) = (policy, validator, instant, handshake.endpoint)
        let outcome = handshake.run { chain in
            let evaluation = policy.evaluate(
                endpoint, chain, approvals: approvals, at: instant, validator: validator)
            kept.value = evaluation
            return evaluation.decision.handshakeVerdict
        }
        if let evaluation = kept.value {
            if evaluation.decision.isTrusted, let error = outcome.error { throw broken(error) }
            return findings(evaluation, outcome)
        }
        guard let error = outcome.error else {
            throw ToolError(
                exitCode: .unreachable, code: "no-certificate", message: "\(endpoint) showed no certificate")
        }
        guard let failure = error.pathFailure else { throw ToolError(error) }
        return findings(TrustEvaluation(of: endpoint, unreadable: failure), outcome)
    }

    private func broken(_ error: HandshakeError) -> ToolError {
        var failure = ToolError(error)
        failure.exitCode = .unreachable
        failure.hint = "the certificate was acceptable, but the server did not prove that it holds its key"
        return failure
    }

    private func findings(_ evaluation: TrustEvaluation, _ outcome: LiveHandshake.Outcome) -> CheckFindings {
        let rule = policy.rule(for: handshake.endpoint)
        return CheckFindings(
            endpoint: handshake.endpoint, instant: instant, evaluation: evaluation, rule: rule,
            host: rule.map { policy.hosts[$0.index] },
            positions: PathPositions(path: evaluation.path, presented: outcome.presented ?? []),
            connection: outcome.connection, alert: outcome.error?.alert)
    }
}

/// What `check` has to tell.
struct CheckFindings {
    let endpoint: ServerEndpoint
    /// When it was decided, or for when.
    let instant: Date
    let evaluation: TrustEvaluation
    var decision: TrustDecision { evaluation.decision }
    let rule: RuleChoice?
    /// The rule's content.
    let host: PinnedHost?
    let positions: PathPositions
    /// Where the verdict let the handshake end well.
    let connection: TLSConnection?
    /// The name of the alert that the server was sent.
    let alert: String?
}
