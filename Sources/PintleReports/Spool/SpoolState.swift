internal import Pintle
internal import PintlePolicyFile
internal import PintleSystem

/// The state of a spool besides its reports: the install's random number, past deliveries, and the addresses.
package struct SpoolState: Sendable, Hashable {
    /// A random number from 0 to 1, drawn once. It decides whether this install is in the sample that reports.
    var draw: Double
    /// The keys of reports that are no longer in the spool, with the time of their creation.
    var seen: [String: Milliseconds] = [:]
    var addresses: [String: Address] = [:]
    /// For each report in the spool, the indices of the addresses that are finished with it.
    var finished: [String: Set<Int>] = [:]
    var counts = ReportCounts()

    package struct Address: Sendable, Hashable {
        var failures = 0
        /// The time at which the address was last asked.
        var askedAt: Milliseconds
        var notBefore: Milliseconds
        /// A Boolean value that indicates whether the address has answered that it accepts no more reports (status
        /// 410).
        var isGone = false

        /// Returns whether the address may be asked. After a failure it may be asked early if the clock was set back by
        /// more than an hour.
        func isOpen(at now: Milliseconds) -> Bool {
            let isSetBack = now.count < askedAt.count - Self.hour
            guard !isGone else { return now.count - askedAt.count >= Self.goneFor || isSetBack }
            return failures == 0 || now >= notBefore || isSetBack
        }

        /// The milliseconds by which the clock must be set back to end a pause. Smaller corrections do not.
        private static let hour: Int64 = 3_600_000

        /// The milliseconds for which a 410 counts, thirty days. An operator's mistake must not silence every install
        /// forever.
        private static let goneFor: Int64 = 30 * 86_400_000
    }

    package static let maximumBytes = 1 << 20
    static let maximumSeen = 1_024
    /// The most addresses. A URL may have 8 kB, and the file 1 MiB.
    static let maximumAddresses = 64
    /// The milliseconds within which an equal report is a duplicate.
    static let memory: Int64 = 86_400_000

    /// The milliseconds after which a report is dropped.
    private static let longestLife: Int64 = 30 * 86_400_000

    package init(draw: Double) {
        self.draw = draw
    }

    /// Returns whether a report with this creation time has expired.
    static func isExpired(_ createdAt: Milliseconds, at now: Milliseconds) -> Bool {
        now.count - createdAt.count > longestLife
    }

    /// Merges the state of addresses; the newer one of each counts.
    mutating func merge(_ others: [String: Address]) {
        addresses.merge(others) { own, other in other.askedAt >= own.askedAt ? other : own }
    }

    /// Returns whether a new report is a duplicate of one with this creation time and the same key.
    static func isRecent(_ createdAt: Milliseconds, at now: Milliseconds) -> Bool {
        abs(now.count - createdAt.count) < memory
    }

    /// Removes expired records, and the oldest ones beyond the limits.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - spooled: the ids of the reports in the spool; `nil` if unknown.
    mutating func prune(at now: Milliseconds, spooled: Set<String>?) {
        seen = seen.filter { Self.isRecent($0.value, at: now) }
        if seen.count > Self.maximumSeen {
            let kept = seen.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.prefix(Self.maximumSeen)
            seen = Dictionary(kept.map { ($0.key, $0.value) }) { first, _ in first }
        }
        if let spooled { finished = finished.filter { spooled.contains($0.key) } }
        if addresses.count > Self.maximumAddresses {
            let kept = addresses.sorted { ($0.value.askedAt, $0.key) > ($1.value.askedAt, $1.key) }
            addresses = Dictionary(kept.prefix(Self.maximumAddresses).map { ($0.key, $0.value) }) { first, _ in first }
        }
    }
}

extension SpoolState {
    package var json: [UInt8] {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("draw", min(Int((draw * 1e6).rounded()), 999_999))
            json.object("seen") { json in
                for (key, time) in seen.sorted(by: { $0.key < $1.key }) { json.member(key, time.count) }
            }
            json.object("addresses") { json in
                for (url, address) in addresses.sorted(by: { $0.key < $1.key }) {
                    json.object(url) { json in
                        json.member("failures", address.failures)
                        json.member("askedAt", address.askedAt.count)
                        json.member("notBefore", address.notBefore.count)
                        json.member("isGone", address.isGone)
                    }
                }
            }
            json.object("finished") { json in
                for (id, places) in finished.sorted(by: { $0.key < $1.key }) {
                    json.array(id) { for place in places.sorted() { $0.value(place) } }
                }
            }
            json.object("counts") { counts.write(to: &$0) }
        }
        return json.bytes
    }

    /// Parses ``json``; `nil` if a spool did not write it.
    package init?(json: [UInt8]) {
        let limits = JSONDocument.Limits(maximumBytes: Self.maximumBytes, maximumDepth: 4)
        guard let root = try? JSONDocument(json, limits: limits).root,
            let draw = root["draw"]?.integer, 0..<1_000_000 ~= draw,
            let seen = root["seen"]?.members, let addresses = root["addresses"]?.members,
            let finished = root["finished"]?.members, let counts = root["counts"].flatMap({ ReportCounts($0) })
        else { return nil }
        self.draw = Double(draw) / 1e6
        self.counts = counts
        for member in seen {
            guard let key = member.key.string, SpoolName.isHex(key, 32), let time = Milliseconds(member.value.integer)
            else { return nil }
            self.seen[key] = time
        }
        for member in addresses {
            guard let url = member.key.string, let failures = member.value["failures"]?.integer, failures >= 0,
                let askedAt = Milliseconds(member.value["askedAt"]?.integer),
                let notBefore = Milliseconds(member.value["notBefore"]?.integer),
                let isGone = member.value["isGone"]?.boolean
            else { return nil }
            self.addresses[url] = Address(
                failures: Int(min(failures, 1_000)), askedAt: askedAt, notBefore: notBefore, isGone: isGone)
        }
        for member in finished {
            guard let id = member.key.string, SpoolName.isHex(id, 32), let elements = member.value.elements else {
                return nil
            }
            let places = elements.compactMap(\.integer).filter { 0..<Int64(SpooledReport.maximumAddresses) ~= $0 }
            self.finished[id] = Set(places.map { Int($0) })
        }
    }
}
