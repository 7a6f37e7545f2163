internal import PintleTestKit

/// Values in the place of a public key, with the words that Pintle has for them, and their accepting twins.
package struct FlawedKey: Sendable {
    package let name: String
    package let spki: [UInt8]
    /// A part of the reason; `nil` for a key that is one.
    package let reason: String?

    private init(_ name: String, _ spki: [UInt8], _ reason: String? = nil) {
        (self.name, self.spki, self.reason) = (name, spki, reason)
    }

    /// A modulus of 2,048 bits: odd, with the highest bit set.
    private static let modulus = [0xC5] + (1...254).map { UInt8(truncatingIfNeeded: $0 * 37) } + [0x4D]

    private static func rsa(_ exponent: [UInt8], _ modulus: [UInt8] = [0] + modulus) -> [UInt8] {
        SubjectPublicKeyInfo.rsa(modulusContent: modulus, exponentContent: exponent)
    }

    private static func little(_ first: UInt8, _ rest: UInt8, _ last: UInt8, count: Int) -> [UInt8] {
        [first] + [UInt8](repeating: rest, count: count - 2) + [last]
    }

    package static func all() throws -> [FlawedKey] {
        let point = try PrivateKey(.p256)
        let edwards = try PrivateKey(.ed25519)
        let uncompressed = Array(point.spkiDER.suffix(65))
        return [
            FlawedKey("RSA e = 0", rsa([0]), "exponent is 0"), FlawedKey("RSA e = 1", rsa([1]), "exponent is 1"),
            FlawedKey("RSA e = 2", rsa([2]), "exponent is even"),
            FlawedKey("RSA e even", rsa([1, 0, 0]), "exponent is even"),
            FlawedKey("RSA e negative", rsa([0x81]), "exponent is negative"),
            FlawedKey("RSA e = n", rsa([0] + modulus), "exponent is not below its modulus"),
            FlawedKey("RSA e > n", rsa([1] + modulus), "exponent is not below its modulus"),
            FlawedKey("RSA n negative", rsa([1, 0, 1], modulus), "modulus is negative"),
            FlawedKey("RSA n even", rsa([1, 0, 1], [0] + modulus.dropLast() + [0x4C]), "modulus is even"),
            FlawedKey("RSA e = 3", rsa([3])), FlawedKey("RSA e = 65537", rsa([1, 0, 1])),

            FlawedKey("P-256 infinity", SubjectPublicKeyInfo.p256(point: [0]), "infinity"),
            FlawedKey("P-256 hybrid", SubjectPublicKeyInfo.p256(point, form: .hybrid), "hybrid"),
            FlawedKey(
                "P-256 off its curve",
                SubjectPublicKeyInfo.p256(point: uncompressed.dropLast() + [uncompressed[64] ^ 1]), "point of its curve"
            ),
            FlawedKey("P-256 too short", SubjectPublicKeyInfo.p256(point: [4, 1, 2]), "point of its curve"),
            FlawedKey(
                "P-256 compressed off its curve",
                SubjectPublicKeyInfo.p256(point: [2] + [UInt8](repeating: 0, count: 31) + [1]), "point of its curve"),
            FlawedKey("P-256 compressed", SubjectPublicKeyInfo.p256(point, form: .compressed)),
            FlawedKey("P-256", point.spkiDER), FlawedKey("P-384", try PrivateKey(.p384).spkiDER),
            FlawedKey("P-521", try PrivateKey(.p521).spkiDER),

            FlawedKey("Ed25519 identity", SubjectPublicKeyInfo.ed25519(little(1, 0, 0, count: 32)), "anyone can sign"),
            FlawedKey("Ed25519 order 2", SubjectPublicKeyInfo.ed25519(little(0xEC, 0xFF, 0x7F, count: 32)), "anyone"),
            FlawedKey("Ed25519 order 4", SubjectPublicKeyInfo.ed25519(little(0, 0, 0x80, count: 32)), "anyone"),
            FlawedKey(
                "Ed25519 not canonical", SubjectPublicKeyInfo.ed25519(little(0xF0, 0xFF, 0x7F, count: 32)), "anyone"),
            FlawedKey("Ed25519 off its curve", SubjectPublicKeyInfo.ed25519(little(2, 0, 0, count: 32)), "point"),
            FlawedKey("Ed25519", edwards.spkiDER),
            FlawedKey("Ed448 identity", SubjectPublicKeyInfo.ed448(little(1, 0, 0, count: 57)), "anyone can sign"),
            FlawedKey("Ed448 order 4", SubjectPublicKeyInfo.ed448(little(0, 0, 0x80, count: 57)), "anyone"),
            FlawedKey("Ed448", try PrivateKey(.ed448).spkiDER),
        ]
    }
}
