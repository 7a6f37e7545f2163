internal import PintleCrypto

/// Eight digits of base64's standard alphabet, decoded at once. Updates carry one long base64 text, and policies many
/// pins, so this is the fast path for both.
struct Base64Octet {
    /// The decoded 48 bits, with the first digit in the highest bits.
    let bits: UInt64
    /// A Boolean value that indicates whether `+` or `/` occurs, which the URL-safe alphabet does not have.
    let hasMarks: Bool

    /// Decodes a word of eight characters, or returns `nil` unless each is a digit.
    ///
    /// - Parameter word: the characters, the first in the lowest byte.
    @inline(__always)
    init?(_ word: UInt64) {
        let highs: UInt64 = 0x8080_8080_8080_8080
        // Sets the high bit of each byte whose character is at or after this one. ASCII values cause no carry between
        // bytes.
        func from(_ character: UInt8) -> UInt64 { word &+ 0x0101_0101_0101_0101 &* UInt64(0x80 &- character) }
        // A byte at or after the end of a range is also at or after its start, so exclusive-or leaves only the bytes in
        // the range.
        let digit = (from(0x30) ^ from(0x3A)) & highs
        let upper = (from(0x41) ^ from(0x5B)) & highs
        let lower = (from(0x61) ^ from(0x7B)) & highs
        guard word & highs == 0 else { return nil }
        // Each byte of the result is between 0 and 63, so no byte borrows from the next.
        var values = word &+ (digit >> 7) &* 4 &- (upper >> 7) &* 65 &- (lower >> 7) &* 71
        hasMarks = digit | upper | lower != highs
        if hasMarks {
            let plus = (from(0x2B) ^ from(0x2C)) & highs
            let slash = (from(0x2F) ^ from(0x30)) & highs
            guard plus | slash | digit | upper | lower == highs else { return nil }
            values = values &+ (plus >> 7) &* 19 &+ (slash >> 7) &* 16
        }
        // Join neighbouring values: 6 bits in each 8, 12 in each 16, 24 in each 32, 48 in 64.
        let sixes = values.byteSwapped
        let twelves = (sixes & 0x003F_003F_003F_003F) | (sixes & 0x3F00_3F00_3F00_3F00) >> 2
        let twentyFours = (twelves & 0x0000_0FFF_0000_0FFF) | (twelves & 0x0FFF_0000_0FFF_0000) >> 4
        bits = (twentyFours & 0xFF_FFFF) | (twentyFours & 0x00FF_FFFF_0000_0000) >> 8
    }
}

extension SHA256Digest {
    /// Decodes the digest at `offset`: 43 digits of the standard alphabet and a `=`. Returns `nil` for anything else,
    /// including other spellings of a digest.
    init?(base64 text: RawSpan, at offset: Int) {
        guard offset >= 0, text.byteCount - offset >= 44 else { return nil }
        // The last eight characters overlap the ones before. `A` replaces the padding, because its bits are zero.
        let end = text.word(at: offset + 36)
        let digits = end & 0x00FF_FFFF_FFFF_FFFF | UInt64(UInt8(ascii: "A")) << 56
        guard end >> 56 == UInt64(UInt8(ascii: "=")),
            let first = Base64Octet(text.word(at: offset)), let second = Base64Octet(text.word(at: offset + 8)),
            let third = Base64Octet(text.word(at: offset + 16)), let fourth = Base64Octet(text.word(at: offset + 24)),
            let fifth = Base64Octet(text.word(at: offset + 32)), let last = Base64Octet(digits),
            // Three digits hold 18 bits, of which two bytes take 16. The other two are zero in the canonical spelling.
            last.bits >> 6 & 0b11 == 0
        else { return nil }
        self.init(
            bigEndian: first.bits << 16 | second.bits >> 32, second.bits << 32 | third.bits >> 16,
            third.bits << 48 | fourth.bits, fifth.bits << 16 | last.bits >> 8 & 0xFFFF)
    }
}
