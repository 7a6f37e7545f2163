import Foundation
import Pintle

extension PinningSessionDelegate: URLSessionDelegate {
    /// Answers challenges about a server's trust by the policy. Other challenges go to your delegate. If it does not
    /// implement this method, a host that the policy covers gets no client certificate.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let pins = pins(session)
        guard !challenge.isAboutServerTrust, !pins.areMissing else {
            return pins.answer(challenge, in: session, completionHandler)
        }
        let sessions = receivers(pins, (any URLSessionDelegate).self)
        guard let ask = sessions.flatMap({ offered($0, $0.urlSession(_:didReceive:completionHandler:)) }) else {
            return pins.answerByDefault(challenge, completionHandler)
        }
        pins.renewConnections(of: session)
        ask(session, challenge) { disposition, credential in
            // A password must not go over a connection that was accepted under an earlier policy.
            pins.renewConnections(of: session)
            completionHandler(disposition, credential)
        }
    }

    /// Forwards to your delegate. For a `PinnedURLSession` this happens once, after the last task of its last system
    /// session.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let pins = pins(session)
        pins.forget(session)
        PinnedSessions.forget(session)
        guard pins.isLast(session) else { return }
        forwarded.flatMap { offered($0, $0.urlSession(_:didBecomeInvalidWithError:)) }?(session, error)
    }

    /// Forwards to your delegate.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        forwarded.flatMap { offered($0, $0.urlSessionDidFinishEvents(forBackgroundURLSession:)) }?(session)
    }
}

extension PinningSessionDelegate: URLSessionTaskDelegate {
    private func tasks(_ pins: SessionPins) -> Receivers<any URLSessionTaskDelegate> {
        receivers(pins, (any URLSessionTaskDelegate).self)
    }

    /// The app's delegate, for methods that are present only if it has them.
    private var taskDelegate: (any URLSessionTaskDelegate)? { forwarded as? any URLSessionTaskDelegate }

    /// Forwards challenges for passwords to your delegate. If a challenge about a server's trust or for a client
    /// certificate arrives here, it is answered as in ``urlSession(_:didReceive:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let pins = pins(session)
        guard !challenge.isAboutServerTrust, !pins.areMissing else {
            return pins.answer(challenge, in: session, completionHandler)
        }
        guard
            let ask = tasks(pins).flatMap({
                offered($0, $0.urlSession(_:task:didReceive:completionHandler:))
            })
        else { return pins.answerByDefault(challenge, completionHandler) }
        pins.renewConnections(of: session)
        ask(session, task, challenge) { disposition, credential in
            pins.renewConnections(of: session)
            completionHandler(disposition, credential)
        }
    }

    /// Forwards to your delegate, with an error that has the reason for a refusal.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let pins = pins(session)
        let start = pins.start(of: task)
        let arrival = pins.arrivalError(of: task, task.ifReadable(\.response))
        let explained = error.map {
            start.refusal ?? arrival ?? explain($0, of: task, in: session, pins, since: start.mark)
        }
        tasks(pins).flatMap { offered($0, $0.urlSession(_:task:didCompleteWithError:)) }?(
            session, task, explained ?? arrival)
    }

    private func explain(
        _ error: any Error, of task: URLSessionTask, in session: URLSession, _ pins: SessionPins, since mark: Int
    ) -> any Error {
        let url = task.ifReadable(\.currentRequest)?.url
        if pins.areMissing, let error = error as? URLError, let url = error.failingURL ?? url,
            PinnedSessions.hasRefused(error, url: url, in: session)
        {
            return pins.refused(.noPolicy, url)
        }
        return pins.explain(error, url: url, since: mark)
    }

    /// Stops a redirect from `https` to `http`, and one over `http` to a host that the policy covers. The task then
    /// ends with the redirect as its response.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let pins = pins(session)
        pins.recordResponse(from: response.url)
        guard pins.allowsRedirect(from: response, to: request) else { return completionHandler(nil) }
        pins.renewConnections(of: session)
        guard
            let ask = tasks(pins).flatMap({
                offered($0, $0.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:))
            })
        else { return completionHandler(request) }
        ask(session, task, response, request) { answer in
            // The policy may have changed while the delegate decided.
            pins.renewConnections(of: session)
            completionHandler(answer.flatMap { pins.allowsRedirect(from: response, to: $0) ? $0 : nil })
        }
    }

    /// Cancels a task that would send without TLS to a host that the policy covers, each task of a guard without a
    /// policy, and each task whose own delegate would answer for the policy. Also cancels stream tasks, because the
    /// system sends their first bytes before any challenge.
    ///
    /// The system calls this before it returns the new task, so a cancelled task cannot start.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        let isSessionTold = recordCreation(of: task, in: session)
        let pins = pins(session)
        pins.renewConnections(of: session)
        let refusal = refusal(of: task, in: session, pins)
        pins.recordStart(of: task, at: pins.mark, refusal: refusal)
        if refusal != nil {
            if pins.areMissing {
                let url = task.ifReadable(\.originalRequest)?.url
                pins.recordMissing(url.flatMap { RejectionLog.server(of: $0) }, in: session)
            }
            task.cancel()
        }
        let receivers = tasks(pins)
        let told = Receivers(first: receivers.first, second: isSessionTold ? nil : receivers.second)
        told.flatMap { offered($0, $0.urlSession(_:didCreateTask:)) }?(session, task)
    }

    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    private func refusal(of task: URLSessionTask, in session: URLSession, _ pins: SessionPins) -> URLError? {
        if task is URLSessionStreamTask {
            return URLError(
                .unsupportedURL, userInfo: [NSLocalizedDescriptionKey: "a pinned session has no stream tasks"])
        }
        guard let url = task.ifReadable(\.originalRequest)?.url else { return nil }
        if pins.isRefused(url) { return pins.refusal(of: url) }
        guard isBypassed(by: task, in: session) else { return nil }
        return pins.refusalOfUnguardedDelegate(url)
    }

    /// Cancels a task that would use `http` to a host that the policy covers now, even if it did not cover the host
    /// when the task was made.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        let pins = pins(session)
        pins.renewConnections(of: session)
        let isRefused: @Sendable (URLRequest?) -> Bool = { $0?.url.map(pins.isRefused) ?? false }
        guard
            let ask = tasks(pins).flatMap({
                offered($0, $0.urlSession(_:task:willBeginDelayedRequest:completionHandler:))
            })
        else {
            return isRefused(request) ? completionHandler(.cancel, nil) : completionHandler(.continueLoading, nil)
        }
        ask(session, task, request) { disposition, other in
            // The task may have waited for hours, and the delegate may have taken some time too.
            pins.renewConnections(of: session)
            guard !isRefused(disposition == .useNewRequest ? other : request) else {
                return completionHandler(.cancel, nil)
            }
            completionHandler(disposition, other)
        }
    }

    /// Forwards to your delegate.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        taskDelegate.flatMap { offered($0, $0.urlSession(_:taskIsWaitingForConnectivity:)) }?(session, task)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let ask = taskDelegate.flatMap({ offered($0, $0.urlSession(_:task:needNewBodyStream:)) }) else {
            return completionHandler(nil)
        }
        ask(session, task, completionHandler)
    }

    /// Forwards to your delegate.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard
            let ask = taskDelegate.flatMap({
                offered($0, $0.urlSession(_:task:needNewBodyStreamFrom:completionHandler:))
            })
        else { return completionHandler(nil) }
        ask(session, task, offset, completionHandler)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        taskDelegate.flatMap {
            offered($0, $0.urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:))
        }?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    /// Forwards to your delegate.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        taskDelegate.flatMap { offered($0, $0.urlSession(_:task:didReceiveInformationalResponse:)) }?(
            session, task, response)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let pins = pins(session)
        // Of a task with a completion handler, the system reports no response, but it calls this method.
        pins.recordResponse(from: task.ifReadable(\.response)?.url)
        tasks(pins).flatMap { offered($0, $0.urlSession(_:task:didFinishCollecting:)) }?(session, task, metrics)
    }
}
