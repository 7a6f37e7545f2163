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

    /// Flushes the session, so that the policy in force checks the servers of its next requests. No device has shown
    /// that the system then uses new connections, as Apple documents.
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

/// The system sessions of one `PinnedURLSession` that are not invalid yet. The app's delegate hears only of the last
/// one's end, which comes after all tasks. Safe to use from any thread.
final class OpenSessions: Sendable {
    private struct State: Sendable {
        var sessions: [ObjectIdentifier: LeasedSession] = [:]
        var isEnding = false
        var isEndReported = false
    }

    private let state = Locked(State())

    func opened(_ leased: LeasedSession) {
        state.withLock { $0.sessions[ObjectIdentifier(leased.session)] = leased }
    }

    /// Records that the `PinnedURLSession` makes no further sessions, except for tasks that it refuses.
    func end() {
        state.withLock { $0.isEnding = true }
    }

    /// Records that a session became invalid. Returns `true` if it was the last one.
    func closed(_ session: URLSession) -> Bool {
        state.withLock { state in
            state.sessions[ObjectIdentifier(session)] = nil
            guard state.isEnding, state.sessions.isEmpty, !state.isEndReported else { return false }
            state.isEndReported = true
            return true
        }
    }

    func cancelAll() {
        for leased in state.withLock({ Array($0.sessions.values) }) { leased.cancel() }
    }
}
