import Foundation
import Pintle
import Security

/// Why servers were refused, to be found again when a task ends: the system's error says only `cancelled`.
///
/// Of each server the last refusal, until it is trusted again. Safe to use from any thread.
final class RejectionLog: Sendable {
    private struct State: Sendable {
        var rejections: [ServerEndpoint: (number: Int, rejection: TrustRejection)] = [:]
        var lastNumber = 0
        /// Of tasks that end without the delegate's knowledge nothing takes the start away.
        var starts: WeakTable<URLSessionTask, Start>
    }

    /// What is known of a task when it begins.
    struct Start: Sendable {
        var mark: Int
        /// Why it was never sent.
        var refusal: URLError?
    }

    private let state: Locked<State>
    /// So many servers and so many tasks at a time; of more the oldest go.
    private let capacity: Int

    init(capacity: Int = 1_024) {
        self.capacity = capacity
        state = Locked(State(starts: WeakTable(capacity: capacity)))
    }

    func record(_ rejection: TrustRejection?, of server: ServerEndpoint) {
        state.withLock { state in
            state.lastNumber += 1
            state.rejections[server] = nil
            guard let rejection else { return }
            if state.rejections.count >= capacity,
                let oldest = state.rejections.min(by: { $0.value.number < $1.value.number })
            {
                state.rejections[oldest.key] = nil
            }
            state.rejections[server] = (state.lastNumber, rejection)
        }
    }

    /// What comes later was not before it.
    var mark: Int { state.withLock { $0.lastNumber } }

    /// - Parameters:
    ///   - mark: of the moment before the task was made.
    ///   - refusal: why it is not sent.
    func recordStart(of task: URLSessionTask, at mark: Int, refusal: URLError?) {
        // The system tells of a task before its maker does, and the policy may have changed in between.
        state.withLock { $0.starts[task] = Start(mark: mark, refusal: refusal ?? $0.starts[task]?.refusal) }
    }

    /// When a task started; where nobody has said, now: what was refused before may have been refused to others.
    func start(of task: URLSessionTask) -> Start {
        state.withLock { $0.starts.removeValue(for: task) ?? Start(mark: $0.lastNumber) }
    }

    /// The error with the reason in it, where the server was refused after `mark`; else the error as it is.
    func explain(_ error: any Error, url: URL?, since mark: Int) -> any Error {
        (error as? URLError).flatMap { rejection(of: $0, url: url, since: mark) } ?? error
    }

    /// Returns the error with the reason in it; `nil` where the server was not refused after `mark`.
    func rejection(of error: URLError, url: URL?, since mark: Int) -> URLError? {
        guard error.code == .cancelled || error.code == .userCancelledAuthentication,
            let url = error.failingURL ?? url, let server = Self.server(of: url)
        else { return nil }
        let found = state.withLock { $0.rejections[server] }
        guard let found, found.number > mark else { return nil }
        return URLError(found.rejection, url: url)
    }

    /// A web socket over TLS is judged as `https` is.
    private static func server(of url: URL) -> ServerEndpoint? {
        let text = url.absoluteString
        guard url.scheme?.lowercased() == "wss" else { return ServerEndpoint(httpsURL: text) }
        return ServerEndpoint(httpsURL: "https" + text.dropFirst("wss".count))
    }
}
