import Foundation
import FoundationNetworking
import Synchronization

/// A delegate that gives its answers at once, or holds them back until the test releases them.
final class DelayedDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    struct Log {
        var events: [String] = []
        var answers: [@Sendable () -> Void] = []
        var error: URLError?
    }

    /// The answer to a challenge. With `credential` the delegate also follows redirects.
    enum Answer: Sendable {
        case nothing, reject, credential
    }

    private let log = Mutex(Log())
    private let answer: Answer
    private let isLate: Bool
    var events: [String] { log.withLock { $0.events } }
    var error: URLError? { log.withLock { $0.error } }

    init(_ answer: Answer, isLate: Bool) {
        self.answer = answer
        self.isLate = isLate
    }

    /// Waits for an event or for the end, without blocking a thread of the pool.
    func has(_ event: String) async -> Bool {
        for _ in 0..<6_000 where !events.contains(event) && !events.contains("complete") {
            try? await Task.sleep(for: .milliseconds(10))
        }
        return events.contains(event)
    }

    /// Gives the answers that were held back.
    func giveAnswers() {
        let answers = log.withLock { log in
            defer { log.answers = [] }
            return log.answers
        }
        for answer in answers { answer() }
    }

    /// Gives the answers that were held back, and waits until the delegate queue has run the callbacks that follow.
    func catchUp(on session: URLSession) async {
        giveAnswers()
        await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation { continuation.resume() }
        }
    }

    private func note(_ event: String, _ answer: (@Sendable () -> Void)? = nil) {
        log.withLock { log in
            if log.events.last != event { log.events.append(event) }
            if isLate, let answer { log.answers.append(answer) }
        }
        if !isLate { answer?() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let answer = answer
        note("challenge \(challenge.protectionSpace.realm ?? "")") {
            switch answer {
            case .nothing: completionHandler(.useCredential, nil)
            case .reject: completionHandler(.rejectProtectionSpace, nil)
            case .credential:
                completionHandler(
                    .useCredential, URLCredential(user: "Mufasa", password: "Circle of Life", persistence: .none))
            }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let follows = answer == .credential
        note("redirect") { completionHandler(follows ? request : nil) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("stream") { completionHandler(InputStream(data: Data("12345".utf8))) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)") { completionHandler(.allow) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        note("downloaded")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.withLock { $0.error = error as? URLError }
        note("complete")
    }
}
