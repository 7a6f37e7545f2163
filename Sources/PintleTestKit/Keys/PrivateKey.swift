/// A key pair, held as PKCS#8, so that it is a plain value that threads may share.
///
/// OpenSSL makes and uses it on Linux, CryptoKit on Apple's systems. Keys are for tests: nothing is wiped from memory.
public struct PrivateKey: Sendable, Hashable {
    /// PrivateKeyInfo, DER (RFC 5208).
    public let pkcs8DER: [UInt8]
    /// SubjectPublicKeyInfo, DER (RFC 5280 section 4.1.2.7). A public-key pin is its hash.
    public let spkiDER: [UInt8]
    /// The algorithm that this key signs with where no other is named: SHA-256, or the digest of the curve's size;
    /// `nil` for a key that cannot sign.
    package let defaultSignatureAlgorithm: SignatureAlgorithm?

    init(pkcs8DER: [UInt8], spkiDER: [UInt8], defaultSignatureAlgorithm: SignatureAlgorithm?) {
        self.pkcs8DER = pkcs8DER
        self.spkiDER = spkiDER
        self.defaultSignatureAlgorithm = defaultSignatureAlgorithm
    }

    /// Generates a key pair. Nothing is cached: two calls give two keys.
    public init(_ type: KeyType = .p256) throws(MintingError) {
        self = try PrivateKey.generate(type)
    }

    /// Reads an unencrypted private key in PEM, as `openssl genpkey` writes it. On Apple's systems its kind has to be one of
    /// ``KeyType``.
    public init(pem: String) throws(MintingError) {
        self = try PrivateKey.read(pem)
    }

    /// The private key as `-----BEGIN PRIVATE KEY-----`.
    public var pem: String { PEM.encode(pkcs8DER, label: "PRIVATE KEY") }

    /// The public key as `-----BEGIN PUBLIC KEY-----`.
    public var publicPEM: String { PEM.encode(spkiDER, label: "PUBLIC KEY") }

    /// Signs `message`, which is hashed first where the algorithm says so. ECDSA signatures are DER (RFC 3279 section 2.2.3).
    package func sign(_ message: [UInt8], with chosen: SignatureAlgorithm? = nil) throws(MintingError) -> [UInt8] {
        guard let algorithm = chosen ?? defaultSignatureAlgorithm else {
            throw MintingError(operation: "signing", reason: "this kind of key cannot sign; use RSA, EC or Ed25519")
        }
        return try signature(of: message, with: algorithm)
    }
}
