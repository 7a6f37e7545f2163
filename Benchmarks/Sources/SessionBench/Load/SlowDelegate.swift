import Foundation
import FoundationNetworking

/// Blocks the delegate queue for 50 ms in each callback.
final class SlowDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let end = AsyncStream<Never>.makeStream()

    /// Runs a task to its end.
    func run(_ task: URLSessionTask) async {
        task.delegate = self
        task.resume()
        for await _ in end.stream {}
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        block()
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { block() }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        block()
        end.continuation.finish()
    }

    private func block() { usleep(50_000) }
}
