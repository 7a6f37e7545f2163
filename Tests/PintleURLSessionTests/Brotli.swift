/// Streams of br that no real encoder would produce (RFC 7932).
enum Brotli {
    /// Returns a stream that expands to blocks of zeros, of at most 16 MiB each. A block takes 13 bytes, and the window
    /// is the largest.
    static func zeros(blocks: Int, of size: Int = 1 << 24) -> [UInt8] {
        var bytes: [UInt8] = []
        var (buffer, used) = (0, 0)
        func put(_ value: Int, _ bits: Int) {
            for bit in 0..<bits {
                buffer |= (value >> bit & 1) << used
                used += 1
                if used == 8 {
                    bytes.append(UInt8(truncatingIfNeeded: buffer))
                    (buffer, used) = (0, 0)
                }
            }
        }
        /// Puts a prefix code of one symbol, which then takes no bits (section 3.4).
        func putCode(_ symbol: Int, _ bits: Int) {
            put(1, 2)
            put(0, 2)
            put(symbol, bits)
        }
        // A window of 16 MiB (section 9.1).
        put(15, 4)
        for _ in 0..<blocks {
            // Not the last block, and its length in six nibbles (section 9.2).
            put(0, 1)
            put(2, 2)
            put(size - 1, 24)
            // Not stored; one block type and no parameters for each kind of symbol; one tree each.
            put(0, 1 + 3 + 6 + 2 + 2)
            // The literal 0; one literal, and a copy of at least 2,118 bytes; a distance of 1 or 2.
            putCode(0, 8)
            putCode(399, 10)
            putCode(16, 6)
            put(size - 1 - 2_118, 24)
            put(0, 1)
        }
        // The last block, which is empty.
        put(3, 2)
        if used > 0 { bytes.append(UInt8(truncatingIfNeeded: buffer)) }
        return bytes
    }
}
