#if PINTLE_APPLE
internal import CryptoKit
#else
internal import COpenSSL
#endif

extension SHA256Digest {
    /// Hashes these bytes. The one place in the package that touches a hash function.
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

    /// Hashes these bytes.
    package init(hashing bytes: RawSpan) {
        self = bytes.withUnsafeBytes { SHA256Digest(hashing: $0) }
    }

    /// Hashes these bytes.
    package init(hashing bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { SHA256Digest(hashing: $0) }
    }
}
