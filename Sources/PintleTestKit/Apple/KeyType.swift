/// The kind of key pair to generate: those of CryptoKit's that sign. Kinds that only Linux has, such as RSA, are not declared
/// here. A certificate that carries such a public key can be minted all the same, with
/// ``CertificateTemplate/subjectPublicKeyInfo``.
public enum KeyType: Sendable, Hashable {
    /// ECDSA over this curve.
    case ellipticCurve(Curve)
    /// The system's rules for TLS servers refuse such keys, in a leaf and in an authority, with the path failure `weak-key`.
    case ed25519

    /// ECDSA over P-256, the default everywhere.
    public static let p256 = KeyType.ellipticCurve(.p256)
    /// ECDSA over P-384.
    public static let p384 = KeyType.ellipticCurve(.p384)
    /// ECDSA over P-521.
    public static let p521 = KeyType.ellipticCurve(.p521)

    /// Named curves.
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// secp256r1.
        case p256 = "prime256v1"
        /// secp384r1.
        case p384 = "secp384r1"
        /// secp521r1.
        case p521 = "secp521r1"
    }
}
