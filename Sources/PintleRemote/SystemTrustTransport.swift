internal import Foundation
package import Pintle
public import PintleReports
internal import PintleURLSession
public import PintleUpdates

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// A transport that fetches updates and sends reports over connections that are checked only by the system's trust.
///
/// The app's pins do not apply: the signature protects an update, and a wrong pin must not block the update that
/// repairs it. No observer is attached, so a failed report never causes another report.
///
/// The transport uses only `https`, also after redirects. It uses no cookies, no cache and no credentials, and sends no
/// details about the program or the device.
///
/// ``/PintleUpdates/UpdateTransport`` and ``/PintleReports/ReportTransport`` stay two protocols: a program with updates
/// needs no module of reports, nor the reverse. An update is a conditional download with a limit, a report is a POST.
public struct SystemTrustTransport: UpdateTransport, ReportTransport {
    /// The policy of tests, because no system trusts their servers; otherwise `nil`, which means no rule at all.
    private let policy: PinningPolicy?

    /// Makes a transport that sends no cookies or credentials and reads no cache.
    public init() {
        policy = nil
    }

    /// Makes a transport for tests, because no system trusts their servers.
    package init(policy: PinningPolicy) {
        self.policy = policy
    }

    /// Fetches an update.
    ///
    /// - Throws: `URLError`: `dataLengthExceedsMaximum` if the response is too long, `badServerResponse` for any status
    ///   but 200 and 304.
    public func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
        var question = try self.request(request.url.absoluteString, timeout: request.timeoutSeconds)
        question.setValue("application/json", forHTTPHeaderField: "Accept")
        if let tag = request.entityTag { question.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let (content, response) = try await load(question, Collector(maximumBytes: request.maximumBytes))
        switch response.statusCode {
        case 200: return .document([UInt8](content), entityTag: response.value(forHTTPHeaderField: "ETag"))
        case 304 where request.entityTag != nil: return .notModified
        default: throw URLError(.badServerResponse)
        }
    }

    /// Sends a report. Reads only the head of the response, and follows no redirects.
    ///
    /// - Throws: `URLError`.
    public func send(_ request: ReportRequest) async throws -> ReportResponse {
        var post = try self.request(request.url, timeout: request.timeout)
        post.httpMethod = "POST"
        post.httpBody = Data(request.body)
        post.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
        post.setValue("\"\(request.id)\"", forHTTPHeaderField: "Idempotency-Key")
        post.setValue(ReportRequest.userAgent, forHTTPHeaderField: "User-Agent")
        let (_, response) = try await load(post, Collector(maximumBytes: nil))
        return ReportResponse(
            status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"))
    }

    /// Returns a request to a URL. The time-out limits the request as a whole.
    private func request(_ text: String, timeout: Double) throws -> URLRequest {
        guard let url = URL(string: text), url.scheme?.lowercased() == "https" else {
            throw URLError(.unsupportedURL)
        }
        return URLRequest(url: url, timeoutInterval: timeout)
    }

    /// Makes a request in a session of its own.
    private func load(_ request: URLRequest, _ collector: Collector) async throws -> (Data, HTTPURLResponse) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = request.timeoutInterval
        configuration.timeoutIntervalForResource = request.timeoutInterval
        configuration.httpShouldSetCookies = false
        let session = URLSession.pinned(
            to: try policy ?? PinningPolicy(hosts: []), configuration: configuration, delegate: collector)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: request)
        let product = try await collector.outcome.value(start: { task.resume() }, cancel: { task.cancel() })
        guard let response = product.response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (product.content, response)
    }
}

/// A delegate that collects the content of a task, or takes only the head of its first response and then ends the task.
private final class Collector: NSObject, URLSessionDataDelegate, Sendable {
    private struct State: Sendable {
        var head: URLResponse?
        var content = Data()
        var isTooLarge = false
    }

    let outcome = TaskOutcome()
    private let state = Locked(State())
    /// The limit of the content; `nil` for only the head of the first response, whatever its status.
    private let maximumBytes: Int?

    init(maximumBytes: Int?) {
        self.maximumBytes = maximumBytes
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Without a next request the redirect itself becomes the response.
        completionHandler(maximumBytes == nil ? nil : request)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard maximumBytes == nil else { return completionHandler(.allow) }
        state.withLock { $0.head = response }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let maximumBytes else { return }
        let isTooLarge = state.withLock { state in
            state.isTooLarge = state.isTooLarge || state.content.count + data.count > maximumBytes
            if !state.isTooLarge { state.content.append(data) }
            return state.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let state = state.withLock { $0 }
        let response = state.head ?? task.response
        if state.isTooLarge {
            outcome.settle(.failure(URLError(.dataLengthExceedsMaximum)))
        } else if let error, maximumBytes != nil || response == nil {
            outcome.settle(.failure(error))
        } else if let response {
            outcome.settle(.success(TaskOutcome.Product(content: state.content, response: response)))
        } else {
            outcome.settle(.failure(URLError(.badServerResponse)))
        }
    }
}
