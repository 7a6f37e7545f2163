/// What is reported, and when.
public struct ReportOptions: Sendable {
    /// What the app says about itself in each report, such as `["name": "Mail", "version": "7.1"]`. Nothing by default; at
    /// most 16 pairs of at most 256 bytes each are sent.
    public var app: [String: String] = [:]
    /// How reports are written for an address, by the URL as the rule has it; ``ReportEncoding/rfc7469`` for the others.
    public var encodings: [String: ReportEncoding] = [:]
    /// 0 to 1: the share of installs that report. Each install decides once.
    public var sampling: Double = 1
    /// In seconds, 0 to ten years: a report is first sent after a random time up to this, so that a million installs that
    /// meet the same mistake at once do not say so at once.
    public var longestDelay: Double = 900
    /// In seconds, for one request; 3,570 where it is more, because the right to send lasts an hour at most.
    public var timeout: Double = 30
    /// In seconds, after the first failure of an address; doubled with each that follows.
    public var firstRetry: Double = 60
    /// In seconds: longer is not waited, unless `Retry-After` asks for it.
    public var longestRetry: Double = 86_400
    /// Sees each report before it reaches the disk, and may change it; `nil`: it is neither kept nor sent. The name of the
    /// file has a hash of the host all the same, unsalted: whoever guesses the host can tell that he is right.
    public var redact: (@Sendable (TrustFailureReport) -> TrustFailureReport?)?

    /// The defaults.
    public init() {}

    /// What can be waited for: nothing else is a time that can be added to another.
    private static func seconds(_ value: Double) -> Double { value > 0 ? min(value, 10 * 365 * 86_400) : 0 }

    /// Drawn anew each time.
    var delay: Double { Double.random(in: 0...Self.seconds(longestDelay)) }

    /// How long an address is left alone.
    ///
    /// - Parameters:
    ///   - failures: in a row, this one included.
    ///   - jitter: 0 to 1, drawn anew each time.
    func wait(afterFailures failures: Int, jitter: Double) -> Double {
        // 2^20 retries are longer than any interval.
        let doubled = Self.seconds(firstRetry) * Double(1 << min(max(failures, 1) - 1, 20))
        return min(doubled, Self.seconds(longestRetry)) * (0.5 + 0.5 * min(max(jitter, 0), 1))
    }
}
