public import Foundation
public import Pintle
public import PintleReports

#if PINTLE_APPLE
import Security
#else
public import FoundationNetworking
#endif

extension URLSession {
    /// A session whose servers a policy decides about, with the default configuration.
    public static func pinned(to policy: PinningPolicy) -> PinnedURLSession {
        pinned(to: policy, configuration: .default)
    }

    /// A session whose servers a policy decides about: for what `URLSession(configuration:delegate:delegateQueue:)` is
    /// for, and no request leaves before the verdict on the connection that carries it. On Apple's systems that verdict
    /// may be about another name of the same server: the article on Apple's systems says when, and what helps.
    ///
    /// A task that is refused fails with an `URLError`; `TrustRejection(underlying:)` has the reason.
    ///
    /// - Parameter observer: hears of refusals, of mismatches that are only reported, and of expired pins: a
    ///   `PinReporter`, a `PinFailureLog` or your own. No handshake waits for it.
    public static func pinned(
        to policy: PinningPolicy, configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil,
        observer: (any PinFailureObserver)? = nil
    ) -> PinnedURLSession {
        pinned(
            to: LivePolicy(policy), configuration: configuration, delegate: delegate, delegateQueue: delegateQueue,
            observer: observer)
    }

    /// A session whose failures an observer hears of, with the default configuration.
    public static func pinned(to policy: PinningPolicy, observer: any PinFailureObserver) -> PinnedURLSession {
        pinned(to: policy, configuration: .default, observer: observer)
    }

    /// A session that asks for the policy in force before each decision, with the default configuration.
    public static func pinned(to source: some PolicySource) -> PinnedURLSession {
        pinned(to: source, configuration: .default)
    }

    /// A session that asks for the policy in force before each decision.
    ///
    /// After a change, connections that were made before carry no new request (but for background configurations on
    /// Apple's systems, and TLS sessions that those resume). What runs ends as it was decided;
    /// what has not sent anything yet is decided anew.
    public static func pinned(
        to source: some PolicySource, configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil,
        observer: (any PinFailureObserver)? = nil
    ) -> PinnedURLSession {
        PinnedURLSession(
            source: source, configuration: configuration, delegate: delegate, delegateQueue: delegateQueue,
            observer: observer)
    }

    /// The same whose failures an observer hears of, with the default configuration.
    public static func pinned(to source: some PolicySource, observer: any PinFailureObserver) -> PinnedURLSession {
        pinned(to: source, configuration: .default, observer: observer)
    }
}
