package import PintleTestKit

/// EC keys with explicit curve parameters instead of a named curve, which RFC 5480 section 2.1.1 forbids.
package enum ExplicitCurve {
    /// Returns an EC key on y² = x³ + 8 over the prime p = 0xFFEFB · 2^640 + 1. The compressed point (1, 3) is both
    /// base point and key.
    ///
    /// To decompress a point, OpenSSL takes a square root modulo p. The power of two in p - 1 makes that as slow as a
    /// field of this size allows: half a second in OpenSSL 3.0. 3 is not a square modulo p.
    package static func slow(algorithm: DERWriter.OID = ecPublicKey) -> [UInt8] {
        let prime = [0x0F, 0xFE, 0xFB] + [UInt8](repeating: 0, count: 79) + [1]
        let point = [3] + [UInt8](repeating: 0, count: prime.count - 1) + [1]
        let coefficient = [UInt8](repeating: 0, count: prime.count)
        return SubjectPublicKeyInfo.explicitEC(
            algorithm: algorithm, prime: prime, a: coefficient, b: coefficient.dropLast() + [8], base: point,
            order: prime.dropLast() + [3], point: point)
    }

    package static let ecPublicKey: DERWriter.OID = [1, 2, 840, 10_045, 2, 1]
    package static let sm2: DERWriter.OID = [1, 2, 156, 10_197, 1, 301]
}
