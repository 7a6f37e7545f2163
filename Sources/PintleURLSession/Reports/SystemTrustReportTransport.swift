internal import Foundation
internal import Pintle
public import PintleReports
internal import PintleStorage

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// A transport that sends reports over connections that are checked only by the system's trust.
///
/// The app's pins do not apply, and no observer is attached, so a failed report never causes another report. The
/// transport uses only `https` and follows no redirects. It sends no cookies, no credentials and no details about the
/// program or the device, and uses no cache.
public struct SystemTrustReportTransport: ReportTransport {
    private let trust: SystemTrust

    /// Makes a transport that sends no cookies or credentials and reads no cache.
    public init() {
        trust = SystemTrust(policy: nil)
    }

    /// Makes a transport for tests, because no system trusts their servers.
    package init(policy: PinningPolicy) {
        trust = SystemTrust(policy: policy)
    }

    /// Sends a report. Reads only the head of the response.
    ///
    /// - Throws: `URLError`.
    public func send(_ request: ReportRequest) async throws -> ReportResponse {
        var post = try trust.request(request.url, timeout: request.timeout)
        post.httpMethod = "POST"
        post.httpBody = Data(request.body)
        post.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
        post.setValue("\"\(request.id)\"", forHTTPHeaderField: "Idempotency-Key")
        post.setValue(ReportRequest.userAgent, forHTTPHeaderField: "User-Agent")
        let reader = StatusDelegate()
        let (_, response) = try await trust.load(post, reader.outcome, delegate: reader)
        return ReportResponse(
            status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"))
    }
}

extension PinReporter {
    /// Makes a reporter that keeps reports in a folder and sends them over connections that are checked only by the
    /// system's trust.
    ///
    /// - Parameters:
    ///   - folder: A folder that only this reporter uses, with mode 0700. It is created if it does not exist; its
    ///     parent folder has to exist.
    ///   - options: The settings of the reports.
    /// - Throws: The reason why the folder cannot be used.
    public convenience init(folder: String, options: ReportOptions = ReportOptions()) throws(StorageError) {
        try self.init(folder: folder, options: options, transport: SystemTrustReportTransport())
    }
}

/// A delegate that takes the head of the first response, whatever its status, and then ends the task.
private final class StatusDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let outcome = TaskOutcome()
    private let response = Locked<URLResponse?>(nil)

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Without a next request the redirect itself becomes the response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.response.withLock { $0 = response }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let response = self.response.withLock({ $0 }) ?? task.response else {
            return outcome.settle(.failure(error ?? URLError(.badServerResponse)))
        }
        outcome.settle(.success(TaskOutcome.Product(response: response)))
    }
}
