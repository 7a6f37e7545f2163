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
