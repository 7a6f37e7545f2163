internal import Foundation
internal import Pintle
public import PintleReports
internal import PintleStorage

#if PINTLE_APPLE
import Security
#else
internal import FoundationNetworking
#endif

/// Sends reports over connections that only the system's trust decides about.
///
/// No pin of the app counts here, and nothing observes it: what happens to a report never makes another. Only `https`; no
/// redirect is followed; no cookies, no cache, no credentials, no word about the program or the device.
public struct SystemTrustReportTransport: ReportTransport {
    private let trust: SystemTrust

    /// Makes a transport that sends no cookies or credentials and reads no cache.
    public init() {
        trust = SystemTrust(policy: nil)
    }

    /// For tests, whose servers no system trusts.
    package init(policy: PinningPolicy) {
        trust = SystemTrust(policy: policy)
    }

    /// Only the head of the response is read.
    ///
    /// - Throws: `URLError`.
    public func send(_ request: ReportRequest) async throws -> ReportResponse {
        var post = try trust.request(request.url, timeout: request.timeout)
        post.httpMethod = "POST"
        post.httpBody = Data(request.body)
        post.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
        post.setValue("\"\(request.id)\"", forHTTPHeaderField: "Idempotency-Key")
        post.setValue(ReportRequest.userAgent, forHTTPHeaderField: "User-Agent")
        let reader = HeadReader()
        let response = try await trust.load(post, reader.outcome, delegate: reader)
        return ReportResponse(
            status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"))
    }
}

extension PinReporter {
    /// Keeps reports in a folder, and sends them over connections that only the system's trust decides about.
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
    let outcome = TaskOutcome<HTTPURLResponse>()
    private let response = Locked<HTTPURLResponse?>(nil)

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
        self.response.withLock { $0 = response as? HTTPURLResponse }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let response = self.response.withLock { $0 } ?? task.response as? HTTPURLResponse
        outcome.settle(response.map { .success($0) } ?? .failure(error ?? URLError(.badServerResponse)))
    }
}
