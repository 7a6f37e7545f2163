import Foundation
import FoundationNetworking
import Synchronization

/// Collects what a task receives.
final class Delegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    private let data = Mutex(Data())
    private let end = AsyncThrowingStream<Never, any Error>.makeStream()

    func run(_ task: URLSessionTask) async throws -> Data {
        task.delegate = self
        task.resume()
        for try await _ in end.stream {}
        return data.withLock { $0 }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Style.content))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.data.withLock { $0.append(data) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        data.withLock { $0 = (try? Data(contentsOf: location)) ?? Data() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.continuation.finish(throwing: error)
    }
}
