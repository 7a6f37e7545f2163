import Foundation
public import Pintle
internal import PintleApple
public import PintleEvents

extension URLSession {
    /// Returns a system session that checks every server against a policy, for code that stores or injects a
    /// `URLSession`. The declared type selects this function:
    ///
    ///     let session: URLSession = .pinned(to: policy)
    ///     let client = APIClient(session: .pinned(to: policy))  // whose parameter is a URLSession
    ///
    /// It makes the same decisions as ``PinnedURLSession``. The differences come from the system, which asks only the
    /// session's delegate:
    ///
    /// - A refused task fails with `cancelled`. Delegates get the reason in `didCompleteWithError`. For the error of a
    ///   completion handler or of an `await`, call ``explain(_:)``.
    /// - For each method, the system asks a task's own delegate before the session's. So pass only the result of
    ///   ``guarding(_:)`` as a task's delegate. A task that is made with another delegate for challenges about servers
    ///   is cancelled, with ``SessionError/Code/unguardedDelegate``.
    /// - After a change of the policy, only `flush` separates later requests from older connections. Apple documents
    ///   that it does, no device has shown it yet, and the code of several releases of the system keeps connections.
    ///   So for a ``/Pintle/LivePolicy``, a `PolicyStore` or approvals use a ``PinnedURLSession``.
    /// - Stream tasks are cancelled. A web socket's server is checked too, and a refused web socket fails with the
    ///   system's own error.
    /// - Before iOS 16, macOS 13, tvOS 16 and watchOS 9, only App Transport Security refuses `http` to a host that the
    ///   policy covers. There no task is cancelled for its delegate, and no change of the policy calls `flush`.
    ///
    /// The parameters are those of the function that returns a ``PinnedURLSession``. The session keeps its delegate
    /// until it is invalidated.
    @_disfavoredOverload
    public static func pinned(
        to source: some PolicySource,
        configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil, observer: (any TrustEventObserver)? = nil
    ) -> URLSession {
        let configuration = ClearedConfiguration(configuration)
        let delegate = PinningSessionDelegate(
            source, forwardingTo: delegate, observer: observer)
        configuration.foreignProtocols.report(to: observer)
        return delegate.makeSession(configuration.copy, delegateQueue: delegateQueue)
    }
}
