import Foundation
import FoundationNetworking
import Synchronization

/// A delegate that answers challenges and gives streams, and writes down what it is asked, in order.
final class Correspondent: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    struct Log {
        var events: [String] = []
        var challenges: [URLAuthenticationChallenge] = []
        var data = Data()
        var error: (any Error)?
        var proposals: [CachedURLResponse] = []
    }

    let log = Mutex(Log())
    var events: [String] { log.withLock { $0.events } }
    var error: URLError? { log.withLock { $0.error as? URLError } }

    private let finished = AsyncStream<Void>.makeStream()
    private let answer: @Sendable (URLAuthenticationChallenge) -> Answer
    private let stream: @Sendable () -> InputStream?
    private let caches: Bool
    private let follows: Bool

    init(
        answer: @escaping @Sendable (URLAuthenticationChallenge) -> Answer = { _ in (.performDefaultHandling, nil) },
        stream: @escaping @Sendable () -> InputStream? = { nil }, caches: Bool = true, follows: Bool = true
    ) {
        self.follows = follows
        self.caches = caches
        self.answer = answer
        self.stream = stream
    }

    func run(_ task: URLSessionTask) async {
        task.resume()
        for await _ in finished.stream { return }
    }

    private func note(_ event: String) {
        log.withLock { log in
            if log.events.last != event { log.events.append(event) }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.previousFailureCount)")
        log.withLock { $0.challenges.append(challenge) }
        let answer = answer(challenge)
        completionHandler(answer.0, answer.1)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("stream")
        completionHandler(stream())
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.withLock { $0.data.append(data) }
        note("data")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        log.withLock { $0.proposals.append(proposedResponse) }
        note("cache")
        completionHandler(caches ? proposedResponse : nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode)")
        completionHandler(follows ? request : nil)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        log.withLock { $0.data = (try? Data(contentsOf: location)) ?? Data() }
        note("downloaded")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.withLock { $0.error = error }
        note("complete")
        finished.continuation.yield()
    }
}
