import Foundation
import Pintle
import Security

extension PinningSessionDelegate: URLSessionDelegate {
    private var sessions: Receivers<any URLSessionDelegate> { Receivers((forwarded, fallback)) }

    /// Answers challenges about a server's trust by the policy; the others go to your delegate.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard !challenge.isAboutServerTrust else { return answer(challenge, completionHandler) }
        guard let ask = sessions.flatMap({ offered($0.urlSession(_:didReceive:completionHandler:)) }) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        renewConnections(of: session)
        ask(session, challenge) { disposition, credential in
            // A password must not go over a connection that an earlier policy has judged.
            self.renewConnections(of: session)
            completionHandler(disposition, credential)
        }
    }

    /// Forwards to your delegate, once the last session of a `PinnedURLSession` is over.
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
        Receivers((forwarded as? any URLSessionTaskDelegate, fallback as? any URLSessionTaskDelegate))
    }

    /// Passwords and client certificates are your delegate's to answer. A server's trust that arrives here after all
    /// is decided as everywhere.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard !challenge.isAboutServerTrust else { return answer(challenge, completionHandler) }
        guard let ask = tasks.flatMap({ offered($0.urlSession(_:task:didReceive:completionHandler:)) }) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        renewConnections(of: session)
        ask(session, task, challenge) { disposition, credential in
            self.renewConnections(of: session)
            completionHandler(disposition, credential)
        }
    }

    /// Forwards to your delegate, with an error that names the reason of a refusal.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let start = rejections.start(of: task)
        let arrival = arrivalError(of: task, task.response)
        let explained = error.map {
            start.refusal ?? arrival ?? explain($0, url: task.currentRequest?.url, since: start.mark)
        }
        tasks.flatMap { offered($0.urlSession(_:task:didCompleteWithError:)) }?(session, task, explained ?? arrival)
    }

    /// From `https` to `http` no redirect is followed, and none over `http` to a host that the policy has something to
    /// say about: the task ends with the response that asked for it.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard allows(request, after: response) else { return completionHandler(nil) }
        renewConnections(of: session)
        guard
            let ask = tasks.flatMap({
                offered($0.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:))
            })
        else { return completionHandler(request) }
        ask(session, task, response, request) { answer in
            // The policy may have changed while the delegate made up its mind.
            self.renewConnections(of: session)
            completionHandler(answer.flatMap { self.allows($0, after: response) ? $0 : nil })
        }
    }

    private func allows(_ request: URLRequest, after response: HTTPURLResponse) -> Bool {
        source.current.policy.allowsRedirect(from: response.url, to: request.url)
    }

    /// The system calls this before it returns the new task. A task that would send in the clear to a host that the policy
    /// has something to say about is cancelled here, before it can start; so is a stream task, which no challenge judges
    /// before its first bytes.
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

    /// Nothing goes over `http` to a host that the policy has something to say about now, whatever it said when the task
    /// was made: the task is cancelled.
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
            // Hours may lie between the task and now, and the delegate may have taken its time.
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
        // The system asks the newer method only of a delegate without this one.
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
        tasks.flatMap { offered($0.urlSession(_:task:didFinishCollecting:)) }?(session, task, metrics)
    }
}
