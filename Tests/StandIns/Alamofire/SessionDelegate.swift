import Foundation

/// A delegate that answers challenges and reports the progress of tasks to their requests.
///
/// Like Alamofire's class it has no method for a session's challenges, so the loading system calls the method for a
/// task's challenges.
///
/// `@unchecked`: `owner` is set before the first task.
open class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    weak var owner: Session?

    public override init() {}

    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        do {
            let manager = owner?.serverTrustManager
            guard let evaluator = try manager?.serverTrustEvaluator(forHost: space.host) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            try evaluator.evaluate(trust, forHost: space.host)
            completionHandler(.useCredential, URLCredential(trust: trust))
        } catch {
            let wrapped =
                error as? AFError ?? .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error))
            owner?.request(of: task)?.didFail(wrapped)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    /// Follows every redirect, as Alamofire does without a redirect handler.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(request)
    }

    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        owner?.request(of: dataTask)?.didReceive(data)
    }

    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        owner?.request(of: task)?.didComplete(task.response as? HTTPURLResponse, error)
    }
}
