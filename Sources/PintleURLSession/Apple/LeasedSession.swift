import Foundation
internal import Pintle

/// A session of the system with a count of its leases. A caller holds a lease while it makes a task.
///
/// Making a task in an invalidated session throws an Objective-C exception, which ends the process. So the session is
/// invalidated only when the last lease ends. Safe to use from any thread.
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

    /// Takes a lease. Call it only while no other thread can end the session, and end the lease with ``giveBack()``.
    func lease() {
        state.withLock { $0.leases += 1 }
    }

    func giveBack() {
        state.withLock { $0.leases -= 1 }
        endIfUnused()
    }

    /// Makes the session use new connections from now on, so that the policy in force checks their servers.
    func renewConnections() {
        session.flush {}
    }

    /// Lets running tasks end, and accepts no more.
    func finish() {
        state.withLock { state in
            if state.end == .none { state.end = .finish }
        }
        endIfUnused()
    }

    /// Cancels all tasks, and accepts no more.
    func cancel() {
        let (isLeased, isDone) = state.withLock { state in
            let isDone = state.end == .done
            if !isDone { state.end = .cancel }
            return (state.leases > 0, isDone)
        }
        // Tasks of a session that was finished may still run.
        if isDone { session.invalidateAndCancel() }
        // An async caller holds its lease until its task ends, so cancel these tasks now.
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
