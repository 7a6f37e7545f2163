import Foundation
import PintleEvents
import PintleTestKit
import PintleURLSession
import Testing

/// The members that both kinds of session have.
protocol TestedSession: Sendable {
    func dataTask(with url: URL) -> URLSessionDataTask
    func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask
    func data(from url: URL, delegate: (any URLSessionTaskDelegate)?) async throws -> (Data, URLResponse)
    func explain(_ error: any Error) -> any Error
    func guarding(_ delegate: any URLSessionTaskDelegate) -> any URLSessionTaskDelegate
    func finishTasksAndInvalidate()
    func invalidateAndCancel()
}

extension PinnedURLSession: TestedSession {}
extension URLSession: TestedSession {}

/// The types that `URLSession.pinned(to:)` returns.
enum SessionKind: String, CaseIterable, Sendable {
    case pinned = "PinnedURLSession"
    case system = "URLSession"

    func session(
        to source: some PolicySource, configuration: URLSessionConfiguration = .ephemeral,
        delegate: (any URLSessionDelegate)? = nil, observer: (any TrustEventObserver)? = nil
    ) -> any TestedSession {
        switch self {
        case .pinned:
            URLSession.pinned(to: source, configuration: configuration, delegate: delegate, observer: observer)
        case .system:
            URLSession.pinned(to: source, configuration: configuration, delegate: delegate, observer: observer)
                as URLSession
        }
    }
}

/// The end of a task.
struct TaskEnd: Sendable {
    let data: Data?
    let response: URLResponse?
    let error: (any Error)?

    var status: Int? { (response as? HTTPURLResponse)?.statusCode }
    /// The reason in the error itself.
    var reason: String? { error.flatMap { TrustRejection(underlying: $0)?.reason } }
    var refusal: SessionError.Code? {
        ((error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? SessionError)?.code
    }
}

extension TestedSession {
    /// Runs a task with a completion handler. A delegate of its own is set after the task was made.
    func end(of url: URL, with delegate: (any URLSessionTaskDelegate)? = nil) async -> TaskEnd {
        await withCheckedContinuation { continuation in
            let task = dataTask(with: url) {
                continuation.resume(returning: TaskEnd(data: $0, response: $1, error: $2))
            }
            if let delegate { task.delegate = delegate }
            task.resume()
        }
    }

    /// Awaits the content, with a delegate for the task.
    func awaited(_ url: URL, with delegate: (any URLSessionTaskDelegate)? = nil) async -> TaskEnd {
        do {
            let (data, response) = try await data(from: url, delegate: delegate)
            return TaskEnd(data: data, response: response, error: nil)
        } catch {
            return TaskEnd(data: nil, response: nil, error: error)
        }
    }

    func explained(_ end: TaskEnd) -> TaskEnd {
        TaskEnd(data: end.data, response: end.response, error: end.error.map { explain($0) })
    }
}

/// A delegate that follows every redirect, has a password, and answers challenges about servers in one way.
final class PermissiveDelegate: NSObject, URLSessionTaskDelegate {
    private let disposition: URLSession.AuthChallengeDisposition
    private let counts = Locked<[String: Int]>([:])

    init(_ disposition: URLSession.AuthChallengeDisposition = .useCredential) {
        self.disposition = disposition
    }

    /// The number of questions about servers and clients.
    var trustQuestions: Int { counts.withLock { $0["trust"] ?? 0 } }
    var passwordQuestions: Int { counts.withLock { $0["password"] ?? 0 } }
    var redirects: Int { counts.withLock { $0["redirect"] ?? 0 } }

    private func count(_ event: String) { counts.withLock { $0[event, default: 0] += 1 } }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        count("trust")
        let trust = challenge.protectionSpace.serverTrust
        completionHandler(disposition, disposition == .useCredential ? trust.map { URLCredential(trust: $0) } : nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        count("password")
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        count("redirect")
        completionHandler(request)
    }
}
