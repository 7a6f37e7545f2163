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
/// name once, from the right, and keeps the states of the hash on its way: should the host itself have no
/// rule, the hash of each parent domain is one step from one of them. Nothing is allocated on the heap or
/// reference-counted, and no `String` is made.
struct HostTable: Sendable {
    /// The longest host that a rule or a look-up can have: what DNS allows (RFC 1035 section 2.3.4).
    static let maximumHostLength = 253

    /// The rule that governs, and how it came to.
    struct Match: Sendable, Hashable {
        /// The position of the rule in the order in which the rules were added.
        let rule: Int
        /// A Boolean value that indicates whether the rule names the host itself, rather than a parent domain.
        let isExact: Bool
    }

    private let records: [UInt8]
    private let slots: [Slot]
    private let hash: HostHash
    /// A bit is set where a rule of such a length covers its subdomains: most parents of a name need no
    /// look at the slots at all.
    private let subdomainLengths: UInt64
    private let hasPorts: Bool

    /// Only `HostTableBuilder` calls this: at least one slot must be empty, and every other lead to a
    /// whole record.
    init(records: [UInt8], slots: [Slot], hash: HostHash, subdomainLengths: UInt64, hasPorts: Bool) {
        self.records = records
        self.slots = slots
        self.hash = hash
        self.subdomainLengths = subdomainLengths
        self.hasPorts = hasPorts
    }

    /// What the table holds in memory, in bytes.
    var byteCount: Int {
        records.count + slots.count * MemoryLayout<Slot>.stride
    }

    /// What was added at this place.
    func record(at start: UInt32) -> (host: [UInt8], port: UInt16?, includesSubdomains: Bool) {
        let header = RecordHeader(records.elementSpan.bytes, at: Int(start))
        return (Array(records[header.host(at: Int(start))]), header.port, header.includesSubdomains)
    }

    /// The most specific rule for a host and port, or `nil` where there is none.
    ///
    /// - Parameters:
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot. More than 253 bytes match nothing.
    ///   - allowsSubdomainMatch: `false` for IP addresses, whose dots part no labels.
    func match(host: Span<UInt8>, port: UInt16, allowsSubdomainMatch: Bool) -> Match? {
        guard !host.isEmpty, host.count <= Self.maximumHostLength else { return nil }
        // On the stack. A host of at most 253 bytes has at most 31 whole words, and one state more.
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.maximumHostLength / 8 + 1) { states in
            let whole = hash(host.bytes, states: states)
            let parents = allowsSubdomainMatch ? subdomainLengths : 0
            let known = UnsafeBufferPointer(states)
            if hasPorts, let match = match(host.bytes, hash: whole, states: known, parents: parents, onlyPort: port) {
                return match
            }
            return match(host.bytes, hash: whole, states: known, parents: parents, port: nil)
        }
    }

    /// The host itself, then its parent domains from the longest to the shortest, with exactly this port.
    @inline(__always)
    private func match(
        _ host: RawSpan, hash whole: UInt64, states: UnsafeBufferPointer<UInt64>, parents: UInt64, port: UInt16?
    ) -> Match? {
        if let match = find(host, from: 0, port: port, hash: whole) { return match }
        guard parents != 0 else { return nil }
        var index = (host.byteCount - 1) / 8
        while index >= 0 {
            let end = host.byteCount &- 8 &* index
            let word = end >= 8 ? host.word(at: end &- 8) : host.word(before: end)
            var dots = word.dots
            while dots != 0 {
                // The leftmost dot is the lowest; what stands right of it are the bits above.
                let bits = UInt64(truncatingIfNeeded: 63 &- dots.trailingZeroBitCount)
                dots &= dots &- 1
                let start = end &- Int(truncatingIfNeeded: bits / 8)
                guard start > 1, parents &>> Self.bit(ofLength: host.byteCount &- start) & 1 == 1 else { continue }
                let state = states[index]
                let suffix = bits == 0 ? state : hash.mix(state, word & (UInt64.max &<< (64 &- bits)))
                if let match = find(host, from: start, port: port, hash: suffix) { return match }
            }
            index &-= 1
        }
        return nil
    }

    /// Out of line, so that a table without ports, as most are, keeps its registers.
    @inline(never)
    private func match(
        _ host: RawSpan, hash whole: UInt64, states: UnsafeBufferPointer<UInt64>, parents: UInt64, onlyPort port: UInt16
    ) -> Match? {
        match(host, hash: whole, states: states, parents: parents, port: port)
    }

    /// Where in `subdomainLengths` a host of this length is noted.
    @inline(__always)
    static func bit(ofLength length: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: length / 4)
    }

    /// The rule for exactly this port and the host that starts at `offset`; if it is a parent of the whole
    /// name, only one that covers its subdomains.
    @inline(__always)
    private func find(_ name: RawSpan, from offset: Int, port: UInt16?, hash: UInt64) -> Match? {
        let slots = slots.elementSpan
        let records = records.elementSpan.bytes
        let key = RecordHeader.key(length: name.byteCount &- offset, port: port)
        let hash = hash &+ self.hash.term(port: port)
        let tag = Slot.tag(of: hash)
        var index = Slot.home(of: hash, count: slots.count)
        while let start = slots[index].record {
            if slots[index].tag == tag {
                let header = RecordHeader(records, at: start)
                if header.key == key, name.hasSameBytes(from: offset, as: records, from: start &+ RecordHeader.size) {
                    guard offset == 0 || header.includesSubdomains else { return nil }
                    return Match(rule: header.rule, isExact: offset == 0)
                }
            }
            index &+= 1
            if index == slots.count { index = 0 }
        }
        return nil
    }
}

extension UInt64 {
    /// The highest bit of each byte that is a dot.
    @inline(__always)
    fileprivate var dots: UInt64 {
        let others = self ^ 0x2E2E_2E2E_2E2E_2E2E
        let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ~(((others & low) &+ low) | others | low)
    }
}

/// One place of the open-addressing table: 32 bits of the hash, so that a look-up seldom touches a
/// record that is not its own, and where the record starts.
struct Slot: Sendable {
    private let bits: UInt64

    static let empty = Slot(bits: 0)

    private init(bits: UInt64) {
        self.bits = bits
    }

    init(hash: UInt64, record: UInt32) {
        // Zero is "empty", so the place is stored plus one: the builder keeps records below UInt32.max.
        bits = UInt64(Self.tag(of: hash)) << 32 | UInt64(record &+ 1)
    }

    @inline(__always)
    var record: Int? {
        let place = UInt32(truncatingIfNeeded: bits)
        return place == 0 ? nil : Int(place &- 1)
    }

    @inline(__always)
    var tag: UInt32 {
        UInt32(truncatingIfNeeded: bits >> 32)
    }

    /// The uppermost bits of the hash choose the home; the lowest tell apart those who share it.
    @inline(__always)
    static func tag(of hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: hash)
    }

    /// The first slot to look at: the hash scaled down to the size of the table, which need not be a
    /// power of two.
    @inline(__always)
    static func home(of hash: UInt64, count: Int) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(truncatingIfNeeded: count)).high)
    }
}
