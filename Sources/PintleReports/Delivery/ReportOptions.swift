/// The contents and the times of reports.
public struct ReportOptions: Sendable {
    /// The app's description of itself in each report, such as `["name": "Mail", "version": "7.1"]`. Empty by default.
    /// At most 16 pairs of at most 256 bytes each are sent.
    public var app: [String: String] = [:]
    /// The encoding for each address, by the URL as written in the rule. The default is ``ReportEncoding/rfc7469``.
    public var encodings: [String: ReportEncoding] = [:]
    /// The share of installs that report, 0 to 1. Each install decides once.
    public var sampling: Double = 1
    /// The upper limit of the random delay before a report is first sent, in seconds, 0 to ten years. It spreads the
    /// reports of a million installs that meet the same mistake at once.
    public var longestDelay: Double = 900
    /// The time-out of a request in seconds. At most 3,570, because the lease for sending lasts at most an hour.
    public var timeout: Double = 30
    /// The pause after the first failure of an address in seconds. It doubles with each further failure.
    package var firstRetry: Double = 60
    /// The longest pause in seconds, unless `Retry-After` asks for more.
    package var longestRetry: Double = 86_400
    /// Receives each report before it is written to the disk, and may change it. Return `nil` to drop the report. The
    /// file's name still contains an unsalted hash of the host, so anyone who can see the name can confirm a guess of
    /// the host.
    public var redact: (@Sendable (TrustFailureReport) -> TrustFailureReport?)?

    /// Creates the default options.
    public init() {}

    /// Clamps an interval to between 0 seconds and ten years. NaN becomes 0. An infinite interval could not be added to
    /// a date.
    private static func seconds(_ value: Double) -> Double { value > 0 ? min(value, 10 * 365 * 86_400) : 0 }

    /// A new random delay for each report.
    var delay: Double { Double.random(in: 0...Self.seconds(longestDelay)) }

    /// Returns the time for which an address is not asked.
    ///
    /// - Parameters:
    ///   - failures: the number of failures in a row, including this one.
    ///   - jitter: a random number from 0 to 1, drawn for each call.
    func wait(afterFailures failures: Int, jitter: Double) -> Double {
        // With the exponent capped at 20, the pause is already longer than any interval.
        let doubled = Self.seconds(firstRetry) * Double(1 << min(max(failures, 1) - 1, 20))
        return min(doubled, Self.seconds(longestRetry)) * (0.5 + 0.5 * min(max(jitter, 0), 1))
    }
}
