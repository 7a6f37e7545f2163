package import Foundation
internal import Pintle

#if !PINTLE_APPLE
package import FoundationNetworking
#endif

/// The result of a task for an async caller. A cancelled task may be complete before the caller waits.
///
/// Not generic: each request would look the types of its result up at run time.
package final class TaskOutcome: Sendable {
    /// The content or file that a caller gets, with the response. A download has a file and no content.
    package struct Product: Sendable {
        package var content = Data()
        package var file: URL?
        package let response: URLResponse

        package init(content: Data = Data(), file: URL? = nil, response: URLResponse) {
            self.content = content
            self.file = file
            self.response = response
        }
    }

    private struct State: Sendable {
        var continuation: CheckedContinuation<Product, any Error>?
        var result: Result<Product, any Error>?
    }

    private let state = Locked(State())

    package init() {}

    /// Starts a task, and waits until the result is set. Cancelling the caller cancels the task.
    package func value(start: () -> Void, cancel: @Sendable () -> Void) async throws -> Product {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) } else { start() }
            }
        } onCancel: {
            cancel()
        }
    }

    package func settle(_ result: Result<Product, any Error>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            state.result = result
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
