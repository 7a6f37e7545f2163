internal import COpenSSL
internal import Pintle
internal import PintleOpenSSL

/// A reader of keys that are not a SubjectPublicKeyInfo; libcrypto parses them.
enum KeyFile {
    /// Returns the SubjectPublicKeyInfo, DER, of an unencrypted private key: PKCS#8 (RFC 5208), PKCS#1 (RFC 8017) or
    /// SEC1 (RFC 5915), DER, and whether its private half belongs to it. libcrypto wipes its copy when it frees the
    /// key; see also ``wipe(_:)``.
    static func publicHalf(
        of privateKey: [UInt8]
    ) throws(ToolError) -> (subjectPublicKeyInfo: [UInt8], isMatching: Bool) {
        guard let key = IdentityReader.plainKey(privateKey) else {
            throw .unusable(
                "malformed-key", "the private key cannot be read",
                hint: "give its public half: openssl pkey -in KEY -pubout | pintle pin -")
        }
        defer { withExtendedLifetime(key) {} }
        return (try subjectPublicKeyInfo(of: key.pointer), key.hasMatchingHalves)
    }

    /// Returns whether the key in a certificate request has signed it (RFC 2986 section 4.2); `nil` if this libcrypto
    /// does not know the kind of key.
    ///
    /// - Parameter request: the request, DER. Its key has to be of a kind and size that paths may have, because
    ///   libcrypto computes with any other key too.
    static func isSignedByOwnKey(_ request: [UInt8]) -> Bool? {
        defer { ERR_clear_error() }
        let parsed = request.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509_REQ(nil, &cursor, buffer.count)
        }
        guard let parsed else { return false }
        defer { X509_REQ_free(parsed) }
        return X509_REQ_get0_pubkey(parsed).map { X509_REQ_verify(parsed, $0) == 1 }
    }

    /// Returns the SubjectPublicKeyInfo, DER, of an `RSAPublicKey` (RFC 8017 appendix A.1.1), DER, which files with
    /// "RSA PUBLIC KEY" hold.
    static func subjectPublicKeyInfo(ofRSAPublicKey der: [UInt8]) throws(ToolError) -> [UInt8] {
        guard let key = rsaPublicKey(der) else {
            throw .unusable(
                "malformed-key", "the RSA public key cannot be read",
                hint: "export it again: openssl rsa -RSAPublicKey_in -in KEY -pubout")
        }
        defer { EVP_PKEY_free(key) }
        return try subjectPublicKeyInfo(of: key)
    }

    /// Returns whether DER without a label is an `RSAPublicKey`. Signatures and parameters are two integers as well,
    /// but the second one is not a small odd number.
    static func isRSAPublicKey(_ der: [UInt8]) -> Bool {
        guard let key = rsaPublicKey(der) else { return false }
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

    /// Overwrites secret bytes in place, if no other variable shares the array's memory.
    ///
    /// This only shortens a key's time in memory. Pieces that were copied while reading and decoding stay until their
    /// memory is used again.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }

    private static func subjectPublicKeyInfo(of key: OpaquePointer) throws(ToolError) -> [UInt8] {
        let count = i2d_PUBKEY(key, nil)
        guard count > 0 else {
            ERR_clear_error()
            throw .unusable(
                "malformed-key", "the key has no public half that could be pinned",
                hint: "give the certificate, or the public key: openssl pkey -in KEY -pubout")
        }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_PUBKEY(key, &cursor)))
        }
    }
}
