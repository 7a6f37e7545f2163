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

/// One report on its way to one address.
public struct ReportRequest: Sendable, Hashable {
    /// `https`.
    public let url: String
    /// The value of `Content-Type`.
    public let contentType: String
    /// JSON, UTF-8.
    public let body: [UInt8]
    /// 32 hexadecimal digits: the same each time that the report is sent. The value of `Idempotency-Key`, in double
    /// quotes; a collector that keeps it tells a report that it has had already.
    public let id: String
    /// In seconds, for everything.
    public let timeout: Double

    /// The value of `User-Agent`: neither the program nor the device has any business there.
    public static let userAgent = "pintle-reports"

    public init(url: String, contentType: String, body: [UInt8], id: String, timeout: Double) {
        self.url = url
        self.contentType = contentType
        self.body = body
        self.id = id
        self.timeout = timeout
    }
}

/// What a collector answered.
public struct ReportResponse: Sendable, Hashable {
    public let status: Int
    /// The value of `Retry-After`, where there is one (RFC 9110 section 10.2.3).
    public let retryAfter: String?

    public init(status: Int, retryAfter: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }
}
