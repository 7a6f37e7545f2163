/// A builder that collects the hosts of a policy and builds their look-up table.
struct HostTableBuilder {
    /// The reason why a host was refused.
    enum Refusal: Error, Hashable {
        /// The host is empty or longer than 253 bytes.
        case length(Int)
        /// The records of all hosts would exceed 4 GiB.
        case full
    }

    /// Two rules for the same host and port, by index. The first one decides.
    struct Duplicate: Sendable, Hashable {
        let first: Int
        let second: Int
    }

    private var records: [UInt8] = []
    private var ruleCount: UInt32 = 0
    private var subdomainLengths: UInt64 = 0
    private var hasPorts = false

    init() {}

    /// Adds the next rule. The first rule has index 0.
    ///
    /// - Parameters:
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot.
    ///   - port: `nil` for every port.
    ///   - includesSubdomains: whether the rule also covers every host that ends in a dot and this host. It must be
    ///     `false` for an IP address.
    /// - Returns: the offset of its record, for ``HostTable/record(at:)``.
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

    /// Returns whether a record for a host of this length fits after the existing records.
    ///
    /// It compares 64-bit numbers, because the maximum offset exceeds the `Int` of 32-bit systems. It is generic so
    /// that tests can use the `Int` of those systems.
    static func hasRoom<Size: BinaryInteger>(after used: Size, forHostOf length: Size) -> Bool {
        UInt64(used) + UInt64(RecordHeader.size) + UInt64(length) < UInt64(UInt32.max)
    }

    /// Returns the table, and every pair of rules for the same host and port.
    func build() -> (table: HostTable, duplicates: [Duplicate]) {
        var generator = SystemRandomNumberGenerator()
        return build(using: &generator)
    }

    /// Returns the same with keys from the given generator, for tests that need every hash to collide.
    func build(using generator: inout some RandomNumberGenerator) -> (table: HostTable, duplicates: [Duplicate]) {
        let function = HostHash(using: &generator)
        // Keep the table half full: a miss then probes two or three adjacent slots, at 16 bytes a rule.
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

    /// Returns the index of the rule at `start` if its host and port equal those of the record at `other`; otherwise
    /// `nil`.
    private func rule(at start: Int, ifSameAs other: Int) -> Int? {
        let header = RecordHeader(records.elementSpan.bytes, at: start)
        let otherHeader = RecordHeader(records.elementSpan.bytes, at: other)
        guard header.key == otherHeader.key else { return nil }
        let isSame = records[header.host(at: start)].elementsEqual(records[otherHeader.host(at: other)])
        return isSame ? header.rule : nil
    }
}
