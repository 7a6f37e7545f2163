internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The list of a session's tasks, from their creation to their end. It also owns the session's delegate, and calls it
/// when an invalidated session has no more tasks. Safe to use from any thread.
final class TaskRegistry: Sendable {
    private struct State {
        /// The task object of an async call is made only when it is needed.
        var tasks: [Int: (task: URLSessionTask?, loader: TaskLoader)] = [:]
        var lastIdentifier = 0
        var isInvalidated = false
        var delegate: (any URLSessionDelegate)?
    }

    private let state: Mutex<State>
    private let end: @Sendable () -> Void

    /// - Parameter end: Releases what tasks need, once an invalidated session has no more of them.
    init(delegate: (any URLSessionDelegate)?, end: @escaping @Sendable () -> Void) {
        state = Mutex(State(delegate: delegate))
        self.end = end
    }

    /// The session's delegate, or `nil` once the session is invalid.
    var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }

    /// The loaders of the tasks, in the order of their creation.
    var loaders: [TaskLoader] {
        state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value.loader) }
    }

    func makeIdentifier() -> Int {
        state.withLock { state in
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
    }

    /// Keeps a new task until it ends. A task that is never resumed also stays, until `invalidateAndCancel` ends it.
    ///
    /// - Returns: `false` for an invalidated session, which does not keep the task.
    func admit(_ task: URLSessionTask?, _ loader: TaskLoader) -> Bool {
        state.withLock { state in
            if !state.isInvalidated { state.tasks[loader.identifier] = (task, loader) }
            return !state.isInvalidated
        }
    }

    /// Keeps a task that was made after the session was invalidated, until its delegate or completion handler has been
    /// called.
    func insert(_ task: URLSessionTask?, _ loader: TaskLoader) {
        state.withLock { $0.tasks[loader.identifier] = (task, loader) }
    }

    /// Keeps the task object of a listed task until the task ends.
    func keep(_ task: URLSessionTask, for loader: TaskLoader) {
        state.withLock { $0.tasks[loader.identifier]?.task = task }
    }

    /// Releases a task that has ended.
    func remove(_ loader: TaskLoader, from session: URLSession) {
        // The task is released outside the lock.
        let (removed, isLast) = state.withLock { state in
            (state.tasks.removeValue(forKey: loader.identifier), state.isInvalidated && state.tasks.isEmpty)
        }
        if removed != nil, isLast { reportEnd(of: session) }
    }

    /// Stops accepting tasks. The session becomes invalid once its last task has ended.
    func invalidate(_ session: URLSession) {
        let isIdle = state.withLock { state in
            state.isInvalidated = true
            return state.tasks.isEmpty
        }
        if isIdle { reportEnd(of: session) }
    }

    /// Calls the delegate's `didBecomeInvalidWithError`, and releases the delegate and the connections.
    private func reportEnd(of session: URLSession) {
        end()
        let delegate = state.withLock { state in
            defer { state.delegate = nil }
            return state.delegate
        }
        guard let delegate else { return }
        session.delegateQueue.addOperation { delegate.urlSession(session, didBecomeInvalidWithError: nil) }
    }
}
