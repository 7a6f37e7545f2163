/// Frames of zstd (RFC 8878).
enum Zstandard {
    /// Returns a frame with blocks of 128 KiB of zeros, four bytes each.
    static func zeros(blocks: Int) -> [UInt8] {
        // A window of 128 MiB; no checksum, no length.
        var bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x88]
        for index in 0..<blocks {
            // The size, the type RLE, and the bit of the last block.
            let header = UInt32(1 << 17) << 3 | 1 << 1 | (index == blocks - 1 ? 1 : 0)
            bytes += [0, 8, 16].map { UInt8(truncatingIfNeeded: header >> $0) } + [0]
        }
        return bytes
    }
}
