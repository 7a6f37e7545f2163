/// A table that finds the rule for a host and port, at a cost independent of the number of rules.
///
/// **Order.** Among the rules that cover a host and port, the most specific one wins. The criteria, in this order:
///
/// 1. a rule for this port before a rule for every port;
/// 2. a rule for this host before a rule for a parent domain;
/// 3. the longest parent domain first.
///
/// For a connection to `api.example.com:8443`, a rule for `example.com` port 8443 with its subdomains therefore beats a
/// rule for `api.example.com` without a port. No two rules that cover a name are equal in all three criteria, because
/// the table holds each host and port only once.
///
/// **Layout.** The table consists of two flat arrays. `records` holds an eight-byte header and the bytes of the host
/// for each rule. `slots` is an open-addressing hash table of the records. A look-up hashes the name once, from the
/// right, and keeps the intermediate states. If the host itself has no rule, the hash of each parent domain takes one
/// more step from one of these states. A look-up allocates nothing on the heap, counts no references and creates no
/// `String`.
struct HostTable: Sendable {
    /// The maximum length of a host, in rules and look-ups: the limit of DNS (RFC 1035 section 2.3.4).
    static let maximumHostLength = 253

    /// The rule that decides, and whether it names the host itself.
    struct Match: Sendable, Hashable {
        /// The rule's index, in the order in which the rules were added.
        let rule: Int
        /// A Boolean value that indicates whether the rule names the host itself, rather than a parent domain.
        let isExact: Bool
    }

    private let records: [UInt8]
    private let slots: [Slot]
    private let hash: HostHash
    /// A set of lengths, one bit for each: a bit is set if some rule of that length covers its subdomains. It lets a
    /// look-up skip most parent domains without reading the slots.
    private let subdomainLengths: UInt64
    private let hasPorts: Bool

    /// Creates a table. Only `HostTableBuilder` calls this: at least one slot must be empty, and every other slot must
    /// refer to a complete record.
    init(records: [UInt8], slots: [Slot], hash: HostHash, subdomainLengths: UInt64, hasPorts: Bool) {
        self.records = records
        self.slots = slots
        self.hash = hash
        self.subdomainLengths = subdomainLengths
        self.hasPorts = hasPorts
    }

    /// The size of the table in memory, in bytes.
    var byteCount: Int {
        records.count + slots.count * MemoryLayout<Slot>.stride
    }

    /// Returns the host, port and flag of the record at this offset.
    func record(at start: UInt32) -> (host: [UInt8], port: UInt16?, includesSubdomains: Bool) {
        let header = RecordHeader(records.elementSpan.bytes, at: Int(start))
        return (Array(records[header.host(at: Int(start))]), header.port, header.includesSubdomains)
    }

    /// Returns the most specific rule for a host and port, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot. More than 253 bytes match no rule.
    ///   - port: the port of the connection.
    ///   - allowsSubdomainMatch: `false` for IP addresses, whose dots do not separate labels.
    func match(host: Span<UInt8>, port: UInt16, allowsSubdomainMatch: Bool) -> Match? {
        guard !host.isEmpty, host.count <= Self.maximumHostLength else { return nil }
        // Allocate on the stack. A host of at most 253 bytes has at most 31 whole words, so 32 states suffice.
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

    /// Looks up the host itself, then its parent domains from the longest to the shortest, each with exactly this port.
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
                // The leftmost dot is in the lowest byte, so the bytes to its right are the higher bits.
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

    /// Looks up rules for one port. It is out of line so that the usual table without ports keeps its values in
    /// registers.
    @inline(never)
    private func match(
        _ host: RawSpan, hash whole: UInt64, states: UnsafeBufferPointer<UInt64>, parents: UInt64, onlyPort port: UInt16
    ) -> Match? {
        match(host, hash: whole, states: states, parents: parents, port: port)
    }

    /// Returns the bit of `subdomainLengths` that stands for a host of this length.
    @inline(__always)
    static func bit(ofLength length: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: length / 4)
    }

    /// Returns the rule for exactly this port and the suffix that starts at `offset`. If the suffix is a parent domain,
    /// the rule must cover its subdomains.
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
    /// A word with the highest bit set in each byte that is a dot.
    @inline(__always)
    fileprivate var dots: UInt64 {
        let others = self ^ 0x2E2E_2E2E_2E2E_2E2E
        let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ~(((others & low) &+ low) | others | low)
    }
}

/// One slot of the open-addressing table: the offset of a record, and 32 bits of its hash, so that a look-up rarely
/// reads a record of another host.
struct Slot: Sendable {
    private let bits: UInt64

    static let empty = Slot(bits: 0)

    private init(bits: UInt64) {
        self.bits = bits
    }

    init(hash: UInt64, record: UInt32) {
        // Zero means "empty", so store the offset plus one. The builder keeps offsets below `UInt32.max`.
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

    /// Returns the lowest bits of the hash, which distinguish hosts that share a home slot. The highest bits choose
    /// that slot.
    @inline(__always)
    static func tag(of hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: hash)
    }

    /// Returns the first slot to probe: the hash scaled to the size of the table, which need not be a power of two.
    @inline(__always)
    static func home(of hash: UInt64, count: Int) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(truncatingIfNeeded: count)).high)
    }
}

/// The eight-byte header of a record, in front of the bytes of the host.
struct RecordHeader {
    static let size = 8
    /// From the lowest bit: 32 bits for the rule, 16 for the port, 8 for the length, 8 for the flags.
    private let bits: UInt64

    private static let hasPort: UInt64 = 1 << 56
    private static let includesSubdomains: UInt64 = 1 << 57

    init(rule: UInt32, length: Int, port: UInt16?, includesSubdomains: Bool) {
        bits =
            UInt64(rule) | Self.key(length: length, port: port) << 32
            | (includesSubdomains ? Self.includesSubdomains : 0)
    }

    @inline(__always)
    init(_ records: RawSpan, at offset: Int) {
        bits = records.word(at: offset)
    }

    func append(to records: inout [UInt8]) {
        withUnsafeBytes(of: bits.littleEndian) { records.append(contentsOf: $0) }
    }

    /// Combines length and port in one number. Two records with equal keys can differ only in the characters of the
    /// host.
    @inline(__always)
    static func key(length: Int, port: UInt16?) -> UInt64 {
        UInt64(truncatingIfNeeded: length) << 16 | (port.map { UInt64($0) | 1 << 24 } ?? 0)
    }

    @inline(__always)
    var key: UInt64 { bits >> 32 & 0x1FF_FFFF }

    @inline(__always)
    var rule: Int { Int(bits & 0xFFFF_FFFF) }

    var port: UInt16? { bits & Self.hasPort == 0 ? nil : UInt16(truncatingIfNeeded: bits >> 32) }

    @inline(__always)
    var includesSubdomains: Bool { bits & Self.includesSubdomains != 0 }

    /// Returns the range of the host's bytes if this header is at `start`.
    func host(at start: Int) -> Range<Int> {
        start + Self.size..<start + Self.size + Int(bits >> 48 & 0xFF)
    }
}
