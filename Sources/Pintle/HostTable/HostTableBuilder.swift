/// Collects the hosts of a policy and builds the table that finds them.
struct HostTableBuilder {
    /// Why a host was not taken.
    enum Refusal: Error, Hashable {
        /// Empty, or longer than 253 bytes.
        case length(Int)
        /// The hosts together are longer than 4 GiB.
        case full
    }

    /// Two rules for the same host and port, by the order in which they were added. The first governs.
    struct Duplicate: Sendable, Hashable {
        let first: Int
        let second: Int
    }

    private var records: [UInt8] = []
    private var ruleCount: UInt32 = 0
    private var subdomainLengths: UInt64 = 0
    private var hasPorts = false

    init() {}

    /// Adds the next rule; the first has index 0.
    ///
    /// - Parameters:
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot.
    ///   - port: `nil` for every port.
    ///   - includesSubdomains: whether every host that ends in a dot and this one is covered too. Must
    ///     be `false` for an IP address.
    /// - Returns: the place of its record, for ``HostTable/record(at:)``.
    @discardableResult
    mutating func add(host: Span<UInt8>, port: UInt16?, includesSubdomains: Bool) throws(Refusal) -> UInt32 {
        guard !host.isEmpty, host.count <= HostTable.maximumHostLength else { throw .length(host.count) }
        guard Self.hasRoom(after: records.count, forHostOf: host.count) else { throw .full }
        let header = RecordHeader(
            rule: ruleCount, length: host.count, port: port, includesSubdomains: includesSubdomains)
        let start = UInt32(records.count)
        header.append(to: &records)
        host.withUnsafeBufferPointer { records.append(contentsOf: $0) }
        if includesSubdomains { subdomainLengths |= 1 << HostTable.bit(ofLength: host.count) }
        hasPorts = hasPorts || port != nil
        ruleCount += 1
        return start
    }

    /// Returns whether a record for a host of this length fits behind the records so far.
    ///
    /// Compares in 64 bits, because the limit of a place is beyond the `Int` of 32-bit systems. Generic, so that tests can
    /// count in the `Int` of those systems.
    static func hasRoom<Size: BinaryInteger>(after used: Size, forHostOf length: Size) -> Bool {
        UInt64(used) + UInt64(RecordHeader.size) + UInt64(length) < UInt64(UInt32.max)
    }

    /// The table, and every pair of rules that name the same host and port.
    func build() -> (table: HostTable, duplicates: [Duplicate]) {
        var generator = SystemRandomNumberGenerator()
        return build(using: &generator)
    }

    /// As above, with keys from this generator: for tests that need every hash to collide.
    func build(using generator: inout some RandomNumberGenerator) -> (table: HostTable, duplicates: [Duplicate]) {
        let function = HostHash(using: &generator)
        // Half full: a miss looks at two or three neighbouring slots, at 16 bytes a rule.
        var slots = [Slot](repeating: .empty, count: Int(ruleCount) * 2 + 1)
        var duplicates: [Duplicate] = []
        var start = 0
        while start < records.count {
            let header = RecordHeader(records.elementSpan.bytes, at: start)
            let host = records.elementSpan.bytes.extracting(header.host(at: start))
            let hash = function(host) &+ function.term(port: header.port)
            var index = Slot.home(of: hash, count: slots.count)
            var earlier: Int?
            while let other = slots[index].record, earlier == nil {
                if slots[index].tag == Slot.tag(of: hash) { earlier = rule(at: other, ifSameAs: start) }
                index = index + 1 == slots.count ? 0 : index + 1
            }
            if let earlier {
                duplicates.append(Duplicate(first: earlier, second: header.rule))
            } else {
                slots[index] = Slot(hash: hash, record: UInt32(start))
            }
            start = header.host(at: start).upperBound
        }
        let table = HostTable(
            records: records, slots: slots, hash: function, subdomainLengths: subdomainLengths, hasPorts: hasPorts)
        return (table, duplicates)
    }

    /// The index of the rule whose record stands here, if it names the host and port of the other one.
    private func rule(at start: Int, ifSameAs other: Int) -> Int? {
        let header = RecordHeader(records.elementSpan.bytes, at: start)
        let otherHeader = RecordHeader(records.elementSpan.bytes, at: other)
        guard header.key == otherHeader.key else { return nil }
        let isSame = records[header.host(at: start)].elementsEqual(records[otherHeader.host(at: other)])
        return isSame ? header.rule : nil
    }
}
