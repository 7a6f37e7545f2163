import Foundation
public import Pintle
internal import PintleApple
public import PintleReports
public import PintleStorage
import Security

extension URLSession {
    /// Returns a session of the system's own that a policy decides about, for where a `URLSession` is stored or injected.
    /// The type decides which one you get:
    ///
    ///     let session: URLSession = .pinned(to: policy)
    ///     let client = APIClient(session: .pinned(to: policy))  // whose parameter is a URLSession
    ///
    /// It decides as the other session does. Its differences come from the system, which asks the session's delegate only:
    ///
    /// - A task that is refused fails with `cancelled`. Delegates get the reason in `didCompleteWithError`. For what a
    ///   completion handler gets, and what `await` throws, ask ``explain(_:)``.
    /// - A task's own delegate comes before the session's: give a task only what ``guarding(_:)`` returns.
    /// - Stream tasks are cancelled. A web socket is judged, and ends with whatever error the system gives.
    /// - Before iOS 16, macOS 13, tvOS 16 and watchOS 9, `http` to a host that the policy covers is for App Transport
    ///   Security to refuse, and connections that are open when the policy changes go on.
    ///
    /// The parameters are those of the function that returns a ``PinnedURLSession``. The session keeps its delegate until it
    /// is invalidated.
    @_disfavoredOverload
    public static func pinned(
        to source: some PolicySource, approvals store: TrustApprovalStore? = nil,
        configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil, observer: (any TrustFailureObserver)? = nil
    ) -> URLSession {
        let configuration = ClearedConfiguration(configuration)
        let delegate = PinningSessionDelegate(
            ApprovedPolicy.source(source, store), forwardingTo: delegate, observer: observer)
        configuration.foreignProtocols.report(to: observer)
        return URLSession(configuration: configuration.copy, delegate: delegate, delegateQueue: delegateQueue)
    }
}
