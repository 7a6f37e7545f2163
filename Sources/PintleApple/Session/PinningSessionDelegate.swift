import Foundation
import Pintle
import PintleStorage

/// The delegate of a `URLSession`, which checks servers against a policy. `URLSession.pinned(to:)` makes one. Use it
/// directly if the session is made elsewhere:
///
///     let delegate = PinningSessionDelegate(policy, forwardingTo: mine)
///     let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
///
/// It answers one kind of challenge: about the certificates of the server that a request is for. For a trusted server
/// the answer is default handling, so the system checks once more. If the policy has private anchors, or the user has
/// approved the server, the answer is a credential.
///
/// A refused server ends the task. `didCompleteWithError` gets a `URLError`, in which `TrustRejection(underlying:)`
/// finds the reason. Before iOS 16, macOS 13, tvOS 16 and watchOS 9 this works only for tasks of a `PinnedURLSession`,
/// because other tasks do not report their start. The observer gets the reason in any case.
///
/// All other calls go to your delegate. If it does not implement a method, the answer is the system's default. There is
/// one exception: a host that the policy covers gets no client certificate. If it insists on one, the task fails with a
/// `URLError` that has the code `clientCertificateRequired`.
///
/// - Important: The system asks a task's own delegate before the session's: about redirects, and about challenges if it
///   has that method. So wrap such a delegate in another `PinningSessionDelegate` for the same policy.
///
/// The delegate cancels tasks over `http` to a host that the policy covers. A policy covers a host by a rule for it, on
/// any port. It covers every host if it does not leave hosts without a rule to the system's trust. If a task is made
/// before the policy covers its host and started afterwards, it sends its request, because the system asks no delegate
/// before. The delegate refuses its response when it arrives.
///
/// After a change of the policy, a session's next task uses a new connection. This needs iOS 16, macOS 13, tvOS 16 or
/// watchOS 9, where the system reports new tasks.
///
/// Nothing is evaluated on the delegate's queue. Safe to use from any thread.
public final class PinningSessionDelegate: NSObject, Sendable {
    let source: any PolicySource
    /// The delegate that gets all other calls. The system's session keeps this object, and so your delegate, until it
    /// is invalidated.
    let forwarded: (any URLSessionDelegate)?
    /// The session's own delegate, if this one is for a task. It gets the calls for which `forwarded` has no method.
    let fallback: (any URLSessionDelegate)?
    let rejections: RejectionLog
    private let observer: @Sendable (TrustEvaluation, PolicySnapshot, Date) -> Void
    /// Returns `true` if the delegate has to hear that this session became invalid.
    let isLast: @Sendable (URLSession) -> Bool
    /// Makes the error of a task that fails although its server was not refused.
    let refused: @Sendable (TaskFailure, URL) -> URLError
    /// For each session, the generation of the policy under which its oldest connection may have been made.
    ///
    /// A new session may get the address, and so the entry, of a freed one. That is harmless: an entry is never newer
    /// than the policy in force, and the new session has no older connections, so at most it is flushed needlessly. But
    /// no entry may be dropped while its session exists: the next change of the policy would then not flush that
    /// session.
    private let generations: Locked<[ObjectIdentifier: UInt64]>

    /// Creates a delegate.
    ///
    /// - Parameters:
    ///   - source: A policy, or a source that can replace its policy; asked before each decision.
    ///   - store: The user's approvals, for a policy with `askUser`.
    ///   - delegate: Your delegate, which gets all other calls.
    ///   - observer: A closure that gets each verdict, on the thread that evaluated it.
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

    /// Creates a delegate for a `PinnedURLSession`, which may use several system sessions.
    package init(
        _ source: some PolicySource, forwardingTo delegate: (any URLSessionDelegate)?,
        observer: @escaping @Sendable (TrustEvaluation, PolicySnapshot, Date) -> Void,
        isLast: @escaping @Sendable (URLSession) -> Bool,
        refused: @escaping @Sendable (TaskFailure, URL) -> URLError
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

    /// Creates a delegate for one task with a delegate of its own, in a session of the other delegate.
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

    /// Returns a delegate for one task. It checks servers as this one does, and forwards all other calls to the task's
    /// own delegate. The system asks a task's delegate before the session's.
    ///
    ///     task.delegate = pinning.guarding(mine)
    ///
    /// - Parameter delegate: The task's own delegate.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        PinningSessionDelegate(self, forwardingTo: delegate)
    }

    /// The current position in the rejection log, for ``explain(_:url:since:)``.
    package var mark: Int { rejections.mark }

    /// Records when a task was made, and the reason if it must not be sent.
    package func recordStart(of task: URLSessionTask, at mark: Int, refusal: URLError?) {
        rejections.recordStart(of: task, at: mark, refusal: refusal)
    }

    /// Returns an error of a task with the reason inside, if its server was refused after `mark` or got no client
    /// certificate, or if its address must not be used without TLS. Otherwise returns the error unchanged.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, for an error that has none.
    ///   - mark: The mark before the task was made; 0 for any time.
    package func explain(_ error: any Error, url: URL?, since mark: Int) -> any Error {
        rejection(of: error, url: url, since: mark) ?? error
    }

    /// Returns the error with the reason inside; `nil` if there is no reason.
    package func rejection(of error: any Error, url: URL? = nil, since mark: Int = 0) -> URLError? {
        guard let error = error as? URLError else { return nil }
        if error.code == .cancelled, let url = error.failingURL ?? url, isRefused(url) {
            return refused(.plainHTTP, url)
        }
        if let url = error.failingURL ?? url, let server = rejections.serverWithoutCertificate(error.code, url) {
            return refused(.clientCertificate(server), url)
        }
        return rejections.rejection(of: error, url: url, since: mark)
    }

    /// Returns `true` if a request would go without TLS to a host that the policy covers.
    func isRefused(_ url: URL) -> Bool { !source.current.policy.allowsPlainHTTP(to: url) }

    /// After a change of the policy, makes the session's next request use a new connection, so that the new policy
    /// checks its server. Call it before the request is sent.
    func renewConnections(of session: URLSession) {
        let generation = source.current.generation
        generations.withLock { generations in
            let known = generations[ObjectIdentifier(session)]
            if let known, generation <= known { return }
            generations[ObjectIdentifier(session)] = generation
            // Flush under the lock, so that a thread that sees the new generation sends over no old connection. This
            // cannot deadlock: the session calls its delegate and the handler on the delegate queue.
            if known != nil { session.flush {} }
        }
    }

    /// Removes the entry of a session that has ended, which has no connections.
    func forget(_ session: URLSession) {
        generations.withLock { $0[ObjectIdentifier(session)] = nil }
    }

    /// Answers a challenge about a server's trust, outside of the caller's queue.
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

    /// Answers a challenge for which your delegate has no method.
    func answerByDefault(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let disposition = challenge.defaultDisposition(source.current.policy)
        if disposition == .rejectProtectionSpace, let server = challenge.server {
            rejections.recordMissingCertificate(of: server)
        }
        completionHandler(disposition, nil)
    }
}

// MARK: Arrival

/// Checks of a response when it arrives. The system follows redirects of background sessions without asking. So the
/// delegate does not get a response over `http` if a foreground session would not have sent the request.
extension PinningSessionDelegate {
    /// Returns the error that the task ends with; `nil` if its response may be used.
    func arrivalError(of task: URLSessionTask, _ response: URLResponse?) -> URLError? {
        guard let url = response?.url, url.scheme?.lowercased() == "http" else { return nil }
        if task.originalRequest?.url?.scheme?.lowercased() == "https" { return refused(.insecureRedirect, url) }
        if let host = url.host.flatMap({ try? ServerName($0) }), let alias = AddressAlias(host) {
            return refused(.alias(alias), url)
        }
        return source.current.policy.allowsPlainHTTP(to: url) ? nil : refused(.plainHTTP, url)
    }

    /// Returns `true` if a task has a response that is refused on arrival.
    func isRefusedOnArrival(_ task: URLSessionTask) -> Bool { arrivalError(of: task, task.response) != nil }

    /// Returns the error for sessions that this package has not made. It has no typed reason.
    static func plainError(_ refusal: TaskFailure, _ url: URL) -> URLError {
        let text =
            switch refusal {
            case .insecureRedirect: "the server redirects from https to http"
            case .plainHTTP: "the policy covers \(url.host ?? "this host"), and http cannot be judged"
            case .alias(let alias): "\(alias.message); \(alias.hint)"
            case .clientCertificate(let server):
                "\(server) asks for a client certificate; use Network.framework, or answer the challenge yourself"
            }
        return URLError(
            refusal.code,
            userInfo: [NSLocalizedDescriptionKey: text, NSURLErrorFailingURLErrorKey: url])
    }
}
