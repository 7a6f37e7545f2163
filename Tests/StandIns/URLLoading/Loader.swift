internal import Foundation
internal import FoundationNetworking
internal import Security

/// A loader that runs one task on a thread of its own: exchanges, redirects and the challenges in between.
final class Loader: Sendable {
    private let task: URLSessionTask
    private var session: URLSession { task.session }

    init(_ task: URLSessionTask) {
        self.task = task
    }

    func run() {
        guard var request = task.originalRequest else { return }
        var failures = 0
        for _ in 0..<20 where !task.isOver {
            guard let url = request.url, let host = url.host else {
                return task.finish(with: URLError(.badURL), data: Data())
            }
            task.progress.with { $0.request = request }
            if let loader = ForeignLoader(request, session.configuration) {
                // A foreign loader does not ask the delegate about the server.
                guard let (response, data) = loader.run() else {
                    return task.finish(with: URLError(.networkConnectionLost), data: Data())
                }
                return deliver(response, data)
            }
            let asker = { @Sendable (trust: SecTrust) in
                self.judge(trust, host: host, port: url.port ?? 443)
            }
            let exchange = Exchange(
                request, body: task.body, judge: asker,
                certify: { self.certificate(host: host, port: url.port ?? 443) }, isOver: { self.task.isOver },
                seconds: min(request.timeoutInterval, session.configuration.timeoutIntervalForRequest),
                idle: session.configuration.httpMaximumConnectionsPerHost == 1 ? session.idle : nil)
            let outcome = exchange.run()
            switch outcome {
            case .failed(let code):
                return task.finish(
                    with: URLError(code, userInfo: URLSessionTask.information(of: url)), data: Data())
            case .answered(let response, let data):
                if (300..<400).contains(response.statusCode),
                    let place = response.value(forHTTPHeaderField: "Location"),
                    let next = URL(string: place, relativeTo: url)?.absoluteURL
                {
                    var following = URLRequest(url: next, timeoutInterval: request.timeoutInterval)
                    following.httpMethod = request.httpMethod
                    guard let allowed = askRedirect(response, following) else {
                        return deliver(response, data)
                    }
                    request = allowed
                    continue
                }
                if response.statusCode == 401, let credential = askPassword(url, response, failures) {
                    failures += 1
                    let text = "\(credential.user ?? ""):\(credential.password ?? "")"
                    request.setValue(
                        "Basic " + Data(text.utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
                    continue
                }
                return deliver(response, data)
            }
        }
        task.finish(with: URLError(.httpTooManyRedirects), data: Data())
    }

    private func deliver(_ response: HTTPURLResponse, _ data: Data) {
        task.progress.with { $0.response = response }
        if case .delegate = task.delivery, let task = task as? URLSessionDataTask {
            switch disposition(of: response, task) {
            case .allow: break
            case .becomeDownload:
                let next = session.successor {
                    URLSessionDownloadTask(session, $0, task.progress.with { $0.request }, body: nil, .delegate)
                }
                return become(next, of: "URLSession:dataTask:didBecomeDownloadTask:") {
                    $0.urlSession(next.session, dataTask: task, didBecome: next)
                    next.finish(with: nil, data: data)
                }
            case .becomeStream:
                let next = session.successor {
                    URLSessionStreamTask(session, $0, task.progress.with { $0.request }, body: nil, .delegate)
                }
                return become(next, of: "URLSession:dataTask:didBecomeStreamTask:") {
                    $0.urlSession(next.session, dataTask: task, didBecome: next)
                }
            case .cancel, nil: return task.cancel()
            }
            if !data.isEmpty,
                let delegate = task.receiver(
                    (any URLSessionDataDelegate).self, of: "URLSession:dataTask:didReceiveData:")
            {
                session.deliver { delegate.urlSession(task.session, dataTask: task, didReceive: data) }
            }
        }
        task.finish(with: nil, data: data)
    }

    private func disposition(
        of response: HTTPURLResponse, _ task: URLSessionDataTask
    ) -> URLSession.ResponseDisposition? {
        let selector = "URLSession:dataTask:didReceiveResponse:completionHandler:"
        guard let delegate = task.receiver((any URLSessionDataDelegate).self, of: selector) else { return .allow }
        return wait { (answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void) in
            delegate.urlSession(task.session, dataTask: task, didReceive: response, completionHandler: answer)
        }
    }

    private func become(
        _ next: URLSessionTask, of selector: String, _ tell: @escaping @Sendable (any URLSessionDataDelegate) -> Void
    ) {
        let delegate = task.receiver((any URLSessionDataDelegate).self, of: selector)
        task.end(as: next)
        guard let delegate else { return next.cancel() }
        session.deliver { tell(delegate) }
    }

    /// Calls the delegate on the session's queue, and waits for its answer.
    private func wait<Answer: Sendable>(
        _ question: @escaping @Sendable (@escaping @Sendable (Answer) -> Void) -> Void
    ) -> Answer? {
        let answer = Guarded<Answer?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        session.deliver {
            question { given in
                answer.with { $0 = given }
                isAnswered.signal()
            }
        }
        // Stop waiting if the task is cancelled.
        while isAnswered.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
            if task.isOver { return nil }
        }
        return answer.with { $0 }
    }

    private func askRedirect(_ response: HTTPURLResponse, _ request: URLRequest) -> URLRequest? {
        let selector = "URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:"
        // In the background the system follows every redirect without asking.
        guard session.configuration.identifier == nil,
            let delegate = task.receiver((any URLSessionTaskDelegate).self, of: selector)
        else { return request }
        let task = task
        return wait { (answer: @escaping @Sendable (URLRequest?) -> Void) in
            delegate.urlSession(
                self.session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: answer)
        } ?? nil
    }

    private func askPassword(_ url: URL, _ response: HTTPURLResponse, _ failures: Int) -> URLCredential? {
        let space = URLProtectionSpace(
            host: url.host ?? "", port: url.port ?? 443, protocol: url.scheme, realm: "test",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let challenge = URLAuthenticationChallenge(space, previousFailureCount: failures)
        let delegate = task.receiver((any URLSessionTaskDelegate).self, of: Self.taskChallenge)
        guard let answer = delegate.flatMap({ askTaskMethod($0, challenge) }) else { return nil }
        return answer.disposition == .useCredential ? answer.credential : nil
    }

    private struct Answer: Sendable {
        let disposition: URLSession.AuthChallengeDisposition
        let credential: URLCredential?
    }

    /// Decides about a server as Apple's loading system does: the delegate first, and the system if the delegate leaves
    /// the decision to it.
    ///
    private func judge(_ trust: SecTrust, host: String, port: Int) -> URLError.Code? {
        let answer = answer(.serverTrust(trust, host: host, port: port))
        switch answer?.disposition {
        case .useCredential: return answer?.credential?.trust == nil ? .serverCertificateUntrusted : nil
        case .performDefaultHandling:
            return SecTrustEvaluateWithError(trust, nil) ? nil : .serverCertificateUntrusted
        case .rejectProtectionSpace: return .serverCertificateUntrusted
        case .cancelAuthenticationChallenge, nil: return .cancelled
        }
    }

    /// Decides about a client certificate. With default handling macOS offers the identity that the user prefers.
    private func certificate(host: String, port: Int) -> Exchange.Certificate {
        let answer = answer(
            URLProtectionSpace(
                host: host, port: port, protocol: "https", realm: nil,
                authenticationMethod: NSURLAuthenticationMethodClientCertificate))
        switch answer?.disposition {
        case .useCredential: return answer?.credential?.identity.map { .identity($0) } ?? .none
        case .performDefaultHandling: return StandIn.preferredIdentity(port: port).map { .identity($0) } ?? .none
        case .rejectProtectionSpace: return .none
        case .cancelAuthenticationChallenge, nil: return .cancel
        }
    }

    private static let sessionChallenge = "URLSession:didReceiveChallenge:completionHandler:"
    private static let taskChallenge = "URLSession:task:didReceiveChallenge:completionHandler:"

    /// Asks about a server or a client certificate: the first of the task's delegate and the session's that has the
    /// session's method. If neither has it, the first that has the task's method. Several releases of the system do so,
    /// which Apple does not document.
    private func answer(_ space: URLProtectionSpace) -> Answer? {
        let challenge = URLAuthenticationChallenge(space)
        if let delegate = task.receiver((any URLSessionDelegate).self, of: Self.sessionChallenge) {
            return wait { (answer: @escaping @Sendable (Answer) -> Void) in
                delegate.urlSession(self.session, didReceive: challenge) { disposition, credential in
                    answer(Answer(disposition: disposition, credential: credential))
                }
            }
        }
        if let delegate = task.receiver((any URLSessionTaskDelegate).self, of: Self.taskChallenge) {
            return askTaskMethod(delegate, challenge)
        }
        return Answer(disposition: .performDefaultHandling, credential: nil)
    }

    private func askTaskMethod(
        _ delegate: any URLSessionTaskDelegate, _ challenge: URLAuthenticationChallenge
    ) -> Answer? {
        let task = task
        return wait { (answer: @escaping @Sendable (Answer) -> Void) in
            delegate.urlSession(self.session, task: task, didReceive: challenge) { disposition, credential in
                answer(Answer(disposition: disposition, credential: credential))
            }
        }
    }
}
