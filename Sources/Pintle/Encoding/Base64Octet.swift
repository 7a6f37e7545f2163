internal import PintleCrypto

/// Eight digits of base64's standard alphabet, read at once: an update is one long text of them, and a pin a short one.
struct Base64Octet {
    /// What they stand for, 48 bits, the first digit uppermost.
    let bits: UInt64
    /// Whether `+` or `/` is among them, which the other alphabet does not have.
    let hasMarks: Bool

    /// - Parameter word: eight characters, the first one lowest. `nil` unless each is a digit.
    @inline(__always)
    init?(_ word: UInt64) {
        let highs: UInt64 = 0x8080_8080_8080_8080
        // The high bit of each byte: whether the character there is this one or a later one. In ASCII nothing carries.
        func from(_ character: UInt8) -> UInt64 { word &+ 0x0101_0101_0101_0101 &* UInt64(0x80 &- character) }
        // Whoever comes from the later one on comes from the earlier one on as well: what is left are those between.
        let digit = (from(0x30) ^ from(0x3A)) & highs
        let upper = (from(0x41) ^ from(0x5B)) & highs
        let lower = (from(0x61) ^ from(0x7B)) & highs
        guard word & highs == 0 else { return nil }
        // No byte of the result is below 0 or above 63, so that none borrows from the next.
        var values = word &+ (digit >> 7) &* 4 &- (upper >> 7) &* 65 &- (lower >> 7) &* 71
        hasMarks = digit | upper | lower != highs
        if hasMarks {
            let plus = (from(0x2B) ^ from(0x2C)) & highs
            let slash = (from(0x2F) ^ from(0x30)) & highs
            guard plus | slash | digit | upper | lower == highs else { return nil }
            values = values &+ (plus >> 7) &* 19 &+ (slash >> 7) &* 16
        }
        // Neighbours are put together: 6 bits in 8, 12 in 16, 24 in 32, 48 in 64.
        let sixes = values.byteSwapped
        let twelves = (sixes & 0x003F_003F_003F_003F) | (sixes & 0x3F00_3F00_3F00_3F00) >> 2
        let twentyFours = (twelves & 0x0000_0FFF_0000_0FFF) | (twelves & 0x0FFF_0000_0FFF_0000) >> 4
        bits = (twentyFours & 0xFF_FFFF) | (twentyFours & 0x00FF_FFFF_0000_0000) >> 8
    }
}

extension SHA256Digest {
    /// The digest whose base64 stands at `offset`: 43 digits of the standard alphabet and a `=`. `nil` where something
    /// else stands there, such as another spelling of a digest.
    init?(base64 text: RawSpan, at offset: Int) {
        guard offset >= 0, text.byteCount - offset >= 44 else { return nil }
        // The last eight overlap the ones before; `A` adds no bits in the place of the padding.
        let end = text.word(at: offset + 36)
        let digits = end & 0x00FF_FFFF_FFFF_FFFF | UInt64(UInt8(ascii: "A")) << 56
        guard end >> 56 == UInt64(UInt8(ascii: "=")),
            let first = Base64Octet(text.word(at: offset)), let second = Base64Octet(text.word(at: offset + 8)),
            let third = Base64Octet(text.word(at: offset + 16)), let fourth = Base64Octet(text.word(at: offset + 24)),
            let fifth = Base64Octet(text.word(at: offset + 32)), let last = Base64Octet(digits),
            // Three digits hold 18 bits, and two bytes 16: the other two are zero where the spelling is canonical.
            last.bits >> 6 & 0b11 == 0
        else { return nil }
        self.init(
            bigEndian: first.bits << 16 | second.bits >> 32, second.bits << 32 | third.bits >> 16,
            third.bits << 48 | fourth.bits, fifth.bits << 16 | last.bits >> 8 & 0xFFFF)
    }
}
