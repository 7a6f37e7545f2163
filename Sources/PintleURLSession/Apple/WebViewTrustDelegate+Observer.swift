#if !os(tvOS) && !os(watchOS)
public import Pintle
public import PintleApple
public import PintleEvents
public import WebKit

extension WebViewTrustDelegate {
    /// Creates a delegate whose observer gets the same events as one of `URLSession.pinned(to:observer:)`: of the
    /// servers of pages, of their parts, and of downloads.
    ///
    ///     trust = WebViewTrustDelegate(policy, forwardingTo: self, observer: reporter)
    ///
    /// - Parameters:
    ///   - source: A policy, or a source that can replace its policy; asked before each decision.
    ///   - delegate: Your delegate. It is not retained.
    ///   - observer: An observer of refusals, of mismatches in report-only mode, and of expired pins: a `PinReporter`,
    ///     a `TrustEventLog` or your own. No handshake waits for it.
    public convenience init(
        _ source: some PolicySource,
        forwardingTo delegate: (any WKNavigationDelegate)? = nil, observer: (any TrustEventObserver)?
    ) {
        let evaluator = ServerTrustEvaluator(source: source)
        self.init(source, observer.map { evaluator.observed(by: $0) } ?? evaluator, forwardingTo: delegate)
    }
}
#endif
