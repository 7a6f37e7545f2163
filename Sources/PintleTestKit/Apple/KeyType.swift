/// A kind of key pair to generate: those that CryptoKit can sign with. Kinds that only Linux has, such as RSA, are not
/// declared here. To mint a certificate with such a public key, set ``CertificateTemplate/subjectPublicKeyInfo``.
public struct KeyType: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case p256, p384, p521, ed25519
    }

    package let kind: Kind

    /// ECDSA over P-256 (secp256r1). Every function of this module uses this kind by default.
    public static let p256 = KeyType(kind: .p256)
    /// ECDSA over P-384 (secp384r1).
    public static let p384 = KeyType(kind: .p384)
    /// ECDSA over P-521 (secp521r1).
    public static let p521 = KeyType(kind: .p521)
    /// Ed25519 (RFC 8410). The system's rules for TLS servers refuse such keys with the path failure `weak-key`, in a
    /// leaf and in an authority.
    public static let ed25519 = KeyType(kind: .ed25519)
}
