/// A verdict with what led to it.
public struct TrustEvaluation: Sendable {
    /// The server that was asked for.
    public let endpoint: ServerEndpoint
    /// The verdict.
    public let decision: TrustDecision
    /// The rule that decided; `nil` where none covers the host, or where nothing was looked up.
    public let rule: MatchedRule?
    /// What the server sent; `nil` where it could not be read.
    public let presented: PresentedChain?
    /// The path that validation found; `nil` where there is none or nobody looked.
    public let path: ValidatedPath?
}

extension TrustEvaluation {
    /// A verdict on a chain that a library refused to read, before any rule was looked up.
    package init(of endpoint: ServerEndpoint, unreadable failure: PathFailure) {
        self.init(endpoint: endpoint, decision: .rejected(.invalidPath(failure)), rule: nil, presented: nil, path: nil)
    }

    /// Step 2 alone, before there is a chain: a policy that refuses hosts without a rule has none for this one.
    package init(notAllowed endpoint: ServerEndpoint) {
        self.init(
            endpoint: endpoint, decision: .rejected(.hostNotAllowed(endpoint)), rule: nil, presented: nil, path: nil)
    }
}

extension TrustEvaluation {
    /// A second look at the path that was decided on, for observers and delegates:
    ///
    ///     try evaluation.require(minimumPathLength: 3)
    ///
    /// Every certificate of the path is read and hashed again; nothing that the decision found out is taken on trust.
    /// Where a pin decided, it is compared once more with the certificate that it is said to have matched.
    ///
    /// It finds an interceptor that was let in by a tool which switched the decision off but does not know of this look.
    /// A tool can switch off both: the second look raises its cost, and no more. To have the decision itself check the
    /// same two, write them as terms of the rule: ``PinnedHost/minimumPathLength`` and ``PinnedHost/issuerKey``.
    ///
    /// - Parameters:
    ///   - minimumPathLength: certificates on the path, leaf and anchor counted. An interceptor often signs directly with
    ///     its root, which makes a path of 2. Less than 1 counts as 1.
    ///   - issuerKey: the key of the certificate that has issued the leaf, the next one on the path; `nil` for any.
    /// - Throws: the first requirement that is not met. An evaluation that refused the server meets none.
    public func require(
        minimumPathLength: Int, issuerKey: PublicKeyPin? = nil
    ) throws(PathRequirementError) {
        switch decision {
        case .rejected(let rejection): throw .rejected(rejection)
        case .trusted(let basis):
            guard let path else { throw .noPath }
            try path.require(minimumLength: minimumPathLength, issuerKey: issuerKey, basis: basis)
        }
    }
}

extension ValidatedPath {
    /// The second look at a path: of an evaluation, and of a receipt.
    ///
    /// - Parameters:
    ///   - minimumLength: certificates, leaf and anchor counted.
    ///   - issuerKey: the key of the leaf's issuer; `nil` for any.
    ///   - basis: why the path was trusted; a pin that matched is compared again.
    package func require(
        minimumLength: Int, issuerKey: PublicKeyPin?, basis: TrustBasis
    ) throws(PathRequirementError) {
        guard !certificates.isEmpty else { throw .pathTooShort(0, minimum: max(1, minimumLength)) }
        var keys: [PublicKeyPin] = []
        for (depth, der) in certificates.enumerated() {
            guard let key = PublicKeyPin(sliceOf: der) else { throw .unreadableCertificate(depth: depth) }
            keys.append(key)
        }
        if case .pinMatched(let match) = basis {
            guard certificates.indices.contains(match.depth) else { throw .pinNotOnPath(match.pin) }
            let isThere =
                switch match.pin.subject {
                case .publicKey(let pin): keys[match.depth] == pin
                case .certificate(let pin): CertificatePin(certificate: certificates[match.depth]) == pin
                }
            guard isThere else { throw .pinNotOnPath(match.pin) }
        }
        let terms = PathTerms(minimumLength: minimumLength, issuerKey: issuerKey)
        if let unmet = terms.unmet(by: self) { throw unmet }
    }
}

extension TrustEvaluation: CustomStringConvertible {
    /// `example.com:443 trusted, pin-matched: sha256/... at depth 0`.
    public var description: String { "\(endpoint) \(decision)" }
}
