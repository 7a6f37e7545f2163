#if PINTLE_APPLE
internal import CryptoKit
#else
internal import COpenSSL
#endif

/// A SHA-256 hash: 32 bytes stored inline as four words.
package struct SHA256Digest: Sendable, Hashable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    private init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// Creates a digest from bytes, or `nil` unless there are exactly 32.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        var words = [UInt64](repeating: 0, count: 4)
        for (offset, byte) in bytes.enumerated() {
            words[offset / 8] |= UInt64(byte) << UInt64(8 * (offset % 8))
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The 32 bytes in order.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for word in [words.0, words.1, words.2, words.3] {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return bytes
    }

    package static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
        left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        // Hash all words: an attacker may choose the pins in a file, and could make hashes of fewer bits collide.
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension SHA256Digest {
    /// The hash of no bytes (FIPS 180-4), the usual result of a failed pipe.
    package static let ofNothing = SHA256Digest(hashing: [])
}

extension SHA256Digest {
    /// Hashes bytes. This is the only place in the package that calls a hash function.
    package init(hashing bytes: UnsafeRawBufferPointer) {
        #if PINTLE_APPLE
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var function = CryptoKit.SHA256()
        function.update(bufferPointer: bytes)
        let digest = function.finalize()
        withUnsafeMutableBytes(of: &words) { target in
            digest.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        #else
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { target in
            pintle_sha256(bytes.baseAddress, bytes.count, target.baseAddress)
        }
        #endif
        self.init(
            words: (
                UInt64(littleEndian: words.0), UInt64(littleEndian: words.1),
                UInt64(littleEndian: words.2), UInt64(littleEndian: words.3)
            ))
    }

    /// Hashes bytes.
    package init(hashing bytes: ArraySlice<UInt8>) {
        self = bytes.withUnsafeBytes { SHA256Digest(hashing: $0) }
    }

    /// Hashes bytes.
    package init(hashing bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { SHA256Digest(hashing: $0) }
    }
}
