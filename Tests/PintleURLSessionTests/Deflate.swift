/// Compressed data that no real compressor would produce (RFC 1951).
enum Deflate {
    /// A stored block without content that is not the last block.
    static let emptyBlock: [UInt8] = [0, 0, 0, 0xFF, 0xFF]

    /// A stored block of one byte.
    static func block(_ byte: UInt8, isLast: Bool = false) -> [UInt8] { [isLast ? 1 : 0, 1, 0, 0xFE, 0xFF, byte] }

    /// Returns the letter `a`, 258 * `count` + 1 times. Each 258 letters take 13 bits.
    static func letters(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (buffer, used): (UInt8, UInt8) = (0, 0)
        func put(_ bits: String) {
            for bit in bits.utf8 {
                buffer |= (bit - 0x30) << used
                used += 1
                if used == 8 {
                    bytes.append(buffer)
                    (buffer, used) = (0, 0)
                }
            }
        }
        // The last block with fixed codes, the letter, copies of length 258 from distance 1, and the end.
        put("110")
        put("10010001")
        // Eight copies fill 13 bytes exactly, so only the first eight have to be packed bit by bit.
        for _ in 0..<min(count, 8) { put("1100010100000") }
        if count > 8 {
            let pattern = bytes.suffix(13)
            for _ in 1..<count / 8 { bytes += pattern }
            for _ in 0..<count % 8 { put("1100010100000") }
        }
        put("0000000")
        if used > 0 { bytes.append(buffer) }
        return bytes
    }
}
