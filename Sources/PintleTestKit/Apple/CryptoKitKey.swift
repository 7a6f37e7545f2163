internal import CryptoKit
internal import Pintle

/// A key pair in CryptoKit's form.
enum CryptoKitKey {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)

    /// Generates a key pair.
    init(_ type: KeyType) {
        switch type.kind {
        case .p256: self = .p256(P256.Signing.PrivateKey())
        case .p384: self = .p384(P384.Signing.PrivateKey())
        case .p521: self = .p521(P521.Signing.PrivateKey())
        case .ed25519: self = .ed25519(Curve25519.Signing.PrivateKey())
        }
    }

    /// Reads PrivateKeyInfo, and ECPrivateKey (RFC 5915) for the three curves. Returns `nil` for a key of another kind.
    init?(der: [UInt8]) {
        if let key = try? P256.Signing.PrivateKey(derRepresentation: der) {
            self = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(derRepresentation: der) {
            self = .p384(key)
        } else if let key = try? P521.Signing.PrivateKey(derRepresentation: der) {
            self = .p521(key)
        } else if der.starts(with: Self.ed25519Prefix),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: Array(der[Self.ed25519Prefix.count...]))
        {
            self = .ed25519(key)
        } else {
            return nil
        }
    }

    /// PrivateKeyInfo of an Ed25519 key up to its seed (RFC 8410 section 7), which CryptoKit neither reads nor writes.
    private static let ed25519Prefix = Array(encode(seed: [UInt8](repeating: 0, count: 32)).dropLast(32))

    private static func encode(seed: [UInt8]) -> [UInt8] {
        DERWriter.encode { der in
            der.sequence { der in
                der.integer(0)
                der.sequence { $0.oid(ed25519OID) }
                der.octetString { $0.octetString(seed) }
            }
        }
    }

    private static let ed25519OID: DERWriter.OID = [1, 3, 101, 112]

    /// PrivateKeyInfo, DER (RFC 5208).
    var pkcs8DER: [UInt8] {
        switch self {
        case .p256(let key): Array(key.derRepresentation)
        case .p384(let key): Array(key.derRepresentation)
        case .p521(let key): Array(key.derRepresentation)
        case .ed25519(let key): Self.encode(seed: Array(key.rawRepresentation))
        }
    }

    /// SubjectPublicKeyInfo, DER (RFC 5280 section 4.1.2.7).
    var spkiDER: [UInt8] {
        switch self {
        case .p256(let key): Array(key.publicKey.derRepresentation)
        case .p384(let key): Array(key.publicKey.derRepresentation)
        case .p521(let key): Array(key.publicKey.derRepresentation)
        case .ed25519(let key):
            SubjectPublicKeyInfo.encode(
                algorithm: Self.ed25519OID, key: Array(key.publicKey.rawRepresentation))
        }
    }

    var defaultSignatureAlgorithm: SignatureAlgorithm {
        switch self {
        case .p256: .ecdsa(.sha256)
        case .p384: .ecdsa(.sha384)
        case .p521: .ecdsa(.sha512)
        case .ed25519: .ed25519
        }
    }

    /// Returns `nil` if this kind of key does not make such signatures.
    func signature(of message: [UInt8], with algorithm: SignatureAlgorithm) throws -> [UInt8]? {
        switch algorithm {
        case .ecdsa(.md5): try ecdsa(Insecure.MD5.hash(data: message))
        case .ecdsa(.sha1): try ecdsa(Insecure.SHA1.hash(data: message))
        case .ecdsa(.sha256): try ecdsa(SHA256.hash(data: message))
        case .ecdsa(.sha384): try ecdsa(SHA384.hash(data: message))
        case .ecdsa(.sha512): try ecdsa(SHA512.hash(data: message))
        case .ed25519:
            if case .ed25519(let key) = self { Array(try key.signature(for: message)) } else { nil }
        default: nil
        }
    }

    private func ecdsa(_ digest: some CryptoKit.Digest) throws -> [UInt8]? {
        switch self {
        case .p256(let key): Array(try key.signature(for: digest).derRepresentation)
        case .p384(let key): Array(try key.signature(for: digest).derRepresentation)
        case .p521(let key): Array(try key.signature(for: digest).derRepresentation)
        case .ed25519: nil
        }
    }
}

/// Keys of CryptoKit. Linux has the same three functions over OpenSSL: `generate`, `read` and `signature`.
extension PrivateKey {
    static func generate(_ type: KeyType) throws(MintingError) -> PrivateKey {
        PrivateKey(CryptoKitKey(type))
    }

    static func read(_ pem: String) throws(MintingError) -> PrivateKey {
        guard let der = decode(pem), let key = CryptoKitKey(der: der) else {
            throw MintingError(
                operation: "reading a private key from PEM",
                reason: "CryptoKit reads unencrypted P-256, P-384, P-521 and Ed25519 keys only")
        }
        return PrivateKey(key)
    }

    func signature(of message: [UInt8], with algorithm: SignatureAlgorithm) throws(MintingError) -> [UInt8] {
        let operation = "signing with \(algorithm)"
        guard let key = CryptoKitKey(der: pkcs8DER) else {
            throw MintingError(operation: operation, reason: "CryptoKit cannot read the key")
        }
        let signature: [UInt8]?
        do {
            signature = try key.signature(of: message, with: algorithm)
        } catch {
            throw MintingError(operation: operation, reason: "\(error)")
        }
        guard let signature else {
            throw MintingError(
                operation: operation, reason: "this kind of key signs with \(key.defaultSignatureAlgorithm)")
        }
        return signature
    }

    private init(_ key: CryptoKitKey) {
        self.init(
            pkcs8DER: key.pkcs8DER, spkiDER: key.spkiDER, defaultSignatureAlgorithm: key.defaultSignatureAlgorithm)
    }

    /// Returns the content of the first block that is a private key; `nil` if there is none, or if a block cannot be
    /// read.
    private static func decode(_ pem: String) -> [UInt8]? {
        let blocks = try? PEMReader.blocks(in: Array(pem.utf8))
        return blocks?.first { ["PRIVATE KEY", "EC PRIVATE KEY"].contains($0.label) }?.bytes
    }
}
