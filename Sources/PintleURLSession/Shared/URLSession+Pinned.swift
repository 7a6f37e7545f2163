public import Foundation
public import Pintle
public import PintleEvents

#if !PINTLE_APPLE
public import FoundationNetworking
#endif

extension URLSession {
    /// Returns a session that checks every server against a policy. Use it in place of
    /// `URLSession(configuration:delegate:delegateQueue:)`.
    ///
    ///     let session = URLSession.pinned(to: policy)
    ///
    /// No request is sent before the verdict on the connection that carries it. On Apple's systems that verdict may be
    /// about another name of the same server, or the connection may resume a TLS session without a verdict. See "Known
    /// gaps" in <doc:/PintleApple/ApplePlatforms>.
    ///
    /// A refused task fails with a `URLError`. `TrustRejection(underlying:)` returns the reason.
    ///
    /// After a change of the policy, older connections carry no new requests, but for the same gaps. Running tasks
    /// finish under the policy that accepted them. On Apple's systems this holds for new tasks of a
    /// ``PinnedURLSession`` that is not for the background. Otherwise it rests on the system's `flush`, which no device
    /// has shown to do so.
    ///
    /// For a policy with `askUser`, pass the approvals. The user's approvals in the store apply to hosts that no rule
    /// covers, from the next request on. No request waits for the user: a task that meets an unknown server fails, and
    /// its rejection is ``/Pintle/TrustRejection/unknownHost(_:)``. Ask the user, call
    /// ``/PintleStorage/TrustApprovalStore/approve(_:as:alsoAccepting:at:until:note:acceptingIncompleteRecord:)``, and
    /// start another task. Each change of the store counts as a change of the policy, even if another process makes it.
    ///
    /// - Parameters:
    ///   - source: A `PinningPolicy`, or a source that can replace its policy: a `LivePolicy`, a `PolicyStore` or your
    ///     own. The session asks it for the policy in force before each decision.
    ///   - configuration: The configuration. The session uses a copy without the classes in `protocolClasses`.
    ///   - delegate: The delegate, called on the delegate queue. The session keeps it: a `URLSession` until it is
    ///     invalidated, a `PinnedURLSession` until it is also released.
    ///   - delegateQueue: The queue, as with `URLSession`; `nil` for a serial queue of the session's own.
    ///   - observer: An observer of refusals, of mismatches in report-only mode, and of expired pins: a `PinReporter`,
    ///     a `TrustEventLog` or your own. No handshake waits for it.
    public static func pinned(
        to source: some PolicySource,
        configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil, observer: (any TrustEventObserver)? = nil
    ) -> PinnedURLSession {
        PinnedURLSession(
            source: source, configuration: configuration, delegate: delegate,
            delegateQueue: delegateQueue, observer: observer)
    }

    /// Returns an error of a task with the reason for a refusal inside, for `TrustRejection(underlying:)`.
    ///
    ///     } catch {
    ///         switch TrustRejection(underlying: session.explain(error)) {
    ///
    /// Sessions on Linux, and every ``PinnedURLSession``, put the reason into the error themselves. For them this
    /// method returns the error unchanged.
    ///
    /// The system's sessions report only `cancelled`. For them this method looks up the last decision of the session's
    /// `PinningSessionDelegate` about the server that the error names. A library may have wrapped the error, or put a
    /// delegate of its own before the session's. Do not call it for a task that you have cancelled yourself. Inside a
    /// cancelled Swift task it returns the error unchanged. An invalidated session has no delegate, so its errors also
    /// stay unchanged.
    public func explain(_ error: any Error) -> any Error {
        #if PINTLE_APPLE
        guard !Task.isCancelled else { return error }
        return CauseSearch.first(in: error) {
            ($0 as? URLError).flatMap {
                PinningSessionDelegate.rejection(of: $0, in: self, refused: PinningSessionDelegate.typedError)
            }
        } ?? error
        #else
        error
        #endif
    }

    /// Returns a delegate to pass to a task of this session in place of the task's own delegate:
    ///
    ///     let (data, _) = try await session.data(from: url, delegate: session.guarding(mine))
    ///
    /// For each method, Apple's systems ask a task's delegate before the session's. So the result checks servers
    /// against the session's policy, and forwards other calls to the task's delegate: see `PinningSessionDelegate`.
    ///
    /// The result looks up the session's policy at each decision. It finds the policy of a session that
    /// `URLSession.pinned(to:)` or a `PinningSessionDelegate` has pinned, even if a library has put a delegate of its
    /// own before the session's. If it does not find one, it refuses the task, or the server of a task that was already
    /// made. The task fails with
    /// ``SessionError/Code/noPolicy``, and the observer gets an event if one is known. Then call `guarding(_:)` of the
    /// `PinningSessionDelegate` that has the policy. Before iOS 16, macOS 13, tvOS 16 and watchOS 9, such a delegate of
    /// your own behind a library's is not known.
    ///
    /// Guard every task's delegate, even one that answers no challenge, and guard it before the task is made. From iOS
    /// 16, macOS 13, tvOS 16 and watchOS 9 a pinned `URLSession` cancels a task made with another delegate that has
    /// `urlSession(_:didReceive:completionHandler:)`, with ``SessionError/Code/unguardedDelegate``. It does not see a
    /// delegate that is set later, or that has `urlSession(_:didCreateTask:)`. Such a task may leave a connection that
    /// the pins have not checked, and no later guard is known to stop its use.
    ///
    /// On Linux a task's delegate is never asked about servers, so this method returns it unchanged.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        #if PINTLE_APPLE
        PinningSessionDelegate.guarding(delegate, in: self, refused: PinningSessionDelegate.typedError)
        #else
        delegate
        #endif
    }
}
