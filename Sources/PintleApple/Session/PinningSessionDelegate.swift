import Foundation
import Pintle
import PintleStorage
import Security

/// The delegate of a `URLSession` whose servers a policy decides about. `URLSession.pinned(to:)` makes one; take it
/// yourself where the session is made elsewhere:
///
///     let delegate = PinningSessionDelegate(policy, forwardingTo: mine)
///     let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
///
/// It answers one kind of challenge: about the certificates of the server that a request is for. A server that is
/// trusted is left to the system, which looks once more; a credential is given where the policy brings private
/// anchors or a person has approved. One that is refused ends the task: `didCompleteWithError` gets an `URLError`
/// whose reason `TrustRejection(underlying:)` finds (before iOS 16, macOS 13, tvOS 16 and watchOS 9 only for tasks of a
/// `PinnedURLSession`, because no other says when it began; the observer hears in any case). Everything else goes to your delegate, and where that has no method
/// for it, the answer is the one that the system would have given.
///
/// - Important: A task's own delegate comes before the session's, for redirects and, where it has the method, for what
///   a session is asked. So give such a one only inside another `PinningSessionDelegate` for the same policy.
///
/// A task over `http` that was made before the policy covered its host, and is started afterwards, sends its request: the
/// system asks no delegate before that. Its response is refused when it arrives.
///
/// After a change of the policy a session's next task goes over a new connection, from iOS 16, macOS 13, tvOS 16 and
/// watchOS 9 on, where the system tells of tasks that are made.
///
/// Nothing is evaluated on the delegate's queue. Safe to use from any thread.
public final class PinningSessionDelegate: NSObject, Sendable {
    let source: any PolicySource
    /// The system's: it keeps it as long as the session is not invalidated.
    let forwarded: (any URLSessionDelegate)?
    /// The session's, where this one is for a task: is told of what `forwarded` has no method for.
    let fallback: (any URLSessionDelegate)?
    let rejections: RejectionLog
    private let observer: @Sendable (TrustEvaluation, PolicySnapshot, Date) -> Void
    /// Whether the delegate is to hear that a session became invalid.
    let isLast: @Sendable (URLSession) -> Bool
    /// Makes the error for a response that is refused when it arrives.
    let refused: @Sendable (ArrivalRefusal, URL) -> URLError
    /// For each session, the generation of the policy under which its oldest connection may have been made.
    ///
    /// A new session may get the address, and so the entry, of one that was freed. That is harmless: an entry is never newer
    /// than the policy in force, and the new session has no connection from before, so at most it is flushed for nothing.
    /// No entry may be dropped while its session lives: the next change of the policy would not flush that session.
    private let generations: Locked<[ObjectIdentifier: UInt64]>

    /// - Parameters:
    ///   - source: a policy, or what replaces one while it is in use; asked before each decision.
    ///   - store: the approvals, for a policy that asks (`askUser`).
    ///   - delegate: is told of everything else.
    ///   - observer: is told of each verdict, on the thread that came to it.
    public init(
        _ source: some PolicySource, approvals store: TrustApprovalStore? = nil,
        forwardingTo delegate: (any URLSessionDelegate)? = nil,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        self.source = ApprovedPolicy.source(source, store)
        forwarded = delegate
        fallback = nil
        rejections = RejectionLog()
        generations = Locked([:])
        self.observer = { evaluation, _, _ in observer(evaluation) }
        isLast = { _ in true }
        refused = { Self.plainError($0, $1) }
    }

    /// For one of several sessions that are one to the user.
    package init(
        _ source: some PolicySource, forwardingTo delegate: (any URLSessionDelegate)?,
        observer: @escaping @Sendable (TrustEvaluation, PolicySnapshot, Date) -> Void,
        isLast: @escaping @Sendable (URLSession) -> Bool,
        refused: @escaping @Sendable (ArrivalRefusal, URL) -> URLError
    ) {
        self.source = source
        forwarded = delegate
        fallback = nil
        rejections = RejectionLog()
        generations = Locked([:])
        self.observer = observer
        self.isLast = isLast
        self.refused = refused
    }

    /// For a task of the other's session that brings a delegate of its own.
    private init(_ other: PinningSessionDelegate, forwardingTo delegate: any URLSessionTaskDelegate) {
        source = other.source
        forwarded = delegate
        fallback = other.forwarded
        rejections = other.rejections
        generations = other.generations
        observer = other.observer
        isLast = other.isLast
        refused = other.refused
    }

    /// Returns a delegate for one task, which decides about servers as this one does and forwards everything else to the
    /// task's own. The system asks a task's delegate before the session's.
    ///
    ///     task.delegate = pinning.guarding(mine)
    ///
    /// - Parameter delegate: the task's own.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        PinningSessionDelegate(self, forwardingTo: delegate)
    }

    /// The moment of now, for ``explain(_:url:since:)``.
    package var mark: Int { rejections.mark }

    /// Says when a task was made, and why it is not sent where it is not.
    package func recordStart(of task: URLSessionTask, at mark: Int, refusal: URLError?) {
        rejections.recordStart(of: task, at: mark, refusal: refusal)
    }

    /// Returns an error of a task with the reason in it, where the server was refused after `mark`, or where nothing may go
    /// to its address in the clear; else the error as it is.
    ///
    /// - Parameters:
    ///   - url: the address of the request, for an error that names none.
    ///   - mark: of the moment before the task was made; 0 for any.
    package func explain(_ error: any Error, url: URL?, since mark: Int) -> any Error {
        rejection(of: error, url: url, since: mark) ?? error
    }

    /// Returns `nil` where there is no reason.
    package func rejection(of error: any Error, url: URL? = nil, since mark: Int = 0) -> URLError? {
        guard let error = error as? URLError else { return nil }
        if error.code == .cancelled, let url = error.failingURL ?? url, isRefused(url) {
            return refused(.plainHTTP, url)
        }
        return rejections.rejection(of: error, url: url, since: mark)
    }

    /// Returns true where a request would go in the clear to a host that the policy has something to say about.
    func isRefused(_ url: URL) -> Bool { !source.current.policy.allowsPlainHTTP(to: url) }

    /// After a change of the policy a session's next request goes over a new connection, whose server is judged anew. To
    /// be asked before the request is on its way.
    func renewConnections(of session: URLSession) {
        let generation = source.current.generation
        generations.withLock { generations in
            let known = generations[ObjectIdentifier(session)]
            if let known, generation <= known { return }
            generations[ObjectIdentifier(session)] = generation
            // Under the lock: who finds the new generation there sends over no old connection. The session calls nobody
            // back from within: its delegate and the handler are called on the delegate queue.
            if known != nil { session.flush {} }
        }
    }

    /// A session that is over has no connections.
    func forget(_ session: URLSession) {
        generations.withLock { $0[ObjectIdentifier(session)] = nil }
    }

    /// Answers a challenge about a server's trust, away from the caller's queue.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let handed = Handed(challenge)
        TrustQueue.async {
            let challenge = handed.value
            let (snapshot, now) = (self.source.current, Date())
            let answer = ServerTrustEvaluator(snapshot).evaluate(challenge, at: now)
            if let evaluation = answer.evaluation { self.observer(evaluation, snapshot, now) }
            if let server = challenge.server { self.rejections.record(answer.rejection, of: server) }
            completionHandler(answer.disposition, answer.credential)
        }
    }
}

// MARK: Arrival

/// The system follows redirects of background sessions without asking. So where the response came from is looked at when
/// it arrives: the delegate gets nothing of a response over `http` that a foreground session would not have asked for.
extension PinningSessionDelegate {
    /// Returns the error that the task ends with; `nil` where its response may be used.
    func arrivalError(of task: URLSessionTask, _ response: URLResponse?) -> URLError? {
        guard let url = response?.url, url.scheme?.lowercased() == "http" else { return nil }
        if task.originalRequest?.url?.scheme?.lowercased() == "https" { return refused(.insecureRedirect, url) }
        if let host = url.host.flatMap({ try? ServerName($0) }), let alias = AddressAlias(host) {
            return refused(.alias(alias), url)
        }
        return source.current.policy.allowsPlainHTTP(to: url) ? nil : refused(.plainHTTP, url)
    }

    /// The same for a task that has its response already.
    func isRefusedOnArrival(_ task: URLSessionTask) -> Bool { arrivalError(of: task, task.response) != nil }

    /// The error for sessions that this package has not made: without a reason that has a type.
    static func plainError(_ refusal: ArrivalRefusal, _ url: URL) -> URLError {
        let text =
            switch refusal {
            case .insecureRedirect: "the server redirects from https to http"
            case .plainHTTP: "the policy covers \(url.host ?? "this host"), and http cannot be judged"
            case .alias(let alias): "\(alias.message); \(alias.hint)"
            }
        return URLError(
            refusal.code,
            userInfo: [NSLocalizedDescriptionKey: text, NSURLErrorFailingURLErrorKey: url])
    }
}
