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

    /// A request as ``PinReporter`` makes it, or a test of a transport.
    public init(url: String, contentType: String, body: [UInt8], id: String, timeout: Double) {
        self.url = url
        self.contentType = contentType
        self.body = body
        self.id = id
        self.timeout = timeout
    }
}
