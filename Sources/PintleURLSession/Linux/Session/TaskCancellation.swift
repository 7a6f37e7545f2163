internal import FoundationNetworking
internal import Synchronization

/// Cancels a session's task when the Swift task that waits for it is cancelled. The cancellation may come before the
/// session's task exists.
final class TaskCancellation: Sendable {
    private struct State {
        var isCancelled = false
        var task: URLSessionTask?
    }

    private let state = Mutex(State())

    func watch(_ task: URLSessionTask) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
