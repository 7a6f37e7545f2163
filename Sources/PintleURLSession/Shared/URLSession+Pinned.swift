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
    /// Returns a session whose servers a policy decides about: for what `URLSession(configuration:delegate:delegateQueue:)`
    /// is for, and no request leaves before the verdict on the connection that carries it. On Apple's systems that verdict
    /// may be about another name of the same server: the article on Apple's systems says when, and what helps.
    ///
    ///     let session = URLSession.pinned(to: policy)
    ///
    /// A task that is refused fails with an `URLError`; `TrustRejection(underlying:)` has the reason.
    ///
    /// After a change of the policy, connections that were made before carry no new request (but for TLS sessions that
    /// background configurations resume on Apple's systems). What runs ends as it was decided; what has not sent anything
    /// yet is decided by the new policy.
    ///
    /// For a policy that asks (`askUser`), pass the approvals: what people have approved in the store counts for hosts that
    /// no rule covers, from the next request on. Nothing waits for a person. A task that meets an unknown server fails, and
    /// its rejection is ``TrustRejection/unknownHost(_:)``. Ask,
    /// ``TrustApprovalStore/approve(_:as:alsoAccepting:at:until:note:acceptingIncompleteRecord:)``, and start another task.
    /// Each change of the store, by another process too, is a change of the policy.
    ///
    /// - Parameters:
    ///   - source: a `PinningPolicy`, or what replaces one while it is in use: a `LivePolicy`, a `PolicyStore` or your own. It
    ///     is asked for the policy in force before each decision.
    ///   - store: the approvals, for a policy that asks.
    ///   - configuration: a copy is used, without the loaders in its `protocolClasses`.
    ///   - delegate: as with `URLSession`: kept until the session is invalidated, and called on the delegate queue.
    ///   - delegateQueue: as with `URLSession`: `nil` for a serial queue of the session's own.
    ///   - observer: hears of refusals, of mismatches that are only reported, and of expired pins: a `PinReporter`, a
    ///     `TrustFailureLog` or your own. No handshake waits for it.
    public static func pinned(
        to source: some PolicySource, approvals store: TrustApprovalStore? = nil,
        configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil, observer: (any TrustFailureObserver)? = nil
    ) -> PinnedURLSession {
        PinnedURLSession(
            source: ApprovedPolicy.source(source, store), configuration: configuration, delegate: delegate,
            delegateQueue: delegateQueue, observer: observer)
    }

    /// Returns an error of a task with the reason in it, for `TrustRejection(underlying:)`.
    ///
    ///     } catch {
    ///         switch TrustRejection(underlying: session.explain(error)) {
    ///
    /// Sessions on Linux, and every ``PinnedURLSession``, put the reason into the error themselves, and this returns it as it
    /// is. The system's sessions say only `cancelled`. For those, this looks up what the session's `PinningSessionDelegate`
    /// last said about the server that the error names, also where a library has wrapped the system's error. So do not ask
    /// it about a task that you have cancelled yourself; within a Swift task that was cancelled it returns the error as it
    /// is. A session that was invalidated has no delegate to ask.
    public func explain(_ error: any Error) -> any Error {
        #if PINTLE_APPLE
        guard !Task.isCancelled, let delegate = delegate as? PinningSessionDelegate else { return error }
        return CauseSearch.first(in: error) { ($0 as? URLError).flatMap { delegate.rejection(of: $0) } } ?? error
        #else
        error
        #endif
    }

    /// Returns what to give to a task of this session in the place of a delegate of its own:
    ///
    ///     let (data, _) = try await session.data(from: url, delegate: session.guarding(mine))
    ///
    /// On Apple's systems the system asks a task's delegate before the session's. So the result asks the session's policy
    /// about servers, and forwards everything else to the task's delegate. On Linux no task's delegate is asked about
    /// servers, and this returns it as it is; so it does where the session's delegate is no `PinningSessionDelegate`.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        #if PINTLE_APPLE
        (self.delegate as? PinningSessionDelegate)?.guarding(delegate) ?? delegate
        #else
        delegate
        #endif
    }
}
