internal import Foundation
internal import Pintle

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// The result of a task for an async caller. A cancelled task may be complete before the caller waits.
final class TaskOutcome<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var continuation: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
    }

    private let state = Locked(State())

    /// Starts a task, and waits until its delegate has set the result. Cancelling the caller cancels the task.
    func value(of task: URLSessionTask) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) } else { task.resume() }
            }
        } onCancel: {
            task.cancel()
        }
    }

    func settle(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            state.result = result
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
