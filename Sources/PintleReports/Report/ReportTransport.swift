/// Sends reports. The module itself opens no connection.
///
/// `PintleRemote` has a transport that trusts the system's roots and applies no pinning policy. This is deliberate:
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

/// A request that sends one report to one address.
public struct ReportRequest: Sendable, Hashable {
    /// The address, an `https` URL.
    public let url: String
    /// The value of `Content-Type`.
    public let contentType: String
    /// The body, JSON in UTF-8.
    public let body: [UInt8]
    /// The id of the report: 32 hexadecimal digits, the same for each retry. Sent as `Idempotency-Key`, in double
    /// quotes, so that a collector can detect a report that it already has.
    public let id: String
    /// The time-out of the whole request in seconds.
    public let timeout: Double

    /// The value of `User-Agent`. It discloses neither the program nor the device.
    package static let userAgent = "pintle-reports"

    /// Creates a request, as ``PinReporter`` does. Use it to test a transport.
    public init(url: String, contentType: String, body: [UInt8], id: String, timeout: Double) {
        self.url = url
        self.contentType = contentType
        self.body = body
        self.id = id
        self.timeout = timeout
    }
}
