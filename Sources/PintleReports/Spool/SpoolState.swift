internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a spool remembers beside the reports: of this install, of what was delivered, and of the addresses.
package struct SpoolState: Sendable, Hashable {
    /// 0 to 1, drawn once: whether this install is among those that report.
    var draw: Double
    /// Keys of reports that are no longer in the spool, and when they were created.
    var seen: [String: Milliseconds] = [:]
    var addresses: [String: Address] = [:]
    /// For reports that are still in the spool: the addresses that are done with them, by their place.
    var finished: [String: Set<Int>] = [:]
    var counts = ReportCounts()

    package struct Address: Sendable, Hashable {
        var failures = 0
        /// When it was last asked.
        var askedAt: Milliseconds
        var notBefore: Milliseconds
        /// It has answered that it wants no more (status 410).
        var isGone = false

        /// Whether it may be asked; also where it has failed, and the clock was set back since by more than an hour.
        func isOpen(at now: Milliseconds) -> Bool {
            let isSetBack = now.count < askedAt.count - Self.hour
            guard !isGone else { return now.count - askedAt.count >= Self.goneFor || isSetBack }
            return failures == 0 || now >= notBefore || isSetBack
        }

        /// In milliseconds: a clock that is corrected by less does not open anything.
        private static let hour: Int64 = 3_600_000

        /// Thirty days: an operator's slip must not silence every install for good.
        private static let goneFor: Int64 = 30 * 86_400_000
    }

    package static let maximumBytes = 1 << 20
    static let maximumSeen = 1_024
    /// A URL may have eight kilobytes, and the file a megabyte.
    static let maximumAddresses = 64
    /// In milliseconds: for so long a duplicate is one.
    static let memory: Int64 = 86_400_000

    /// In milliseconds: a report that has not been taken by then is not wanted any more.
    private static let longestLife: Int64 = 30 * 86_400_000

    package init(draw: Double) {
        self.draw = draw
    }

    /// Whether a report that was created then is dropped.
    static func isExpired(_ createdAt: Milliseconds, at now: Milliseconds) -> Bool {
        now.count - createdAt.count > longestLife
    }

    /// Takes over what is newer about addresses.
    mutating func merge(_ others: [String: Address]) {
        addresses.merge(others) { own, other in other.askedAt >= own.askedAt ? other : own }
    }

    /// Whether a report with this key is a duplicate of one that was created then.
    static func isRecent(_ createdAt: Milliseconds, at now: Milliseconds) -> Bool {
        abs(now.count - createdAt.count) < memory
    }

    /// Forgets what is over, and what there is no room for.
    ///
    /// - Parameter spooled: the reports that are there; `nil` where nobody can tell.
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

    /// `nil` for anything that the spool did not write.
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
