import Foundation
import FoundationNetworking
import Synchronization

/// A delegate that answers challenges, provides streams and records its callbacks in order.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    struct Log {
        var challenges: [URLAuthenticationChallenge] = []
        var data = Data()
        var error: (any Error)?
    }

    let log = Mutex(Log())
    var events: [String] { callbacks.events }
    var error: URLError? { log.withLock { $0.error as? URLError } }

    private let callbacks = CallbackLog()
    private let answer: @Sendable (URLAuthenticationChallenge) -> Answer
    private let stream: @Sendable () -> InputStream?
    private let follows: Bool

    init(
        answer: @escaping @Sendable (URLAuthenticationChallenge) -> Answer = { _ in (.performDefaultHandling, nil) },
        stream: @escaping @Sendable () -> InputStream? = { nil }, follows: Bool = true
    ) {
        self.follows = follows
        self.answer = answer
        self.stream = stream
    }

    func run(_ task: URLSessionTask) async { await callbacks.run(task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        callbacks.note("challenge \(challenge.previousFailureCount)")
        log.withLock { $0.challenges.append(challenge) }
        let answer = answer(challenge)
        completionHandler(answer.0, answer.1)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        callbacks.note("stream")
        completionHandler(stream())
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        callbacks.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.withLock { $0.data.append(data) }
        callbacks.note("data")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        callbacks.note("redirect \(response.statusCode)")
        completionHandler(follows ? request : nil)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        callbacks.note("written")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        log.withLock { $0.data = (try? Data(contentsOf: location)) ?? Data() }
        callbacks.note("downloaded")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.withLock { $0.error = error }
        callbacks.noteEnd("complete")
    }
}
