internal import FoundationNetworking
internal import Synchronization

/// Hands the cancellation of a Swift task on to a session's task, whichever is there first.
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
