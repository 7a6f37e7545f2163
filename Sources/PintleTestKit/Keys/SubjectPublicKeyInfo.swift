/// Makes public keys without a private half, for certificates whose key a test only reads, measures or pins.
public enum SubjectPublicKeyInfo {
    /// Returns an RSA key, as SubjectPublicKeyInfo in DER. Its modulus is a random odd number, not a product of two
    /// known primes, so 16,384 bits take no longer than 512.
    ///
    /// - Parameters:
    ///   - modulusBits: the exact length of the modulus, 16 to 65,536.
    ///   - exponent: the public exponent.
    public static func rsa(modulusBits: Int, exponent: Int = 65_537) -> [UInt8] {
        let bits = min(max(modulusBits, 16), 65_536)
        var generator = SystemRandomNumberGenerator()
        var modulus = (0..<(bits + 7) / 8).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let topBit = UInt8((bits - 1) % 8)
        modulus[0] = (modulus[0] & ((1 << topBit) &- 1)) | (1 << topBit)
        modulus[modulus.count - 1] |= 1
        return rsa(modulus: modulus, exponent: exponent)
    }

    /// Returns an RSA key with this modulus, as SubjectPublicKeyInfo in DER (RFC 3279 section 2.3.1).
    ///
    /// - Parameters:
    ///   - modulus: the modulus, unsigned big-endian.
    ///   - exponent: the public exponent.
    public static func rsa(modulus: [UInt8], exponent: Int) -> [UInt8] {
        let key = DERWriter.encode { der in
            der.sequence { der in
                der.integer(magnitude: modulus)
                der.integer(exponent)
            }
        }
        return encode(algorithm: [1, 2, 840, 113_549, 1, 1, 1], parameters: [0x05, 0x00], key: key)
    }

    /// Returns a key of any algorithm: `parameters` is a whole element or empty, `key` the content of the BIT STRING.
    package static func encode(algorithm: DERWriter.OID, parameters: [UInt8] = [], key: [UInt8]) -> [UInt8] {
        DERWriter.encode { der in
            der.sequence { der in
                der.sequence { der in
                    der.oid(algorithm)
                    der.raw(parameters)
                }
                der.bitString(key)
            }
        }
    }
}
