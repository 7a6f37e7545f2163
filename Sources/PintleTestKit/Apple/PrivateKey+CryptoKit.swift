internal import Pintle

/// Keys of CryptoKit's. Linux has the same three functions over OpenSSL: `generate`, `read` and `signature`.
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

    /// Returns the content of the first block that is a private key; `nil` where there is none, or a block cannot be read.
    private static func decode(_ pem: String) -> [UInt8]? {
        let blocks = try? PEMReader.blocks(in: Array(pem.utf8))
        return blocks?.first { ["PRIVATE KEY", "EC PRIVATE KEY"].contains($0.label) }?.bytes
    }
}
