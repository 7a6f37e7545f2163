import Foundation
import Pintle

extension PinningSessionDelegate: URLSessionDelegate {
    private var sessions: Receivers<any URLSessionDelegate> { Receivers(first: forwarded, second: fallback) }

    /// Answers challenges about a server's trust by the policy. Other challenges go to your delegate. If it does not
    /// implement this method, a host that the policy covers gets no client certificate.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard !challenge.isAboutServerTrust else { return answer(challenge, completionHandler) }
        guard let ask = sessions.flatMap({ offered($0.urlSession(_:didReceive:completionHandler:)) }) else {
            return answerByDefault(challenge, completionHandler)
        }
        renewConnections(of: session)
        ask(session, challenge) { disposition, credential in
            // A password must not go over a connection that was accepted under an earlier policy.
            self.renewConnections(of: session)
            completionHandler(disposition, credential)
        }
    }

    /// Forwards to your delegate. For a `PinnedURLSession` this happens once, after its last system session.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        forget(session)
        guard isLast(session) else { return }
        sessions.flatMap { offered($0.urlSession(_:didBecomeInvalidWithError:)) }?(session, error)
    }

    /// Forwards to your delegate.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        sessions.flatMap { offered($0.urlSessionDidFinishEvents(forBackgroundURLSession:)) }?(session)
    }
}

extension PinningSessionDelegate: URLSessionTaskDelegate {
    private var tasks: Receivers<any URLSessionTaskDelegate> {
        Receivers(first: forwarded as? any URLSessionTaskDelegate, second: fallback as? any URLSessionTaskDelegate)
    }

    /// Forwards challenges for passwords to your delegate. If a challenge about a server's trust or for a client
    /// certificate arrives here, it is answered as in ``urlSession(_:didReceive:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard !challenge.isAboutServerTrust else { return answer(challenge, completionHandler) }
        guard let ask = tasks.flatMap({ offered($0.urlSession(_:task:didReceive:completionHandler:)) }) else {
            return answerByDefault(challenge, completionHandler)
        }
        renewConnections(of: session)
        ask(session, task, challenge) { disposition, credential in
            self.renewConnections(of: session)
            completionHandler(disposition, credential)
        }
    }

    /// Forwards to your delegate, with an error that has the reason for a refusal.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let start = rejections.start(of: task)
        let arrival = arrivalError(of: task, task.response)
        let explained = error.map {
            start.refusal ?? arrival ?? explain($0, url: task.currentRequest?.url, since: start.mark)
        }
        tasks.flatMap { offered($0.urlSession(_:task:didCompleteWithError:)) }?(session, task, explained ?? arrival)
    }

    /// Stops a redirect from `https` to `http`, and one over `http` to a host that the policy covers. The task then
    /// ends with the redirect as its response.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let url = response.url { rejections.recordResponse(from: url) }
        guard allows(request, after: response) else { return completionHandler(nil) }
        renewConnections(of: session)
        guard
            let ask = tasks.flatMap({
                offered($0.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:))
            })
        else { return completionHandler(request) }
        ask(session, task, response, request) { answer in
            // The policy may have changed while the delegate decided.
            self.renewConnections(of: session)
            completionHandler(answer.flatMap { self.allows($0, after: response) ? $0 : nil })
        }
    }

    private func allows(_ request: URLRequest, after response: HTTPURLResponse) -> Bool {
        source.current.policy.allowsRedirect(from: response.url, to: request.url)
    }

    /// Cancels a task that would send without TLS to a host that the policy covers. Also cancels stream tasks, because
    /// the system sends their first bytes before any challenge.
    ///
    /// The system calls this before it returns the new task, so a cancelled task cannot start.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        renewConnections(of: session)
        let refusal = refusal(of: task)
        rejections.recordStart(of: task, at: mark, refusal: refusal)
        if refusal != nil { task.cancel() }
        tasks.flatMap { offered($0.urlSession(_:didCreateTask:)) }?(session, task)
    }

    private func refusal(of task: URLSessionTask) -> URLError? {
        if task is URLSessionStreamTask {
            return URLError(
                .unsupportedURL, userInfo: [NSLocalizedDescriptionKey: "a pinned session has no stream tasks"])
        }
        guard let url = task.originalRequest?.url, isRefused(url) else { return nil }
        return refused(.plainHTTP, url)
    }

    /// Cancels a task that would use `http` to a host that the policy covers now, even if it did not cover the host
    /// when the task was made.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        renewConnections(of: session)
        guard
            let ask = tasks.flatMap({
                offered($0.urlSession(_:task:willBeginDelayedRequest:completionHandler:))
            })
        else {
            return isRefused(request) ? completionHandler(.cancel, nil) : completionHandler(.continueLoading, nil)
        }
        ask(session, task, request) { disposition, other in
            // The task may have waited for hours, and the delegate may have taken some time too.
            self.renewConnections(of: session)
            let isRefused = self.isRefused(disposition == .useNewRequest ? other : request)
            isRefused ? completionHandler(.cancel, nil) : completionHandler(disposition, other)
        }
    }

    private func isRefused(_ request: URLRequest?) -> Bool {
        request?.url.map(isRefused) ?? false
    }

    /// Forwards to your delegate.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        tasks.flatMap { offered($0.urlSession(_:taskIsWaitingForConnectivity:)) }?(session, task)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if let ask = tasks.flatMap({ offered($0.urlSession(_:task:needNewBodyStream:)) }) {
            return ask(session, task, completionHandler)
        }
        // The system calls the newer method only if a delegate does not have this one.
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, *),
            let ask = tasks.flatMap({ offered($0.urlSession(_:task:needNewBodyStreamFrom:completionHandler:)) })
        {
            return ask(session, task, 0, completionHandler)
        }
        completionHandler(nil)
    }

    /// Forwards to your delegate.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard
            let ask = tasks.flatMap({ offered($0.urlSession(_:task:needNewBodyStreamFrom:completionHandler:)) })
        else { return completionHandler(nil) }
        ask(session, task, offset, completionHandler)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        tasks.flatMap {
            offered($0.urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:))
        }?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    /// Forwards to your delegate.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        tasks.flatMap { offered($0.urlSession(_:task:didReceiveInformationalResponse:)) }?(session, task, response)
    }

    /// Forwards to your delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        // Of a task with a completion handler, the system reports no response, but it calls this method.
        if let url = task.response?.url { rejections.recordResponse(from: url) }
        tasks.flatMap { offered($0.urlSession(_:task:didFinishCollecting:)) }?(session, task, metrics)
    }
}
