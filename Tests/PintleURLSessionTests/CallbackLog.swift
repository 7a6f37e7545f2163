import FoundationNetworking
import Synchronization

/// A log of a delegate's callbacks in order. Repeats of the same callback count once.
final class CallbackLog: Sendable {
    private let entries = Mutex<[String]>([])
    private let finished = AsyncStream<Void>.makeStream()
    var events: [String] { entries.withLock { $0 } }

    func note(_ event: String) {
        entries.withLock { entries in
            if entries.last != event { entries.append(event) }
        }
    }

    /// Notes an event and ends ``run(_:)``.
    func noteEnd(_ event: String) {
        note(event)
        finished.continuation.yield()
    }

    func run(_ task: URLSessionTask) async {
        task.resume()
        for await _ in finished.stream { return }
    }
}
