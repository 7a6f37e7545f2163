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
