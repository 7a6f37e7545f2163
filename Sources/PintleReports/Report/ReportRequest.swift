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
    public static let userAgent = "pintle-reports"

    /// Creates a request, as ``PinReporter`` does. Use it to test a transport.
    public init(url: String, contentType: String, body: [UInt8], id: String, timeout: Double) {
        self.url = url
        self.contentType = contentType
        self.body = body
        self.id = id
        self.timeout = timeout
    }
}
