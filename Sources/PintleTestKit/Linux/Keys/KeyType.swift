internal import COpenSSL

/// The kind of key pair to generate.
public enum KeyType: Sendable, Hashable {
    /// RSA with a modulus of so many bits, 512 to 16,384. Beyond 4,096 bits this takes seconds to
    /// minutes: where only the public key matters, ``SubjectPublicKeyInfo/rsa(modulusBits:exponent:)``
    /// is at once.
    case rsa(bits: Int, exponent: Int = 65_537)
    /// RSA that may only be used with PSS padding: its SPKI says id-RSASSA-PSS (RFC 4055).
    case rsaPSS(bits: Int)
    /// ECDSA over this curve.
    case ellipticCurve(Curve)
    /// Ed25519 (RFC 8410).
    case ed25519
    /// Ed448 (RFC 8410).
    case ed448
    /// Key agreement only: such a key cannot sign, but a certificate may carry it.
    case x25519
    /// Key agreement only, as ``x25519``.
    case x448
    /// DSA, which no TLS client takes any more.
    case dsa(bits: Int)

    /// RSA of 2,048 bits.
    public static let rsa2048 = KeyType.rsa(bits: 2_048)
    /// ECDSA over P-256, the default everywhere.
    public static let p256 = KeyType.ellipticCurve(.p256)
    /// ECDSA over P-384.
    public static let p384 = KeyType.ellipticCurve(.p384)
    /// ECDSA over P-521.
    public static let p521 = KeyType.ellipticCurve(.p521)

    /// Named curves.
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// secp192r1: too weak for any policy.
        case p192 = "prime192v1"
        /// secp224r1.
        case p224 = "secp224r1"
        /// secp256r1.
        case p256 = "prime256v1"
        /// secp384r1.
        case p384 = "secp384r1"
        /// secp521r1.
        case p521 = "secp521r1"
        /// The curve of Bitcoin, which TLS does not have.
        case secp256k1
    }

    /// OpenSSL's name for the algorithm, and its key generation options in the order they are set.
    var generation: (algorithm: Int32, options: [(String, String)]) {
        switch self {
        case .rsa(let bits, let exponent):
            (EVP_PKEY_RSA, [("rsa_keygen_bits", "\(bits)"), ("rsa_keygen_pubexp", "\(exponent)")])
        case .rsaPSS(let bits): (EVP_PKEY_RSA_PSS, [("rsa_keygen_bits", "\(bits)")])
        case .ellipticCurve(let curve): (EVP_PKEY_EC, [("ec_paramgen_curve", curve.rawValue)])
        case .ed25519: (EVP_PKEY_ED25519, [])
        case .ed448: (EVP_PKEY_ED448, [])
        case .x25519: (EVP_PKEY_X25519, [])
        case .x448: (EVP_PKEY_X448, [])
        case .dsa(let bits): (EVP_PKEY_DSA, [("dsa_paramgen_bits", "\(bits)")])
        }
    }
}
