/// Finds the rule that governs a host and port, at a cost that does not grow with the number of rules.
///
/// **Order.** Among the rules that cover a host and port, the most specific wins. The criteria, first
/// one first:
///
/// 1. a rule for this port before a rule for every port;
/// 2. a rule for this very host before a rule for a parent domain;
/// 3. the longest parent domain first.
///
/// So a rule for `example.com` port 8443 with its subdomains beats a rule for `api.example.com` without
/// a port, when the connection goes to `api.example.com:8443`. No two rules that cover a name are equal
/// in all three, because a host and port stands in the table once.
///
/// **Shape.** Two flat arrays. `records` holds, rule after rule, an eight-byte header and the bytes of
/// the host; `slots` is an open-addressing table that leads from a hash to a record. A look-up walks the
/// name once, from the right, and has the hash of every parent domain as it passes the dots. Nothing is
/// allocated or reference-counted on the way, and no `String` is made.
struct HostTable: Sendable {
    /// The longest host that a rule or a look-up can have: what DNS allows (RFC 1035 section 2.3.4).
    static let maximumHostLength = 253

    /// The rule that governs, and how it came to.
    struct Match: Sendable, Hashable {
        /// The position of the rule in the order in which the rules were added.
        let rule: Int
        /// Whether the rule names the host itself, rather than a parent domain.
        let isExact: Bool
        /// Whether the rule names the port.
        let namesPort: Bool
    }

    private let records: [UInt8]
    private let slots: [Slot]
    private let hash: HostHash
    /// Bit n is set where a rule with n labels covers its subdomains (63: or more labels). Most dots of
    /// a name need no look at the table at all.
    private let subdomainDepths: UInt64
    private let hasPorts: Bool

    /// Only `HostTableBuilder` calls this: at least one slot must be empty, and every other lead to a
    /// whole record.
    init(records: [UInt8], slots: [Slot], hash: HostHash, subdomainDepths: UInt64, hasPorts: Bool) {
        self.records = records
        self.slots = slots
        self.hash = hash
        self.subdomainDepths = subdomainDepths
        self.hasPorts = hasPorts
    }

    /// What the table holds in memory, in bytes.
    var byteCount: Int {
        records.count + slots.count * MemoryLayout<Slot>.stride + hash.keys.count * MemoryLayout<UInt64>.stride
    }

    /// What was added at this place.
    func record(at start: UInt32) -> (host: [UInt8], port: UInt16?, includesSubdomains: Bool) {
        let header = RecordHeader(records.span.bytes, at: Int(start))
        return (Array(records[header.host(at: Int(start))]), header.port, header.includesSubdomains)
    }

    /// The most specific rule for a host and port, or `nil` where there is none.
    ///
    /// - Parameters:
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot. More than 253 bytes match nothing.
    ///   - allowsSubdomainMatch: `false` for IP addresses, whose dots part no labels.
    func match(host: Span<UInt8>, port: UInt16, allowsSubdomainMatch: Bool) -> Match? {
        guard !host.isEmpty, host.count <= Self.maximumHostLength else { return nil }
        let keys = hash.keys.span
        let portTerm = hash.term(port: port)
        var sum = hash.start
        var position = host.count
        var depth = 1
        var forPort: Match?
        var forEveryPort: Match?

        while position > 0 {
            let byte = host[position - 1]
            if byte == UInt8(ascii: "."), position > 1 {
                if allowsSubdomainMatch, subdomainDepths >> UInt64(min(depth, 63)) & 1 == 1 {
                    let suffix = host.bytes.extracting(position...)
                    if hasPorts, let header = find(suffix, port: port, sum: sum &+ portTerm),
                        header.includesSubdomains
                    {
                        forPort = Match(rule: header.rule, isExact: false, namesPort: true)
                    }
                    if let header = find(suffix, port: nil, sum: sum), header.includesSubdomains {
                        forEveryPort = Match(rule: header.rule, isExact: false, namesPort: false)
                    }
                }
                depth += 1
            }
            // No rule is longer than the keys: what is left of the name can match nothing more.
            guard host.count - position < keys.count else { return forPort ?? forEveryPort }
            sum &+= keys[host.count - position] &* UInt64(byte)
            position -= 1
        }

        if hasPorts, let header = find(host.bytes, port: port, sum: sum &+ portTerm) {
            return Match(rule: header.rule, isExact: true, namesPort: true)
        }
        if let forPort { return forPort }
        if let header = find(host.bytes, port: nil, sum: sum) {
            return Match(rule: header.rule, isExact: true, namesPort: false)
        }
        return forEveryPort
    }

    /// The record with exactly this host and port.
    @inline(__always)
    private func find(_ host: RawSpan, port: UInt16?, sum: UInt64) -> RecordHeader? {
        let slots = slots.span
        let records = records.span.bytes
        let tag = Slot.tag(of: sum)
        var index = Slot.home(of: sum, count: slots.count)
        while let start = slots[index].record {
            if slots[index].tag == tag {
                let header = RecordHeader(records, at: start)
                if header.port == port, header.length == host.byteCount,
                    host.hasSameBytes(as: records, from: start + RecordHeader.size)
                {
                    return header
                }
            }
            index += 1
            if index == slots.count { index = 0 }
        }
        return nil
    }
}

extension RawSpan {
    /// Whether these bytes stand in the other span from this offset on. The caller has made sure that
    /// the other span is long enough.
    @inline(__always)
    fileprivate func hasSameBytes(as other: RawSpan, from start: Int) -> Bool {
        let count = byteCount
        guard count >= 8 else {
            for offset in 0..<count
            where unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                != other.unsafeLoad(fromByteOffset: start + offset, as: UInt8.self)
            {
                return false
            }
            return true
        }
        // Eight at a time; the last eight overlap the ones before.
        var offset = 0
        while true {
            let mine = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let theirs = other.unsafeLoadUnaligned(fromByteOffset: start + offset, as: UInt64.self)
            guard mine == theirs else { return false }
            if offset == count - 8 { return true }
            offset = min(offset + 8, count - 8)
        }
    }
}
