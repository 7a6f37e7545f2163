#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A verdict together with the data that led to it.
public struct TrustEvaluation: Sendable {
    /// The host and port that the caller asked for.
    public let endpoint: ServerEndpoint
    /// The verdict.
    public let decision: TrustDecision
    /// The rule that decided; `nil` if no rule covers the host or none was looked up.
    public let rule: MatchedRule?
    /// The chain that the server sent; `nil` if it could not be parsed.
    public let presented: PresentedChain?
    /// The validated path; `nil` if none was found or validation did not run.
    public let path: ValidatedPath?
    /// The policy and the time of a verdict on a chain; `nil` if there was no chain.
    var origin: Origin?

    struct Origin: Sendable {
        let policy: PinningPolicy
        let instant: Date
        var generation: UInt64 = 1
    }
}

extension TrustEvaluation {
    /// The receipt of the connection; `nil` if the server was refused. It is made at each call: keep it with the
    /// connection. An evaluator made from a source gives it the source's generation; otherwise the generation is 1.
    public var receipt: TrustReceipt? {
        origin.flatMap { TrustReceipt(self, by: $0.policy, generation: $0.generation, at: $0.instant) }
    }
}

extension TrustEvaluation {
    /// Creates the verdict on a chain that a TLS library could not parse, before any rule was looked up.
    package init(of endpoint: ServerEndpoint, unreadable failure: PathFailure) {
        self.init(endpoint: endpoint, decision: .rejected(.invalidPath(failure)), rule: nil, presented: nil, path: nil)
    }

    /// Creates the verdict of step 2 before there is a chain, for a host without a rule under a policy that refuses
    /// such hosts.
    package init(notAllowed endpoint: ServerEndpoint) {
        self.init(
            endpoint: endpoint, decision: .rejected(.hostNotAllowed(endpoint)), rule: nil, presented: nil, path: nil)
    }
}

extension TrustEvaluation {
    /// Checks the path of a decision a second time, for observers and delegates:
    ///
    ///     try evaluation.require(minimumPathLength: 3)
    ///
    /// It parses and hashes every certificate of the path again and trusts no result of the decision. If a pin decided,
    /// it is compared again with the certificate that it is said to have matched.
    ///
    /// The check detects an interceptor let in by a tool that disabled the decision but does not know this check. A
    /// tool can disable both, so the second check raises the attacker's cost but does not stop the attack. To have the
    /// decision itself check length and issuer, add them to the rule: ``PinnedHost/minimumPathLength`` and
    /// ``PinnedHost/issuerKey``.
    ///
    /// - Parameters:
    ///   - minimumPathLength: the minimum number of certificates on the path, including leaf and anchor. An interceptor
    ///     often signs directly with its root, which makes a path of 2. Values below 1 count as 1.
    ///   - issuerKey: the required key of the leaf's issuer, the next certificate on the path; `nil` for any.
    /// - Throws: the refusal of the evaluation. If it trusted the server, ``TrustRejection/invalidPath(_:)`` with the
    ///   first requirement that is not met, as for the terms of a rule.
    public func require(minimumPathLength: Int, issuerKey: PublicKeyPin? = nil) throws(TrustRejection) {
        switch decision {
        case .rejected(let rejection): throw rejection
        case .trusted(let basis):
            guard let path else { throw .unmet(.noPath) }
            try path.require(minimumLength: minimumPathLength, issuerKey: issuerKey, basis: basis)
        }
    }
}

extension ValidatedPath {
    /// Checks a path a second time, for an evaluation or a receipt.
    ///
    /// - Parameters:
    ///   - minimumLength: the minimum number of certificates, including leaf and anchor.
    ///   - issuerKey: the required key of the leaf's issuer; `nil` for any.
    ///   - basis: the reason why the path was trusted. If a pin matched, it is compared again.
    package func require(
        minimumLength: Int, issuerKey: PublicKeyPin?, basis: TrustBasis
    ) throws(TrustRejection) {
        guard !certificates.isEmpty else { throw .unmet(.pathTooShort(0, minimum: max(1, minimumLength))) }
        var keys: [PublicKeyPin] = []
        for (depth, der) in certificates.enumerated() {
            guard let key = PublicKeyPin(sliceOf: der) else { throw .unmet(.unreadableCertificate(depth: depth)) }
            keys.append(key)
        }
        if case .pinMatched(let match) = basis {
            guard certificates.indices.contains(match.depth) else { throw .unmet(.pinNotOnPath(match.pin)) }
            let isThere =
                switch match.pin.subject {
                case .publicKey(let pin): keys[match.depth] == pin
                case .certificate(let pin): CertificatePin(certificate: certificates[match.depth]) == pin
                }
            guard isThere else { throw .unmet(.pinNotOnPath(match.pin)) }
        }
        let terms = PathTerms(minimumLength: minimumLength, issuerKey: issuerKey)
        if let unmet = terms.unmet(by: self) { throw .unmet(unmet) }
    }
}

extension TrustEvaluation: CustomStringConvertible {
    /// The server and the verdict: `example.com:443 trusted, pin-matched: sha256/... at depth 0`.
    public var description: String { "\(endpoint) \(decision)" }
}
