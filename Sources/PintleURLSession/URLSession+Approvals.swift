public import Foundation
public import Pintle
public import PintleReports
public import PintleStorage

#if PINTLE_APPLE
import Security
#else
public import FoundationNetworking
#endif

extension URLSession {
    /// A session for a policy that asks (`askUser`), with the default configuration.
    public static func pinned(to policy: PinningPolicy, approvals store: TrustDecisionStore) -> PinnedURLSession {
        pinned(to: policy, approvals: store, configuration: .default)
    }

    /// A session for a policy that asks (`askUser`): what people have approved in the store counts for hosts that no
    /// rule covers, from the next request on.
    ///
    /// Nothing waits for a person. A task that meets an unknown server fails; `TrustRejection(underlying:)` is
    /// ``TrustRejection/unknownHost(_:)``. Ask, ``TrustDecisionStore/approve(_:as:alsoAccepting:at:until:note:acceptingIncompleteRecord:)``, and start another
    /// task.
    ///
    /// Each change of the store, by another process too, is a new generation: connections that were made before carry
    /// no new request.
    public static func pinned(
        to policy: PinningPolicy, approvals store: TrustDecisionStore, configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil,
        observer: (any PinFailureObserver)? = nil
    ) -> PinnedURLSession {
        pinned(
            to: LivePolicy(policy), approvals: store, configuration: configuration, delegate: delegate,
            delegateQueue: delegateQueue, observer: observer)
    }

    /// The same for a policy that is replaced while it is in use, with the default configuration.
    public static func pinned(
        to source: some PolicySource, approvals store: TrustDecisionStore
    ) -> PinnedURLSession {
        pinned(to: source, approvals: store, configuration: .default)
    }

    /// The same for a policy that is replaced while it is in use.
    public static func pinned(
        to source: some PolicySource, approvals store: TrustDecisionStore, configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil,
        observer: (any PinFailureObserver)? = nil
    ) -> PinnedURLSession {
        pinned(
            to: ApprovedPolicy(source, approvals: store), configuration: configuration, delegate: delegate,
            delegateQueue: delegateQueue, observer: observer)
    }
}
