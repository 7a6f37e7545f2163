import Foundation
import Pintle

/// The policy of a session and what its delegate remembers, which the guards of its tasks share. Safe to use from any
/// thread.
package final class SessionPins: Sendable {
    /// `nil` if no policy is known. Then every server is refused.
    private let source: (any PolicySource)?
    /// The app's own delegate of the session.
    let delegate: (any URLSessionDelegate)?
    let rejections = RejectionLog()
    private let observer: @Sendable (TrustEvaluation, PolicySnapshot, Date) -> Void
    /// Reports a failure that no verdict on a server explains.
    let report: (@Sendable (TaskFailure) -> Void)?
    /// Returns `true` if the app's delegate has to hear that a session became invalid. Called once for each session.
    let isLast: @Sendable (URLSession) -> Bool
    /// Makes the error of a task that fails although its server was not refused.
    let refused: @Sendable (TaskFailure, URL) -> URLError
    /// For each session, the generation of the policy under which its oldest connection may have been made.
    ///
    /// No entry may be dropped while its session exists: the next change of the policy would not flush that session.
    private let generations = Locked(WeakTable<URLSession, UInt64>(capacity: 1 << 20))

    package init(
        _ source: (any PolicySource)?, of delegate: (any URLSessionDelegate)? = nil,
        observer: @escaping @Sendable (TrustEvaluation, PolicySnapshot, Date) -> Void = { _, _, _ in },
        report: (@Sendable (TaskFailure) -> Void)? = nil,
        isLast: @escaping @Sendable (URLSession) -> Bool = { _ in true },
        refused: @escaping @Sendable (TaskFailure, URL) -> URLError
    ) {
        self.source = source
        self.delegate = delegate
        self.observer = observer
        self.report = report
        self.isLast = isLast
        self.refused = refused
    }

    /// A Boolean value that indicates whether no policy is known.
    var areMissing: Bool { source == nil }

    // MARK: Connections

    /// Flushes the session, so that the policy checks the server of its next request: after a change of the policy, and
    /// always if these are not the session's own pins. Call it before the request is sent.
    ///
    /// Apple documents that requests after `flush` use new connections. The code of several releases of the system only
    /// saves cookies and credentials there.
    func renewConnections(of session: URLSession) {
        // In a session of others, each task without these pins may leave a connection that they have not checked.
        guard PinnedSessions.pins(of: session) === self else { return session.flush {} }
        guard let generation = source?.current.generation else { return }
        let isFromStart = (session.delegate as? PinningSessionDelegate)?.known === self
        _ = generations.withLock { generations -> [URLSession] in
            let known = generations[session]
            if let known, generation <= known { return [] }
            // Flush under the lock, so that a thread that sees the new generation sends over no old connection. This
            // cannot deadlock: the session calls its delegate and the handler on the delegate queue. A session whose
            // delegate comes to light later may have connections already.
            if known != nil || !isFromStart { session.flush {} }
            return generations.insert(generation, for: session)
        }
    }

    /// Removes the entry of a session that has ended, which has no connections.
    func forget(_ session: URLSession) {
        generations.withLock { $0[session] = nil }
    }

    // MARK: Challenges

    /// Answers a challenge about a server's trust, outside of the caller's queue. Without a policy it refuses every
    /// challenge.
    func answer(
        _ challenge: URLAuthenticationChallenge, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let source else {
            recordMissing(challenge.server, in: session)
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        let handed = Handed(challenge)
        TrustQueue.async {
            let challenge = handed.value
            let (snapshot, now) = (source.current, Date())
            let answer = ServerTrustEvaluator(snapshot).evaluate(challenge, at: now)
            if let evaluation = answer.evaluation { self.observer(evaluation, snapshot, now) }
            if let server = challenge.server { self.rejections.record(answer.rejection, of: server) }
            completionHandler(answer.disposition, answer.credential)
        }
    }

    /// Records and reports that a guard refused a server because it found no pins.
    func recordMissing(_ server: ServerEndpoint?, in session: URLSession) {
        if let server { PinnedSessions.recordRefusal(of: server, in: session) }
        report?(.noPolicy)
    }

    /// Answers a challenge for which no delegate of the app has a method.
    func answerByDefault(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let policy = source?.current.policy else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        let disposition = challenge.defaultDisposition(policy)
        if disposition == .rejectProtectionSpace, let server = challenge.server {
            rejections.recordMissingCertificate(of: server)
        }
        completionHandler(disposition, nil)
    }

    // MARK: Requests without TLS

    /// Returns `true` if a request would go without TLS to a host that the policy covers. Without a policy every
    /// request is refused, because it may go over a connection that no policy has checked.
    func isRefused(_ url: URL) -> Bool {
        guard let policy = source?.current.policy else { return true }
        return !policy.allowsPlainHTTP(to: url)
    }

    /// Returns the error of a request that goes without TLS to a host that the policy covers.
    func refusal(of url: URL) -> URLError { refused(areMissing ? .noPolicy : .plainHTTP, url) }

    /// Records and returns the error of a task whose own delegate would answer for the policy.
    func refusalOfUnguardedDelegate(_ url: URL) -> URLError {
        if let server = RejectionLog.server(of: url) { rejections.recordUnguardedDelegate(for: server) }
        return refused(.unguardedDelegate, url)
    }

    func allowsRedirect(from response: HTTPURLResponse, to request: URLRequest) -> Bool {
        guard let policy = source?.current.policy else { return false }
        return policy.allowsRedirect(from: response.url, to: request.url)
    }

    /// Returns the error that a task ends with because of its response; `nil` if the response may be used.
    ///
    /// The system follows redirects of background sessions without asking. So a delegate does not get a response over
    /// `http` if a foreground session would not have sent the request.
    func arrivalError(of task: URLSessionTask, _ response: URLResponse?) -> URLError? {
        guard let url = response?.url else { return nil }
        guard let source else { return refused(.noPolicy, url) }
        // Called for each chunk of data. A source may have to take locks to answer, so it is asked only about `http`.
        guard url.scheme?.lowercased() == "http" else { return nil }
        if task.ifReadable(\.originalRequest)?.url?.scheme?.lowercased() == "https" {
            return refused(.insecureRedirect, url)
        }
        if let host = url.host.flatMap({ try? ServerName($0) }), let alias = AddressAlias(host) {
            return refused(.alias(alias), url)
        }
        return source.current.policy.allowsPlainHTTP(to: url) ? nil : refused(.plainHTTP, url)
    }

    // MARK: Reasons

    /// The current position in the log of refusals, for ``explain(_:url:since:)``.
    package var mark: Int { rejections.mark }

    /// Records when a task was made, and the reason if it must not be sent.
    package func recordStart(of task: URLSessionTask, at mark: Int, refusal: URLError?) {
        rejections.recordStart(of: task, at: mark, refusal: refusal)
    }

    /// Removes and returns the start of a task.
    func start(of task: URLSessionTask) -> RejectionLog.Start { rejections.start(of: task) }

    /// Records that a server sent a response, so it does not insist on a client certificate.
    func recordResponse(from url: URL?) {
        if let url { rejections.recordResponse(from: url) }
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
        if error.code == .cancelled, let url = error.failingURL ?? url, isRefused(url) { return refusal(of: url) }
        if let url = error.failingURL ?? url, let server = rejections.serverWithoutCertificate(error.code, url) {
            return refused(.clientCertificate(server), url)
        }
        if error.code == .cancelled, let url = error.failingURL ?? url,
            rejections.hasUnguardedDelegate(for: url, since: mark)
        {
            return refused(.unguardedDelegate, url)
        }
        return rejections.rejection(of: error, url: url, since: mark)
    }
}
