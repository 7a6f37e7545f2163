/// How reports are sent: the module itself opens no connection.
///
/// `PintleURLSession` has one that trusts what the system trusts and no policy. It must be so: a report about a pin that
/// went wrong must not depend on pins, and the failure of a report makes no report.
public protocol ReportTransport: Sendable {
    /// Posts a report once. Follows no redirect, sends no cookie and no credential, ends within the request's time.
    ///
    /// - Throws: whatever kept the server from answering with a status.
    func send(_ request: ReportRequest) async throws -> ReportResponse
}

/// What a collector answered.
public struct ReportResponse: Sendable, Hashable {
    /// The status code of HTTP.
    public let status: Int
    /// The value of `Retry-After`, where there is one (RFC 9110 section 10.2.3).
    public let retryAfter: String?

    /// An answer with this status code and `Retry-After`.
    public init(status: Int, retryAfter: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }
}
