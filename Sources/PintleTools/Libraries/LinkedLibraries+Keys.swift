internal import COpenSSL
package import Pintle
package import PintleConsole
internal import PintleCrypto
internal import PintleOpenSSL
internal import PintlePolicyTools

/// Keys that are not a SubjectPublicKeyInfo; libcrypto parses them.
extension LinkedLibraries {
    // libcrypto wipes its copy of a key when it frees it; see also SecretBytes.
    package func publicHalf(
        of privateKey: [UInt8]
    ) throws(ToolError) -> (subjectPublicKeyInfo: [UInt8], isMatching: Bool) {
        guard let key = IdentityReader.plainKey(privateKey) else { throw .unreadablePrivateKey }
        defer { withExtendedLifetime(key) {} }
        return (try Self.subjectPublicKeyInfo(of: key.pointer), key.hasMatchingHalves)
    }

    package func isSigned(_ request: [UInt8], by key: PublicKeyDescription) -> Bool? {
        guard PathValidator.isVerifiable(by: key) else { return nil }
        defer { ERR_clear_error() }
        let parsed = request.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509_REQ(nil, &cursor, buffer.count)
        }
        guard let parsed else { return false }
        defer { X509_REQ_free(parsed) }
        return X509_REQ_get0_pubkey(parsed).map { X509_REQ_verify(parsed, $0) == 1 }
    }

    package func subjectPublicKeyInfo(ofRSAPublicKey der: [UInt8]) throws(ToolError) -> [UInt8] {
        guard let key = Self.rsaPublicKey(der) else { throw .unreadableRSAKey }
        defer { EVP_PKEY_free(key) }
        return try Self.subjectPublicKeyInfo(of: key)
    }

    /// Signatures and parameters are two integers as well, but the second one is not a small odd number.
    package func isRSAPublicKey(_ der: [UInt8]) -> Bool {
        guard let key = Self.rsaPublicKey(der) else { return false }
        defer { EVP_PKEY_free(key) }
        var exponent: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, "e", &exponent) == 1, let exponent else { return false }
        defer { BN_free(exponent) }
        return BN_is_odd(exponent) == 1 && (2...64).contains(BN_num_bits(exponent))
    }

    private static func rsaPublicKey(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let key = d2i_PublicKey(EVP_PKEY_RSA, nil, &cursor, buffer.count)
            guard let key, cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                EVP_PKEY_free(key)
                ERR_clear_error()
                return nil
            }
            return key
        }
    }

    private static func subjectPublicKeyInfo(of key: OpaquePointer) throws(ToolError) -> [UInt8] {
        let count = i2d_PUBKEY(key, nil)
        guard count > 0 else {
            ERR_clear_error()
            throw .unusable(
                "malformed-key", "the key has no public half that could be pinned",
                hint: "give the certificate, or the public key: openssl pkey -in FILE -pubout")
        }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_PUBKEY(key, &cursor)))
        }
    }
}

// MARK: Keys that sign updates

extension LinkedLibraries {
    package func signingSeed(of der: [UInt8], passphrase: [UInt8]?, in file: String) throws(ToolError) -> [UInt8] {
        let key = try Self.privateKey(der, passphrase, in: file)
        defer { withExtendedLifetime(key) {} }
        guard key.hasMatchingHalves else { throw SigningKey.foreignHalf(in: file) }
        guard let seed = Self.seed(of: key.pointer) else { throw SigningKey.otherKind(in: file) }
        return seed
    }

    private static func privateKey(
        _ der: [UInt8], _ passphrase: [UInt8]?, in file: String
    ) throws(ToolError) -> PrivateKeyReference {
        guard let passphrase else {
            guard let key = IdentityReader.plainKey(der) else { throw SigningKey.unreadable(in: file) }
            return key
        }
        do {
            return try IdentityReader.decrypted(der, passphrase)
        } catch {
            if error.code == .tooManyIterations { throw SigningKey.unusable(error.message, in: file, hint: error.hint) }
            throw SigningKey.wrongPassphrase(in: file)
        }
    }

    private static func seed(of key: OpaquePointer) -> [UInt8]? {
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else { return nil }
        var seed = [UInt8](repeating: 0, count: Ed25519.keySize)
        var count = seed.count
        guard EVP_PKEY_get_raw_private_key(key, &seed, &count) == 1, count == seed.count else {
            ERR_clear_error()
            return nil
        }
        return seed
    }
}
