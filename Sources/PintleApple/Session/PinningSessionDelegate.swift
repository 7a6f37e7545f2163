import Foundation
import Pintle

/// The delegate of a `URLSession`, which checks servers against a policy. `URLSession.pinned(to:)` makes one. Use it
/// directly if the session is made elsewhere:
///
///     let configuration = URLSessionConfiguration.default
///     configuration.protocolClasses = []
///     configuration.urlCache = nil
///     let delegate = PinningSessionDelegate(policy, forwardingTo: mine)
///     let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
///
/// A class in `protocolClasses` carries requests past the delegate, and a cache answers without it.
///
/// It answers one kind of challenge: about the certificates of the server that a request is for. For a trusted server
/// the answer is default handling, so the system checks once more. If the policy has private anchors, or the user has
/// approved the server, the answer is a credential.
///
/// A refused server ends the task. `didCompleteWithError` gets a `URLError`, in which `TrustRejection(underlying:)`
/// finds the reason. Before iOS 16, macOS 13, tvOS 16 and watchOS 9 this works only for tasks of a `PinnedURLSession`,
/// because other tasks do not report their start. The observer gets the reason in any case.
///
/// These calls also go to your delegate, after the decision of this one: other challenges, redirects, delayed requests,
/// and the creation, the response, the metrics and the end of a task. If your delegate lacks such a method, the answer
/// is the system's default. There is one exception: a host that the policy covers gets no client certificate. If it
/// insists on one, the task fails with a `URLError` that has the code `clientCertificateRequired`.
///
/// All other methods of the protocols of sessions, of data, download, stream and web socket tasks, and of
/// `AVAssetDownloadDelegate` are present only if your delegate has them. A method that a later system adds is absent,
/// because it may decide about trust. This delegate does not pin an `AVAssetDownloadURLSession`: another process loads
/// the media, and no challenge of it is known to reach a delegate.
///
/// A challenge for a client certificate, for NTLM or for Negotiate goes to your delegate's
/// `urlSession(_:didReceive:completionHandler:)`, and to no other method. The system's own fallback to
/// `urlSession(_:task:didReceive:completionHandler:)` does not apply. So implement the first one too if your delegate
/// answers such challenges.
///
/// - Important: For each method, the system asks a task's own delegate before the session's. So pass the result of
///   ``guarding(_:)`` as a task's delegate. From iOS 16, macOS 13, tvOS 16 and watchOS 9, this delegate cancels a task
///   that is made with another delegate that has `urlSession(_:didReceive:completionHandler:)`. It does not see a
///   delegate that is set later, or that implements `urlSession(_:didCreateTask:)` itself.
///
/// The delegate cancels tasks over `http` to a host that the policy covers. A policy covers a host by a rule for it, on
/// any port. It covers every host if it does not leave hosts without a rule to the system's trust. If a task is made
/// before the policy covers its host and started afterwards, it sends its request, because the system asks no delegate
/// before. The delegate refuses its response when it arrives.
///
/// After a change of the policy, and from iOS 16, macOS 13, tvOS 16 and watchOS 9, a session's next task first calls
/// `flush`. Apple documents that later requests then use new connections. No device has shown it yet, and the code of
/// several releases of the system keeps the connections. So for a policy that changes use a `PinnedURLSession`, which
/// makes another system session, or make another session yourself.
///
/// Nothing is evaluated on the delegate's queue. Safe to use from any thread.
public final class PinningSessionDelegate: NSObject, Sendable {
    private enum Role: Sendable {
        /// The delegate of sessions.
        case session(SessionPins)
        /// The delegate of a task, with the pins of the delegate that made it. In a session with other pins, those
        /// decide.
        case task(SessionPins)
        /// The delegate of a task, which asks the session for the pins.
        case taskOf(GuardedSession)
    }

    private struct GuardedSession: Sendable {
        weak var session: URLSession?
        /// The report of the pins that were found last. A delegate that is freed later leaves its observer, which hears
        /// of the refusal.
        let lastReport: Locked<(@Sendable (TaskFailure) -> Void)?>
        /// Pins that refuse every server.
        let missing: SessionPins

        init(
            session: URLSession, lastReport: Locked<(@Sendable (TaskFailure) -> Void)?>,
            refused: @escaping @Sendable (TaskFailure, URL) -> URLError
        ) {
            self.session = session
            self.lastReport = lastReport
            let report: @Sendable (TaskFailure) -> Void = { failure in lastReport.withLock { $0 }?(failure) }
            missing = SessionPins(nil, report: report, refused: refused)
        }

        /// Returns the pins of the session that asks, or of the one that made the guard.
        func pins(_ asking: URLSession) -> SessionPins {
            let found = PinnedSessions.pins(of: asking) ?? session.flatMap { PinnedSessions.pins(of: $0) }
            guard let found else { return missing }
            lastReport.withLock { $0 = found.report }
            return found
        }
    }

    private let role: Role
    /// The app's delegate. The system's session keeps this object, and so the app's delegate, until it is invalidated.
    let forwarded: (any URLSessionDelegate)?

    private init(_ role: Role, forwardingTo delegate: (any URLSessionDelegate)?) {
        self.role = role
        forwarded = delegate
    }

    /// Creates a delegate.
    ///
    /// - Parameters:
    ///   - source: A policy, or a source that can replace its policy; asked before each decision.
    ///   - delegate: Your delegate.
    ///   - observer: A closure that gets each verdict, on the thread that evaluated it.
    public convenience init(
        _ source: some PolicySource,
        forwardingTo delegate: (any URLSessionDelegate)? = nil,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        self.init(
            SessionPins(
                source, of: delegate,
                observer: { evaluation, _, _ in observer(evaluation) }, refused: { Self.plainError($0, $1) }))
    }

    /// Creates the delegate of sessions with these pins.
    package convenience init(_ pins: SessionPins) {
        self.init(.session(pins), forwardingTo: pins.delegate)
    }

    /// Returns a delegate for one task. It checks servers as this one does, and forwards the same calls to the task's
    /// own delegate. The system asks a task's delegate before the session's.
    ///
    ///     task.delegate = pinning.guarding(mine)
    ///
    /// If the task's own delegate lacks a method, the session's delegate gets the call. A delegate that this method has
    /// returned stays as it is.
    ///
    /// - Parameter delegate: The task's own delegate.
    public func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate {
        switch role {
        case .session(let pins), .task(let pins):
            if let guarded = delegate as? PinningSessionDelegate, guarded.known === pins { return guarded }
            return PinningSessionDelegate(.task(pins), forwardingTo: delegate)
        case .taskOf(let place):
            if let guarded = delegate as? PinningSessionDelegate, guarded.isGuard(of: place.session) { return guarded }
            return PinningSessionDelegate(role, forwardingTo: delegate)
        }
    }

    /// Returns a delegate for one task of a session. It looks the session's pins up at each decision. Without pins it
    /// refuses every server.
    ///
    /// - Parameter refused: Makes the error of a task that fails although its server was not refused.
    package static func guarding(
        _ delegate: any URLSessionTaskDelegate, in session: URLSession,
        refused: @escaping @Sendable (TaskFailure, URL) -> URLError
    ) -> any URLSessionTaskDelegate {
        let pins = PinnedSessions.pins(of: session)
        // A task that was made before its guard is refused only if the system asks about its server. It does not if
        // `flush` keeps connections.
        if pins == nil { session.flush {} }
        if let guarded = delegate as? PinningSessionDelegate, guarded.isGuard(of: session) { return guarded }
        let place = GuardedSession(session: session, lastReport: Locked(pins?.report), refused: refused)
        return PinningSessionDelegate(.taskOf(place), forwardingTo: delegate)
    }

    private func isGuard(of session: URLSession?) -> Bool {
        guard case .taskOf(let place) = role, let session else { return false }
        return place.session === session
    }

    /// Creates a system session with this delegate.
    package func makeSession(_ configuration: URLSessionConfiguration, delegateQueue: OperationQueue?) -> URLSession {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: delegateQueue)
        if let known { PinnedSessions.record(known, for: session) }
        return session
    }

    // MARK: Pins

    /// The pins of this delegate; `nil` if it asks the session for them.
    package var known: SessionPins? {
        switch role {
        case .session(let pins), .task(let pins): pins
        case .taskOf: nil
        }
    }

    /// Returns the pins that decide about a session's servers.
    func pins(_ session: URLSession) -> SessionPins {
        switch role {
        case .session(let pins): pins
        case .task(let pins): PinnedSessions.pins(of: session) ?? pins
        case .taskOf(let place): place.pins(session)
        }
    }

    /// Records that a session belongs to this delegate, or, if this is a guard, has the session's delegate record it.
    ///
    /// - Returns: `true` if the session's delegate got the call.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    func recordCreation(of task: URLSessionTask, in session: URLSession) -> Bool {
        if session.delegate === self { return false }
        guard case .session(let pins) = role else { return PinnedSessions.passOn(task, in: session) }
        PinnedSessions.record(pins, for: session, asCreatorOf: task)
        return false
    }

    private static let sessionChallenge = "URLSession:didReceiveChallenge:completionHandler:"

    /// Returns `true` if the system would ask the delegate of a new task about servers, and not this one.
    ///
    /// The system asks the first of the two that has the method of `URLSessionDelegate`. Only if neither has it, the
    /// system asks a method of `URLSessionTaskDelegate` about a server. A guard may be behind a library's delegate of
    /// the task. Then it gets the call of the creation, and not this delegate, unless it passes the call on.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    func isBypassed(by task: URLSessionTask, in session: URLSession) -> Bool {
        guard case .session(let pins) = role, PinnedSessions.pins(of: session) === pins,
            !PinnedSessions.isPassedOn(task), let delegate = task.delegate, !(delegate is PinningSessionDelegate)
        else { return false }
        return delegate.responds(to: Selector(Self.sessionChallenge))
    }

    /// Returns the delegates of the app that may have a method. The second one is that of a guarded task's session.
    func receivers<Delegate>(_ pins: SessionPins, _ kind: Delegate.Type) -> Receivers<Delegate> {
        guard case .session = role else {
            return Receivers(first: forwarded as? Delegate, second: pins.delegate as? Delegate)
        }
        return Receivers(first: forwarded as? Delegate, second: nil)
    }

    /// Returns the error of a failed task with the reason inside; `nil` if the session's server was not refused.
    package static func rejection(
        of error: URLError, in session: URLSession, refused: (TaskFailure, URL) -> URLError
    ) -> URLError? {
        if let pins = PinnedSessions.pins(of: session) { return pins.rejection(of: error) }
        guard let url = error.failingURL, PinnedSessions.hasRefused(error, url: url, in: session) else { return nil }
        return refused(.noPolicy, url)
    }

    /// Returns the error for sessions that this package has not made. It has no typed reason.
    static func plainError(_ refusal: TaskFailure, _ url: URL) -> URLError {
        let text =
            switch refusal {
            case .insecureRedirect: "the server redirects from https to http"
            case .plainHTTP: "the policy covers \(url.host ?? "this host"), and http cannot be judged"
            case .alias(let alias): "\(alias.message); \(alias.hint)"
            case .clientCertificate(let server):
                "\(server) asks for a client certificate; use Network.framework, or answer the challenge yourself"
            case .noPolicy: "\(TaskFailure.noPolicyText.message); \(TaskFailure.noPolicyText.hint)"
            case .unguardedDelegate: "\(TaskFailure.unguardedText.message); \(TaskFailure.unguardedText.hint)"
            }
        return URLError(
            refusal.code,
            userInfo: [NSLocalizedDescriptionKey: text, NSURLErrorFailingURLErrorKey: url])
    }

    // MARK: Absent methods

    // Only the lists of methods were tested. This part is compiled on Apple's systems only, and has not run there yet.
    #if canImport(ObjectiveC)
    /// Returns `true` for a method that decides, and for another one only if your delegate has it.
    public override func responds(to aSelector: Selector!) -> Bool {
        guard let aSelector, let answer = answer(to: aSelector) else { return super.responds(to: aSelector) }
        return answer
    }

    /// Returns your delegate for a method of a protocol that this class does not conform to.
    public override func forwardingTarget(for aSelector: Selector!) -> Any? {
        guard let aSelector, let target = target(of: aSelector) else { return super.forwardingTarget(for: aSelector) }
        return target
    }
    #endif
}
