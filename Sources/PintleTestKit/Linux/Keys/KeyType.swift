internal import COpenSSL

/// A kind of key pair to generate.
public struct KeyType: Sendable, Hashable {
    /// The kinds that OpenSSL generates.
    package enum Kind: Sendable, Hashable {
        case rsa(bits: Int, exponent: Int)
        case rsaPSS(bits: Int)
        case ellipticCurve(Curve)
        case ed25519, ed448, x25519, x448
        case dsa(bits: Int)
        case mlDSA(MLDSA)
    }

    /// Named curves; the raw values are OpenSSL's names.
    package enum Curve: String, Sendable, Hashable, CaseIterable {
        case p192 = "prime192v1"
        case p224 = "secp224r1"
        case p256 = "prime256v1"
        case p384 = "secp384r1"
        case p521 = "secp521r1"
        case secp256k1
    }

    package let kind: Kind

    /// RSA with a modulus of 512 to 16,384 bits. Generating more than 4,096 bits takes seconds to minutes. If the test
    /// needs only the public key, use ``SubjectPublicKeyInfo/rsa(modulusBits:exponent:)``, which takes no time.
    ///
    /// - Parameters:
    ///   - bits: the length of the modulus.
    ///   - exponent: the public exponent.
    public static func rsa(bits: Int, exponent: Int = 65_537) -> KeyType {
        KeyType(kind: .rsa(bits: bits, exponent: exponent))
    }
    /// RSA that allows only PSS padding: its SPKI names id-RSASSA-PSS (RFC 4055 section 1.2).
    ///
    /// - Parameter bits: the length of the modulus.
    public static func rsaPSS(bits: Int) -> KeyType { KeyType(kind: .rsaPSS(bits: bits)) }
    /// DSA, which current TLS clients refuse.
    ///
    /// - Parameter bits: the length of the prime.
    public static func dsa(bits: Int) -> KeyType { KeyType(kind: .dsa(bits: bits)) }

    /// ML-DSA-44 (FIPS 204, RFC 9881). Needs OpenSSL 3.5, as the other two sizes do: see ``isAvailable``.
    public static let mlDSA44 = KeyType(kind: .mlDSA(.size44))
    /// ML-DSA-65 (FIPS 204, RFC 9881).
    public static let mlDSA65 = KeyType(kind: .mlDSA(.size65))
    /// ML-DSA-87 (FIPS 204, RFC 9881).
    public static let mlDSA87 = KeyType(kind: .mlDSA(.size87))

    /// A Boolean value that indicates whether the OpenSSL that the process has loaded can make keys of this kind.
    public var isAvailable: Bool {
        guard let context = makeContext() else {
            ERR_clear_error()
            return false
        }
        EVP_PKEY_CTX_free(context)
        return true
    }

    /// RSA of 2,048 bits.
    public static let rsa2048 = rsa(bits: 2_048)
    /// ECDSA over P-192 (secp192r1), which is too weak for every policy.
    public static let p192 = ellipticCurve(.p192)
    /// ECDSA over P-224 (secp224r1).
    public static let p224 = ellipticCurve(.p224)
    /// ECDSA over P-256 (secp256r1). Every function of this module uses this kind by default.
    public static let p256 = ellipticCurve(.p256)
    /// ECDSA over P-384 (secp384r1).
    public static let p384 = ellipticCurve(.p384)
    /// ECDSA over P-521 (secp521r1).
    public static let p521 = ellipticCurve(.p521)
    /// ECDSA over secp256k1, the curve of Bitcoin, which TLS does not define.
    public static let secp256k1 = ellipticCurve(.secp256k1)
    /// Ed25519 (RFC 8410).
    public static let ed25519 = KeyType(kind: .ed25519)
    /// Ed448 (RFC 8410).
    public static let ed448 = KeyType(kind: .ed448)
    /// X25519, for key agreement only: such a key cannot sign, but a certificate can carry it.
    public static let x25519 = KeyType(kind: .x25519)
    /// X448, for key agreement only, as ``x25519``.
    public static let x448 = KeyType(kind: .x448)

    package static func ellipticCurve(_ curve: Curve) -> KeyType { KeyType(kind: .ellipticCurve(curve)) }

    /// Returns an `EVP_PKEY_CTX *` that generates such keys; `nil` if OpenSSL does not know the algorithm.
    func makeContext() -> OpaquePointer? {
        switch kind {
        case .rsa: EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
        case .rsaPSS: EVP_PKEY_CTX_new_id(EVP_PKEY_RSA_PSS, nil)
        case .ellipticCurve: EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        case .ed25519: EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        case .ed448: EVP_PKEY_CTX_new_id(EVP_PKEY_ED448, nil)
        case .x25519: EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nil)
        case .x448: EVP_PKEY_CTX_new_id(EVP_PKEY_X448, nil)
        case .dsa: EVP_PKEY_CTX_new_id(EVP_PKEY_DSA, nil)
        // By name, because the number exists only in later headers.
        case .mlDSA(let size): EVP_PKEY_CTX_new_from_name(nil, size.rawValue, nil)
        }
    }

    /// The key generation options in the order in which they are set.
    var options: [(String, String)] {
        switch kind {
        case .rsa(let bits, let exponent): [("rsa_keygen_bits", "\(bits)"), ("rsa_keygen_pubexp", "\(exponent)")]
        case .rsaPSS(let bits): [("rsa_keygen_bits", "\(bits)")]
        case .ellipticCurve(let curve): [("ec_paramgen_curve", curve.rawValue)]
        case .dsa(let bits): [("dsa_paramgen_bits", "\(bits)")]
        case .ed25519, .ed448, .x25519, .x448, .mlDSA: []
        }
    }
}
