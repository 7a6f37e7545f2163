internal import Pintle

/// What became of failures, since the spool was made. A report that goes to several addresses counts once for each that has
/// answered: in ``delivered``, ``refused`` or ``gone``.
public struct ReportCounts: Sendable, Hashable {
    /// Taken by an address.
    public internal(set) var delivered = 0
    /// Same host, port, rule, reason and generation within 24 hours.
    public internal(set) var duplicates = 0
    /// Dropped: the host had as many in the spool as it may have.
    public internal(set) var droppedForHost = 0
    /// Dropped: the spool was full.
    public internal(set) var dropped = 0
    /// Dropped: a collector called the report itself wrong (400, 413, 415, 422).
    public internal(set) var refused = 0
    /// Dropped: the address has answered that it wants no more (410).
    public internal(set) var gone = 0
    /// Dropped: thirty days old, and not taken by all of its addresses.
    public internal(set) var expired = 0
    /// Dropped: the disk did not take it, or gave it back broken, or it cannot be brought below the limit of a request.
    public internal(set) var lost = 0

    init() {}

    static func + (left: ReportCounts, right: ReportCounts) -> ReportCounts {
        var sum = left
        // Read from a file, either may be anything.
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

    /// What is missing is 0; `nil` for what is no object.
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
