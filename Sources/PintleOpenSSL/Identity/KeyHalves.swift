internal import COpenSSL
internal import Pintle

extension PrivateKeyReference {
    /// A Boolean value that indicates whether the private half of a key belongs to the public half. It covers RSA, EC
    /// and every OneAsymmetricKey. OpenSSL reads both halves of a file without comparing them.
    ///
    /// Keys that no server of an accepted path may have are not examined, so the work is bounded: RSA above
    /// OpenSSL's own limit, other curves than those of NIST, DSA, and DH.
    package var hasMatchingHalves: Bool {
        defer { ERR_clear_error() }
        if let statedHalf, EVP_PKEY_eq(pointer, statedHalf) != 1 { return false }
        switch EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return hasMatchingFactors
        case EVP_PKEY_EC: return !isOnNISTCurve || isPair
        // The public half of the others is computed from the private one.
        default: return true
        }
    }

    private var isOnNISTCurve: Bool {
        var (name, count) = ([CChar](repeating: 0, count: 64), 0)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else { return false }
        let text = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return ["prime256v1", "secp384r1", "secp521r1"].contains(text)
    }

    private var isPair: Bool {
        guard let context = EVP_PKEY_CTX_new(pointer, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_pairwise_check(context) == 1
    }

    /// A Boolean value that indicates whether the modulus of an RSA key is the product of its factors. The product of
    /// the exponents also has to be 1 modulo each factor less one (RFC 8017 section 3.2). OpenSSL's own check takes
    /// seconds to test whether large factors are primes.
    private var hasMatchingFactors: Bool {
        guard EVP_PKEY_get_bits(pointer) <= OPENSSL_RSA_MAX_MODULUS_BITS else { return true }
        guard let context = BN_CTX_secure_new() else { return false }
        defer { BN_CTX_free(context) }
        BN_CTX_start(context)
        defer { BN_CTX_end(context) }
        guard let product = BN_CTX_get(context), let remainder = BN_CTX_get(context), let power = BN_CTX_get(context),
            let modulus = number("n"), let exponent = number("e"), let own = number("d"),
            BN_set_word(product, 1) == 1, BN_mul(power, exponent.pointer, own.pointer, context) == 1,
            BN_sub_word(power, 1) == 1
        else { return false }
        for index in 1...10 {
            guard let factor = number("rsa-factor\(index)") else { break }
            guard BN_cmp(factor.pointer, BN_value_one()) > 0, BN_mul(product, product, factor.pointer, context) == 1,
                BN_sub_word(factor.pointer, 1) == 1,
                BN_div(nil, remainder, power, factor.pointer, context) == 1, BN_is_zero(remainder) == 1
            else { return false }
        }
        return BN_cmp(product, modulus.pointer) == 0
    }

    private func number(_ name: String) -> Number? {
        var pointer: OpaquePointer?
        guard EVP_PKEY_get_bn_param(self.pointer, name, &pointer) == 1 else { return nil }
        return pointer.map { Number(owning: $0) }
    }

    /// A `BIGNUM *`, which is overwritten when it is freed.
    private final class Number {
        let pointer: OpaquePointer

        init(owning pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit {
            BN_clear_free(pointer)
        }
    }
}

/// A private key with its public half beside it, which OpenSSL 3.0 does not read (RFC 5958 section 2).
///
///     OneAsymmetricKey ::= SEQUENCE {
///         version                   INTEGER { v1(0), v2(1) },
///         privateKeyAlgorithm       AlgorithmIdentifier,
///         privateKey                OCTET STRING,
///         attributes            [0] IMPLICIT SET OF Attribute OPTIONAL,
///         publicKey             [1] IMPLICIT BIT STRING OPTIONAL }
struct OneAsymmetricKey {
    /// The key; `nil` if OpenSSL cannot parse one of its halves.
    let key: PrivateKeyReference?

    /// Returns `nil` for bytes of another form, also for a key without the public half.
    init?(_ der: [UInt8]) {
        guard let parts = try? Self.parts(of: der) else { return nil }
        var first = Self.sequence([DERTag.integer, 0x01, 0x00] + der[parts.algorithm] + der[parts.privateKey])
        var second = Self.sequence(Array(der[parts.algorithm]) + [DERTag.bitString] + der[parts.publicKey].dropFirst())
        defer {
            OPENSSL_cleanse(&first, first.count)
            OPENSSL_cleanse(&second, second.count)
        }
        guard let own = Self.privateKey(first) else {
            key = nil
            return
        }
        let stated = second.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let stated else {
            EVP_PKEY_free(own)
            key = nil
            return
        }
        key = PrivateKeyReference(owning: own, statedHalf: stated)
    }

    private static func parts(
        of der: [UInt8]
    ) throws(DERError) -> (algorithm: Range<Int>, privateKey: Range<Int>, publicKey: Range<Int>) {
        var input = DERReader(0..<der.count)
        var fields = DERReader(contentsOf: try input.next(DERTag.sequence, in: der, reading: "privateKey"))
        try input.finish(reading: "privateKey")
        _ = try fields.next(DERTag.integer, in: der, reading: "version")
        let algorithm = try fields.next(DERTag.sequence, in: der, reading: "privateKeyAlgorithm")
        let privateKey = try fields.next(DERTag.octetString, in: der, reading: "privateKey")
        _ = try fields.nextIfPresent(DERTag.constructed(0), in: der, reading: "attributes")
        let publicKey = try fields.next(DERTag.primitive(1), in: der, reading: "publicKey")
        try fields.finish(reading: "privateKey")
        return (algorithm.range, privateKey.range, publicKey.range)
    }

    private static func privateKey(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, buffer.count) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(info) }
            return IdentityReader.key(info)?.retained
        }
    }

    private static func sequence(_ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(count)]
            case ..<0x100: [0x81, UInt8(count)]
            case ..<0x1_0000: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            default: [0x83, UInt8(truncatingIfNeeded: count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
            }
        return [DERTag.sequence] + length + content
    }
}

extension PrivateKeyReference {
    /// The key with a reference that the caller owns.
    fileprivate var retained: OpaquePointer {
        EVP_PKEY_up_ref(pointer)
        return pointer
    }
}
