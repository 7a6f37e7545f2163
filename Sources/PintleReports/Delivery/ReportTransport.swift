/// Sends reports. The module itself opens no connection.
///
/// `PintleURLSession` has a transport that trusts the system's roots and applies no pinning policy. This is deliberate:
/// a report about a wrong pin must not depend on pins, and the failure of a report must not cause another report.
public protocol ReportTransport: Sendable {
    /// Posts a report once. Must follow no redirect, send no cookie and no credential, and end within the request's
    /// time-out.
    ///
    /// - Parameter request: the report and its address.
    /// - Returns: the answer of the server.
    /// - Throws: any error that kept the server from answering with a status.
    func send(_ request: ReportRequest) async throws -> ReportResponse
}

/// The answer of a collector.
public struct ReportResponse: Sendable, Hashable {
    /// The HTTP status code.
    public let status: Int
    /// The value of `Retry-After`, if there is one (RFC 9110 section 10.2.3).
    public let retryAfter: String?

    /// Creates an answer.
    public init(status: Int, retryAfter: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }
}
