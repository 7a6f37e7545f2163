internal import Foundation
internal import Pintle
public import PintleReports
internal import PintleStorage

#if PINTLE_APPLE
import Security
#else
internal import FoundationNetworking
#endif

/// Sends reports over connections that the system's trust alone decides about.
///
/// No pin of the app counts here, and nothing observes it: what happens to a report never makes another. Only `https`; no
/// redirect is followed; no cookies, no cache, no credentials, no word about the program or the device.
public struct SystemTrustReportTransport: ReportTransport {
    /// `nil`: no rule at all.
    private let policy: PinningPolicy?

    public init() {
        policy = nil
    }

    /// For tests, whose servers no system trusts.
    package init(policy: PinningPolicy) {
        self.policy = policy
    }

    /// Of the answer the head alone is read.
    ///
    /// - Throws: `URLError`.
    public func send(_ request: ReportRequest) async throws -> ReportResponse {
        guard let url = URL(string: request.url), url.scheme?.lowercased() == "https" else {
            throw URLError(.unsupportedURL)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = request.timeout
        configuration.timeoutIntervalForResource = request.timeout
        configuration.httpShouldSetCookies = false
        let reader = HeadReader()
        let policy = try self.policy ?? PinningPolicy(hosts: [])
        let session = URLSession.pinned(to: policy, configuration: configuration, delegate: reader)
        defer { session.finishTasksAndInvalidate() }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        post.httpBody = Data(request.body)
        post.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
        post.setValue("\"\(request.id)\"", forHTTPHeaderField: "Idempotency-Key")
        post.setValue(ReportRequest.userAgent, forHTTPHeaderField: "User-Agent")
        let task = session.dataTask(with: post)
        let response = try await withTaskCancellationHandler {
            try await reader.run(task)
        } onCancel: {
            task.cancel()
        }
        return ReportResponse(
            status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"))
    }
}

extension PinReporter {
    /// Keeps reports in a folder, and sends them over connections that the system's trust alone decides about.
    ///
    /// - Parameters:
    ///   - folder: of its own, mode 0700; made where it is not there, in one that is.
    /// - Throws: why the folder cannot be used.
    public convenience init(folder: String, options: ReportOptions = ReportOptions()) throws(StorageError) {
        try self.init(folder: folder, options: options, transport: SystemTrustReportTransport())
    }
}

/// Takes the head of the first response, whatever it is, and ends the task there.
private final class HeadReader: NSObject, URLSessionDataDelegate, Sendable {
    private struct State: Sendable {
        var response: HTTPURLResponse?
        var continuation: CheckedContinuation<HTTPURLResponse, any Error>?
        /// What came of the task: one that is cancelled may be complete before anybody waits for it.
        var result: Result<HTTPURLResponse, any Error>?
    }

    private let state = Locked(State())

    func run(_ task: URLSessionDataTask) async throws -> HTTPURLResponse {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) } else { task.resume() }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Without a request the redirect itself is the response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.response = response as? HTTPURLResponse }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, result) = state.withLock { state in
            defer { state.continuation = nil }
            let response = state.response ?? task.response as? HTTPURLResponse
            let result: Result<HTTPURLResponse, any Error> =
                response.map { .success($0) } ?? .failure(error ?? URLError(.badServerResponse))
            state.result = result
            return (state.continuation, result)
        }
        continuation?.resume(with: result)
    }
}
