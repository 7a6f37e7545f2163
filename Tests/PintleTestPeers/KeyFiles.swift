package import PintleTestKit

/// Files with private keys that ordinary tools do not write.
package enum KeyFiles {
    /// Returns PKCS#8 of an EC key on P-256 with the private half of one key and the public half of another.
    package static func joining(_ key: PrivateKey, publicHalf other: PrivateKey) throws -> [UInt8] {
        // Both halves have a fixed length: the private one ends before the public one of 65 bytes and its headers.
        let (own, foreign) = (key.pkcs8DER, other.pkcs8DER)
        return Array(own.dropLast(65)) + foreign.suffix(65)
    }

    /// Returns a OneAsymmetricKey (RFC 5958 section 2): PKCS#8 with the public half of a key beside it.
    package static func oneAsymmetricKey(_ key: PrivateKey, publicHalf other: PrivateKey) -> [UInt8] {
        // The header of an Ed25519 key and the version have five bytes.
        DERWriter.encode { der in
            der.sequence { der in
                der.integer(1)
                der.raw(key.pkcs8DER.dropFirst(5))
                der.context(1, .primitive, content: [0] + other.spkiDER.suffix(32))
            }
        }
    }
}
