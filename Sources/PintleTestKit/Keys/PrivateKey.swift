/// A key pair. It holds its PKCS#8 encoding, so it is a plain value that threads can share.
///
/// OpenSSL generates and uses it on Linux, CryptoKit on Apple's systems. Keys are for tests: they are not wiped from
/// memory.
public struct PrivateKey: Sendable, Hashable {
    /// PrivateKeyInfo, DER (RFC 5208).
    public let pkcs8DER: [UInt8]
    /// SubjectPublicKeyInfo, DER (RFC 5280 section 4.1.2.7). A public-key pin is its hash.
    public let spkiDER: [UInt8]
    /// The algorithm that this key signs with by default: SHA-256, or the digest of the curve's size;
    /// `nil` for a key that cannot sign.
    package let defaultSignatureAlgorithm: SignatureAlgorithm?

    init(pkcs8DER: [UInt8], spkiDER: [UInt8], defaultSignatureAlgorithm: SignatureAlgorithm?) {
        self.pkcs8DER = pkcs8DER
        self.spkiDER = spkiDER
        self.defaultSignatureAlgorithm = defaultSignatureAlgorithm
    }

    /// Generates a key pair. Keys are not cached: two calls give two keys.
    ///
    /// - Parameter type: the kind of key.
    public init(_ type: KeyType = .p256) throws(MintingError) {
        self = try PrivateKey.generate(type)
    }

    /// Reads an unencrypted private key in PEM, as `openssl genpkey` writes it. On Apple's systems the key must be of
    /// one of the kinds of ``KeyType``.
    ///
    /// - Parameter pem: the text with the key.
    public init(pem: String) throws(MintingError) {
        self = try PrivateKey.read(pem)
    }

    /// The private key as `-----BEGIN PRIVATE KEY-----`.
    public var pem: String { PEM.encode(pkcs8DER, label: "PRIVATE KEY") }

    /// The public key as `-----BEGIN PUBLIC KEY-----`.
    public var publicPEM: String { PEM.encode(spkiDER, label: "PUBLIC KEY") }

    /// Signs `message`, and hashes it first if the algorithm demands it. ECDSA signatures are DER (RFC 3279 section
    /// 2.2.3).
    package func sign(_ message: [UInt8], with chosen: SignatureAlgorithm? = nil) throws(MintingError) -> [UInt8] {
        guard let algorithm = chosen ?? defaultSignatureAlgorithm else {
            throw MintingError(operation: "signing", reason: "this kind of key cannot sign; use RSA, EC or Ed25519")
        }
        return try signature(of: message, with: algorithm)
    }
}

/// An error for a key or certificate that OpenSSL or CryptoKit cannot make, such as an RSA key of 100 bits or a
/// signature by a key that cannot sign.
public struct MintingError: Error, Sendable, CustomStringConvertible {
    /// The step that failed.
    public let operation: String
    /// The text of OpenSSL or CryptoKit, or a remedy.
    public let reason: String

    package init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    /// The step that failed and why.
    public var description: String { "\(operation): \(reason)" }
}
