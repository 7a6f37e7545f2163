internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// What Foundation knows as the delegate of a pinned session: it passes on how the tasks end that the guard
/// has refused, such as web sockets.
final class StockTaskRelay: NSObject, URLSessionTaskDelegate, Sendable {
    private struct Watched {
        weak var session: PinnedURLSession?
    }

    private let watched = Mutex(Watched())

    func watch(_ session: PinnedURLSession) {
        watched.withLock { $0.session = session }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let delegate = watched.withLock { $0.session }?.delegate as? any URLSessionTaskDelegate
        delegate?.urlSession(session, task: task, didCompleteWithError: error)
    }
}
