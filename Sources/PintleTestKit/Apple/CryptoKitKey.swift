internal import CryptoKit

/// A key pair in CryptoKit's form.
enum CryptoKitKey {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)

    /// Generates a key pair.
    init(_ type: KeyType) {
        switch type {
        case .ellipticCurve(.p256): self = .p256(P256.Signing.PrivateKey())
        case .ellipticCurve(.p384): self = .p384(P384.Signing.PrivateKey())
        case .ellipticCurve(.p521): self = .p521(P521.Signing.PrivateKey())
        case .ed25519: self = .ed25519(Curve25519.Signing.PrivateKey())
        }
    }

    /// Reads PrivateKeyInfo; for the three curves also ECPrivateKey (RFC 5915). `nil` for a key of another kind.
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

    /// Returns `nil` where this kind of key has no such signatures.
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
