public import Foundation
public import FoundationNetworking
public import Pintle

extension URLSession {
    /// A session whose servers a policy decides about, with the default configuration.
    public static func pinned(to policy: PinningPolicy) -> PinnedURLSession {
        pinned(to: policy, configuration: .default)
    }

    /// A session whose servers a policy decides about: the same as `URLSession(configuration:delegate:
    /// delegateQueue:)`, and no request leaves before the verdict on the connection that carries it.
    ///
    /// A task that is refused fails with an `URLError`; `TrustRejection(underlying:)` has the reason.
    public static func pinned(
        to policy: PinningPolicy, configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
    ) -> PinnedURLSession {
        PinnedURLSession(
            policy: policy, configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }
}
