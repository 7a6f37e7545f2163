import Foundation
import Pintle

/// A log of the reasons why servers were refused. The system's error says only `cancelled`, so the reason is looked up
/// here when a task ends.
///
/// The log keeps the last refusal of each server, until the server is trusted again. Safe to use from any thread.
final class RejectionLog: Sendable {
    private struct State: Sendable {
        var rejections: [ServerEndpoint: (number: Int, rejection: TrustRejection)] = [:]
        var lastNumber = 0
        /// The servers that asked for a client certificate, got none, and have not sent a response since.
        var withoutCertificate: Set<ServerEndpoint> = []
        /// The servers of tasks that were cancelled for their delegates, each with the number of the last cancellation.
        /// A verdict or a response removes the server.
        var unguarded: [ServerEndpoint: Int] = [:]
        /// The starts of tasks. If a task ends without the delegate's knowledge, its entry stays; so the table has a
        /// limit.
        var starts: WeakTable<URLSessionTask, Start>
    }

    /// The state of the log when a task begins.
    struct Start: Sendable {
        var mark: Int
        /// The reason why the task was never sent.
        var refusal: URLError?
    }

    private let state: Locked<State>
    /// The limit of servers, and of tasks. Beyond it the oldest entries are removed.
    private let capacity: Int

    init(capacity: Int = 1_024) {
        self.capacity = capacity
        state = Locked(State(starts: WeakTable(capacity: capacity)))
    }

    func record(_ rejection: TrustRejection?, of server: ServerEndpoint) {
        state.withLock { state in
            state.lastNumber += 1
            state.rejections[server] = nil
            state.unguarded[server] = nil
            guard let rejection else { return }
            if state.rejections.count >= capacity,
                let oldest = state.rejections.min(by: { $0.value.number < $1.value.number })
            {
                state.rejections[oldest.key] = nil
            }
            state.rejections[server] = (state.lastNumber, rejection)
        }
    }

    /// The number of the last verdict or cancellation. Later ones have greater numbers.
    var mark: Int { state.withLock { $0.lastNumber } }

    /// Records the start of a task.
    ///
    /// - Parameters:
    ///   - mark: The mark before the task was made.
    ///   - refusal: The reason why the task must not be sent.
    func recordStart(of task: URLSessionTask, at mark: Int, refusal: URLError?) {
        // The system reports a task before the code that made it does, and the policy may have changed in between.
        _ = state.withLock { state in
            state.starts.insert(Start(mark: mark, refusal: refusal ?? state.starts[task]?.refusal), for: task)
        }
    }

    /// Removes and returns the start of a task. For an unrecorded task this is the current mark, because earlier
    /// refusals may have been of other tasks.
    func start(of task: URLSessionTask) -> Start {
        state.withLock { $0.starts.removeValue(for: task) ?? Start(mark: $0.lastNumber) }
    }

    /// Returns the error with the reason inside, if the server was refused after `mark`. Otherwise returns the error
    /// unchanged.
    func explain(_ error: any Error, url: URL?, since mark: Int) -> any Error {
        (error as? URLError).flatMap { rejection(of: $0, url: url, since: mark) } ?? error
    }

    /// Returns the error with the reason inside; `nil` if the server was not refused after `mark`.
    func rejection(of error: URLError, url: URL?, since mark: Int) -> URLError? {
        guard error.code == .cancelled || error.code == .userCancelledAuthentication,
            let url = error.failingURL ?? url, let server = Self.server(of: url)
        else { return nil }
        let found = state.withLock { $0.rejections[server] }
        guard let found, found.number > mark else { return nil }
        return URLError(found.rejection, url: url)
    }

    /// Records that a server asked for a client certificate and got none.
    func recordMissingCertificate(of server: ServerEndpoint) {
        state.withLock { state in
            if state.withoutCertificate.count >= capacity { state.withoutCertificate = [] }
            state.withoutCertificate.insert(server)
        }
    }

    /// Records that a server sent a response, so it does not insist on a client certificate, and the last task was not
    /// cancelled for its delegate.
    func recordResponse(from url: URL) {
        guard let server = Self.server(of: url) else { return }
        state.withLock { state in
            state.withoutCertificate.remove(server)
            state.unguarded[server] = nil
        }
    }

    /// Records that a task for a server was cancelled, because its own delegate would answer for the policy.
    func recordUnguardedDelegate(for server: ServerEndpoint) {
        state.withLock { state in
            if state.unguarded.count >= capacity { state.unguarded = [:] }
            state.lastNumber += 1
            state.unguarded[server] = state.lastNumber
        }
    }

    /// Returns `true` if the last task for the server was cancelled for its delegate after `mark`.
    func hasUnguardedDelegate(for url: URL, since mark: Int) -> Bool {
        guard let server = Self.server(of: url) else { return false }
        return state.withLock { $0.unguarded[server, default: 0] > mark }
    }

    /// Returns the server of a task that may have failed because the server got no client certificate; otherwise `nil`.
    ///
    /// The system has a code for this, but not every server says so: it may send another alert. A lost connection has
    /// other reasons too.
    func serverWithoutCertificate(_ code: URLError.Code, _ url: URL) -> ServerEndpoint? {
        let codes: [URLError.Code] = [
            .clientCertificateRequired, .clientCertificateRejected, .secureConnectionFailed,
        ]
        guard codes.contains(code), let server = Self.server(of: url) else { return nil }
        return state.withLock { $0.withoutCertificate.contains(server) } ? server : nil
    }

    /// Returns the server of a URL. A web socket over TLS counts as `https`.
    static func server(of url: URL) -> ServerEndpoint? {
        let text = url.absoluteString
        guard url.scheme?.lowercased() == "wss" else { return ServerEndpoint(httpsURL: text) }
        return ServerEndpoint(httpsURL: "https" + text.dropFirst("wss".count))
    }
}
