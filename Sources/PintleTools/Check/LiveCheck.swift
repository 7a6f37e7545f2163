internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

/// A handshake in which a policy decides.
struct LiveCheck {
    let policy: PinningPolicy
    let validate: (PathRequest) -> PathOutcome
    let instant: Date
    let handshake: LiveHandshake

    /// - Throws: that there was nothing to decide about, or that the server broke off a handshake whose
    ///   certificate was accepted: it has not proved that it holds the key.
    func run() throws(ToolError) -> CheckFindings {
        let kept = LiveHandshake.Kept<TrustEvaluation>()
        let (policy, validate, instant, endpoint) = (policy, validate, instant, handshake.endpoint)
        let outcome = handshake.run { presented in
            let evaluation = policy.evaluate(endpoint, presented: presented, at: instant, validate: validate)
            kept.value = evaluation
            return evaluation.decision.verdict
        }
        if let evaluation = kept.value {
            if evaluation.decision.isTrusted, let error = outcome.error { throw broken(error) }
            return findings(evaluation, outcome)
        }
        guard let error = outcome.error else {
            throw ToolError(
                exitCode: .unreachable, code: "no-certificate", message: "\(endpoint) showed no certificate")
        }
        // The library stopped at certificates that no decision could be asked about: that is a verdict too.
        switch error.code {
        case .limitsExceeded: return findings(refusal(.limitsExceeded, error), outcome)
        case .malformedCertificate: return findings(refusal(.malformedCertificate, error), outcome)
        default: throw ToolError(error)
        }
    }

    private func broken(_ error: HandshakeError) -> ToolError {
        var failure = ToolError(error)
        failure.exitCode = .unreachable
        failure.hint = "the certificate was acceptable, but the server did not prove that it holds its key"
        return failure
    }

    private func refusal(_ code: PathFailure.Code, _ error: HandshakeError) -> TrustDecision {
        .rejected(.invalidPath(PathFailure(code, text: error.message)))
    }

    private func findings(_ evaluation: TrustEvaluation, _ outcome: LiveHandshake.Outcome) -> CheckFindings {
        findings(evaluation.decision, outcome, path: evaluation.path)
    }

    private func findings(
        _ decision: TrustDecision, _ outcome: LiveHandshake.Outcome, path: ValidatedPath? = nil
    ) -> CheckFindings {
        let rule = policy.rule(for: handshake.endpoint)
        return CheckFindings(
            endpoint: handshake.endpoint, instant: instant, decision: decision, rule: rule,
            host: rule.map { policy.hosts[$0.index] },
            positions: PathPositions(path: path, presented: outcome.presented ?? []),
            connection: outcome.connection, alert: outcome.error?.alert)
    }
}

/// What `check` has to tell.
struct CheckFindings {
    let endpoint: ServerEndpoint
    /// When it was decided, or for when.
    let instant: Date
    let decision: TrustDecision
    let rule: RuleChoice?
    /// The rule's content.
    let host: PinnedHost?
    let positions: PathPositions
    /// Where the verdict let the handshake end well.
    let connection: TLSConnection?
    /// The name of the alert that the server was sent.
    let alert: String?
}

extension TrustDecision {
    /// The decision as the handshake takes it.
    var verdict: HandshakeVerdict {
        guard case .rejected(let rejection) = self else { return .accept }
        return .reject(rejection.alert)
    }
}

extension TrustRejection {
    /// What the server is told (RFC 8446 section 6.2): as much as helps whoever runs it.
    fileprivate var alert: TLSAlert {
        guard case .invalidPath(let failure) = self else { return .certificateUnknown }
        return switch failure.code {
        case .expired: .certificateExpired
        case .selfSigned, .untrustedRoot: .unknownCA
        case .unsuitablePurpose: .unsupportedCertificate
        case .invalidSignature: .decryptError
        case .other: .certificateUnknown
        default: .badCertificate
        }
    }
}
