#if !PINTLE_APPLE
internal import COpenSSL
#endif

extension Ed25519 {
    /// Returns whether the bytes are a public key: ``isAcceptable(publicKey:)``, and on Linux also a point of the curve
    /// (RFC 8032 section 5.1.3). CryptoKit does not tell whether it is one.
    package static func isKey(_ bytes: [UInt8]) -> Bool {
        guard isAcceptable(publicKey: bytes) else { return false }
        #if PINTLE_APPLE
        return true
        #else
        // -x² + y² = 1 - (121665 / 121666) x² y²
        return EdwardsCurve(
            prime: fieldPrime, numerator: .init(slope: 121_666, constant: -121_666),
            denominator: .init(slope: -121_665, constant: 121_666)
        ).hasPoint(y: bytes.dropLast() + [(bytes.last ?? 0) & 0x7F])
        #endif
    }
}

/// Public keys of Ed448 (RFC 8032 section 5.2).
package enum Ed448 {
    /// The size of a public key.
    package static let keySize = 57

    /// The field's prime p = 2^448 - 2^224 - 1, little-endian.
    private static let fieldPrime =
        [UInt8](repeating: 0xFF, count: 28) + [0xFE] + [UInt8](repeating: 0xFF, count: 27)

    /// The y coordinates, little-endian, of the four points whose order divides 4: 0, 1 and -1.
    private static let smallOrder: Set<[UInt8]> = [
        [UInt8](repeating: 0, count: 56), [0x01] + [UInt8](repeating: 0, count: 55),
        [0xFE] + fieldPrime.dropFirst(),
    ]

    /// Returns whether the bytes are a public key: the canonical encoding of a point that is not of small order. Anyone
    /// can make signatures for a point of small order. On Linux the point also has to be on the curve.
    package static func isKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == keySize, bytes[56] & 0x7F == 0, Ed25519.isBelow(bytes[..<56], fieldPrime),
            !smallOrder.contains(Array(bytes[..<56]))
        else { return false }
        #if PINTLE_APPLE
        return true
        #else
        // x² + y² = 1 - 39081 x² y²
        return EdwardsCurve(
            prime: fieldPrime, numerator: .init(slope: -1, constant: 1),
            denominator: .init(slope: 39_081, constant: 1)
        ).hasPoint(y: bytes.dropLast())
        #endif
    }
}

#if !PINTLE_APPLE
/// An Edwards curve as its equation for x²: a quotient of two linear functions of y². OpenSSL decodes any bytes as such
/// a key, so it cannot be asked.
private struct EdwardsCurve {
    struct Linear {
        let slope: Int
        let constant: Int
    }

    /// The field's prime, little-endian.
    let prime: [UInt8]
    let numerator: Linear
    let denominator: Linear

    /// Returns whether the curve has a point with this y coordinate, little-endian. It has one if the quotient is a
    /// square, and so if the product of its two parts is one.
    func hasPoint(y: some Sequence<UInt8>) -> Bool {
        let y = Array(y)
        guard let context = BN_CTX_new() else { return false }
        defer {
            BN_CTX_free(context)
            ERR_clear_error()
        }
        BN_CTX_start(context)
        defer { BN_CTX_end(context) }
        guard let square = BN_CTX_get(context), let prime = BN_CTX_get(context), let over = BN_CTX_get(context),
            let under = BN_CTX_get(context), BN_lebin2bn(y, CInt(y.count), square) != nil,
            BN_lebin2bn(self.prime, CInt(self.prime.count), prime) != nil,
            BN_mod_sqr(square, square, prime, context) == 1,
            Self.set(over, to: numerator, of: square), Self.set(under, to: denominator, of: square),
            BN_mod_mul(over, over, under, prime, context) == 1
        else { return false }
        return (0...1).contains(BN_kronecker(over, prime, context))
    }

    private static func set(_ result: OpaquePointer, to function: Linear, of value: OpaquePointer) -> Bool {
        guard BN_copy(result, value) != nil, BN_mul_word(result, numericCast(function.slope.magnitude)) == 1
        else { return false }
        BN_set_negative(result, function.slope < 0 ? 1 : 0)
        let change = function.constant < 0 ? BN_sub_word : BN_add_word
        return change(result, numericCast(function.constant.magnitude)) == 1
    }
}
#endif
