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

/// What stands before the bytes of a host in the records: eight bytes.
struct RecordHeader {
    static let size = 8
    /// Rule 32 bits, port 16, length 8, flags 8, from the lowest bit up.
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

    /// Length and port in one number: two headers of one key differ at most in the letters of the host.
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

    /// Where the bytes of the host stand, if this header stands at `start`.
    func host(at start: Int) -> Range<Int> {
        start + Self.size..<start + Self.size + Int(bits >> 48 & 0xFF)
    }
}
