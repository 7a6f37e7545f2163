#if PINTLE_APPLE
internal import CryptoKit
#else
internal import COpenSSL
#endif

/// Ed25519 signatures (RFC 8032 section 5.1): the pure variant, over whole messages.
package enum Ed25519 {
    /// The size of a public key, and of the seed that serves as private key.
    package static let keySize = 32
    package static let signatureSize = 64

    /// Returns whether `signature` is a valid signature of `message` by the private key of `publicKey`.
    ///
    /// The check is strict where RFC 8032 lets verifiers differ. S must be below the group's order, and R and the key
    /// must have their canonical encoding. A key of small order verifies no signature, because anyone can sign for it.
    /// Bytes of any length and content give `false` rather than a trap.
    ///
    /// - Parameters:
    ///   - signature: R and S, 64 bytes.
    ///   - message: the signed bytes.
    ///   - publicKey: the raw key, 32 bytes.
    package static func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureSize, isAcceptable(publicKey: publicKey),
            isBelow(signature[32...], groupOrder), isCanonical(signature[..<32])
        else { return false }
        return verifies(signature, message, publicKey)
    }

    /// Returns whether these bytes are the canonical encoding of a possible public key: 32 bytes, the coordinate is
    /// reduced, and the point is not one of the eight of small order. It does not check that the point is on the curve;
    /// verification and ``isKey(_:)`` do.
    package static func isAcceptable(publicKey: [UInt8]) -> Bool {
        guard publicKey.count == keySize, isCanonical(publicKey[...]) else { return false }
        var y = publicKey
        y[31] &= 0x7F
        return !smallOrder.contains(y)
    }

    /// Returns the raw public key of a seed of 32 bytes; `nil` for any other length.
    package static func publicKey(ofSeed seed: [UInt8]) -> [UInt8]? {
        #if PINTLE_APPLE
        return (try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)).map {
            Array($0.publicKey.rawRepresentation)
        }
        #else
        guard seed.count == keySize, let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: keySize)
        var count = bytes.count
        guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == keySize else { return nil }
        return bytes
        #endif
    }

    /// Returns the signature of `message` by a seed of 32 bytes; `nil` for any other length.
    package static func signature(of message: [UInt8], seed: [UInt8]) -> [UInt8]? {
        #if PINTLE_APPLE
        return (try? Curve25519.Signing.PrivateKey(rawRepresentation: seed).signature(for: message)).map { Array($0) }
        #else
        guard seed.count == keySize, let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: signatureSize)
        var count = bytes.count
        guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
            EVP_DigestSign(context, &bytes, &count, message, message.count) == 1, count == signatureSize
        else {
            ERR_clear_error()
            return nil
        }
        return bytes
        #endif
    }

    private static func verifies(_ signature: [UInt8], _ message: [UInt8], _ publicKey: [UInt8]) -> Bool {
        #if PINTLE_APPLE
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else { return false }
        return key.isValidSignature(signature, for: message)
        #else
        guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count) else {
            ERR_clear_error()
            return false
        }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        let isValid =
            EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
        #endif
    }
}

extension Ed25519 {
    /// The group's order L, little-endian: 2^252 + 27742317777372353535851937790883648493.
    private static let groupOrder: [UInt8] =
        [
            0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
        ] + [UInt8](repeating: 0, count: 15) + [0x10]

    /// The field's prime p = 2^255 - 19, little-endian.
    static let fieldPrime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

    /// The y coordinates, little-endian, of the eight points whose order divides 8. Points with the same y differ only
    /// in the sign of x.
    private static let smallOrder: Set<[UInt8]> = [
        [UInt8](repeating: 0, count: 32),
        [0x01] + [UInt8](repeating: 0, count: 31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    /// Returns whether the y coordinate, without the top bit, is below p.
    private static func isCanonical(_ point: ArraySlice<UInt8>) -> Bool {
        var y = Array(point)
        y[31] &= 0x7F
        return isBelow(y[...], fieldPrime)
    }

    /// Returns whether a little-endian number is smaller than another of the same length. It does not take constant
    /// time, because no value here is secret.
    static func isBelow(_ number: ArraySlice<UInt8>, _ bound: [UInt8]) -> Bool {
        for (left, right) in zip(number.reversed(), bound.reversed()) where left != right { return left < right }
        return false
    }
}
