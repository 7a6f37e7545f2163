import Foundation
public import Pintle
public import PintleApple
public import PintleEvents

extension SessionPins {
    /// Creates the pins of a session of this module. They post events to an observer, and refuse requests with
    /// ``SessionError``.
    ///
    /// - Parameters:
    ///   - delegate: The app's delegate.
    ///   - isLast: Returns `true` if the app's delegate has to hear that a session became invalid.
    convenience init(
        _ source: any PolicySource, of delegate: (any URLSessionDelegate)?, observer: (any TrustEventObserver)?,
        isLast: @escaping @Sendable (URLSession) -> Bool = { _ in true }
    ) {
        self.init(
            source, of: delegate,
            observer: { evaluation, snapshot, instant in
                guard let observer,
                    let event = VerdictEvent(
                        evaluation, by: snapshot.policy, generation: snapshot.generation, at: instant)
                else { return }
                TrustEventFeed.shared.post(.verdict(event), to: observer)
            },
            report: { failure in
                guard let observer, let event = SessionEvent(failure) else { return }
                TrustEventFeed.shared.post(.session(event), to: observer)
            },
            isLast: isLast, refused: { PinningSessionDelegate.typedError($0, $1) })
    }
}

extension PinningSessionDelegate {
    /// Creates a delegate for a session of your own. Its observer gets the same events as one of
    /// `URLSession.pinned(to:observer:)`, and a task that the delegate refuses for another reason than its server fails
    /// with a ``SessionError`` inside its `URLError`.
    ///
    ///     let delegate = PinningSessionDelegate(policy, forwardingTo: mine, observer: reporter)
    ///
    /// - Parameters:
    ///   - source: A policy, or a source that can replace its policy; asked before each decision.
    ///   - delegate: Your delegate.
    ///   - observer: An observer of refusals, of mismatches in report-only mode, and of expired pins: a `PinReporter`,
    ///     a `TrustEventLog` or your own. No handshake waits for it.
    public convenience init(
        _ source: some PolicySource,
        forwardingTo delegate: (any URLSessionDelegate)? = nil, observer: (any TrustEventObserver)?
    ) {
        self.init(SessionPins(source, of: delegate, observer: observer))
    }

    static func typedError(_ failure: TaskFailure, _ url: URL) -> URLError {
        URLError(SessionError(failure, of: url), url: url)
    }
}

extension SessionEvent {
    /// Returns `nil` for a failure that the task's error tells in full.
    fileprivate init?(_ failure: TaskFailure) {
        guard case .noPolicy = failure else { return nil }
        let (message, hint) = TaskFailure.noPolicyText
        self.init(.noPolicy, classes: [], isResolved: false, text: "\(message): \(hint)")
    }
}

extension SessionError {
    fileprivate init(_ error: TaskFailure, of url: URL) {
        switch error {
        case .plainHTTP: self.init(plainHTTPTo: url)
        case .alias(let alias): self.init(alias)
        case .insecureRedirect:
            self.init(
                .insecureRedirect, "the server redirects from https to http",
                hint: "have the server redirect to https")
        case .noPolicy:
            self.init(.noPolicy, TaskFailure.noPolicyText.message, hint: TaskFailure.noPolicyText.hint)
        case .unguardedDelegate:
            self.init(.unguardedDelegate, TaskFailure.unguardedText.message, hint: TaskFailure.unguardedText.hint)
        case .clientCertificate(let server):
            self.init(
                .clientCertificateRequired,
                "\(server) asks for a client certificate, and a pinned session on Apple's systems has none to offer",
                hint:
                    "use Network.framework, where one connection judges the server and offers the identity, or answer "
                    + "the challenge in your delegate's urlSession(_:didReceive:completionHandler:)")
        }
    }

    init(plainHTTPTo url: URL) {
        self.init(
            .plainHTTP, "the policy covers \(url.host ?? "this host"), and http cannot be judged", hint: "use https")
    }
}
