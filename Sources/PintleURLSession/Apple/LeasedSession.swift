import Foundation
internal import Pintle
import Security

/// A session of the system's, and how many are making a task in it at this moment.
///
/// A task that is made in a session that was invalidated is an exception of Objective-C's, which ends the process. So a
/// session ends with the last lease on it, and no sooner. Safe to use from any thread.
final class LeasedSession: Sendable {
    private struct State: Sendable {
        var leases = 0
        var end = End.none
    }

    private enum End: Sendable {
        case none, finish, cancel, done
    }

    let session: URLSession
    private let state = Locked(State())

    init(_ session: URLSession) {
        self.session = session
    }

    /// To be taken where no other thread can end it meanwhile, and given back with ``giveBack()``.
    func lease() {
        state.withLock { $0.leases += 1 }
    }

    func giveBack() {
        state.withLock { $0.leases -= 1 }
        endIfUnused()
    }

    /// What it sends from now on goes over new connections, whose servers are judged by the policy in force.
    func renewConnections() {
        session.flush {}
    }

    /// Lets its tasks end, and takes no more.
    func finish() {
        state.withLock { state in
            if state.end == .none { state.end = .finish }
        }
        endIfUnused()
    }

    /// Cancels its tasks, and takes no more.
    func cancel() {
        let (isLeased, isDone) = state.withLock { state in
            let isDone = state.end == .done
            if !isDone { state.end = .cancel }
            return (state.leases > 0, isDone)
        }
        // Tasks that were let end may still run.
        if isDone { session.invalidateAndCancel() }
        // Who awaits a task has a lease until it ends.
        if isLeased {
            session.getAllTasks { tasks in
                for task in tasks { task.cancel() }
            }
        }
        endIfUnused()
    }

    private func endIfUnused() {
        let end = state.withLock { state -> End in
            guard state.leases == 0, state.end != .none else { return .none }
            defer { state.end = .done }
            return state.end
        }
        switch end {
        case .finish: session.finishTasksAndInvalidate()
        case .cancel: session.invalidateAndCancel()
        case .none, .done: break
        }
    }
}
