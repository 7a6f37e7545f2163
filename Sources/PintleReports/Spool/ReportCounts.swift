internal import Pintle
internal import PintlePolicyFile
package import PintleSystem

/// The numbers of reports by outcome, since the spool was created. A report for several addresses counts once for each
/// address that has answered, in ``delivered``, ``refused`` or ``gone``.
public struct ReportCounts: Sendable, Hashable {
    /// Accepted by an address.
    public internal(set) var delivered = 0
    /// Not stored: the same host, port, rule, reason and generation was reported within 24 hours.
    public internal(set) var duplicates = 0
    /// Dropped: the spool had its maximum of reports for the host.
    public internal(set) var droppedForHost = 0
    /// Dropped: the spool was full.
    public internal(set) var dropped = 0
    /// Dropped: a collector answered that the report is wrong (400, 413, 415, 422).
    public internal(set) var refused = 0
    /// Dropped: the address answered that it accepts no more reports (410).
    public internal(set) var gone = 0
    /// Dropped: after thirty days not all addresses had accepted the report.
    public internal(set) var expired = 0
    /// Dropped: the report could not be written to the disk or read back, or could not be shortened to the limit of a
    /// request.
    public internal(set) var lost = 0

    init() {}

    static func + (left: ReportCounts, right: ReportCounts) -> ReportCounts {
        var sum = left
        // Wraps on overflow, because counts from a file may have any value.
        sum.delivered &+= right.delivered
        sum.duplicates &+= right.duplicates
        sum.droppedForHost &+= right.droppedForHost
        sum.dropped &+= right.dropped
        sum.refused &+= right.refused
        sum.gone &+= right.gone
        sum.expired &+= right.expired
        sum.lost &+= right.lost
        return sum
    }

    func write(to json: inout JSONWriter) {
        json.member("delivered", delivered)
        json.member("duplicates", duplicates)
        json.member("droppedForHost", droppedForHost)
        json.member("dropped", dropped)
        json.member("refused", refused)
        json.member("gone", gone)
        json.member("expired", expired)
        json.member("lost", lost)
    }

    /// Reads counts. A missing count is 0. Returns `nil` for a value that is not an object.
    init?(_ json: JSONValue) {
        guard json.kind == .object else { return nil }
        func count(_ key: StaticString) -> Int { Int(clamping: max(0, json[key]?.integer ?? 0)) }
        delivered = count("delivered")
        duplicates = count("duplicates")
        droppedForHost = count("droppedForHost")
        dropped = count("dropped")
        refused = count("refused")
        gone = count("gone")
        expired = count("expired")
        lost = count("lost")
    }
}

/// The milliseconds since 1970, limited to the years for which dates can be written.
package struct Milliseconds: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let count: Int64

    private static let last: Int64 = 253_402_300_799_999

    package init(_ date: Date) {
        let count = (date.timeIntervalSince1970 * 1_000).rounded(.down)
        self.count = count.isNaN ? 0 : Int64(min(max(count, 0), Double(Self.last)))
    }

    /// Creates a time; `nil` outside of those years.
    package init?(_ count: Int64?) {
        guard let count, 0...Self.last ~= count else { return nil }
        self.count = count
    }

    /// The start of 1970.
    static let zero = Milliseconds(Date(timeIntervalSince1970: 0))

    package var date: Date { Date(timeIntervalSince1970: Double(count) / 1_000) }
    package var description: String { "\(count)" }

    package static func < (left: Milliseconds, right: Milliseconds) -> Bool { left.count < right.count }
}
