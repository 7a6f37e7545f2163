import FoundationNetworking
import Synchronization

/// What a delegate is told, in order: of the same several times in a row, once.
final class Diary: Sendable {
    private let entries = Mutex<[String]>([])
    private let finished = AsyncStream<Void>.makeStream()
    var events: [String] { entries.withLock { $0 } }

    func note(_ event: String) {
        entries.withLock { entries in
            if entries.last != event { entries.append(event) }
        }
    }

    /// Notes what whoever runs a task waits for.
    func noteEnd(_ event: String) {
        note(event)
        finished.continuation.yield()
    }

    func run(_ task: URLSessionTask) async {
        task.resume()
        for await _ in finished.stream { return }
    }
}
