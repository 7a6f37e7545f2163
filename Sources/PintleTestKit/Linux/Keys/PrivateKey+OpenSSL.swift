internal import COpenSSL

/// Keys of OpenSSL. Apple's side has the same three functions over CryptoKit: `generate`, `read` and `signature`.
extension PrivateKey {
    static func generate(_ type: KeyType) throws(MintingError) -> PrivateKey {
        let key = try make(type)
        defer { EVP_PKEY_free(key) }
        return try PrivateKey(copying: key)
    }

    static func read(_ pem: String) throws(MintingError) -> PrivateKey {
        let text = Array(pem.utf8)
        let key = text.withUnsafeBytes { buffer -> OpaquePointer? in
            // The BIO does not copy: it lives and dies inside this closure.
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_PrivateKey(bio, nil, nil, nil)
        }
        guard let key else { throw .openSSL("reading a private key from PEM") }
        defer { EVP_PKEY_free(key) }
        return try PrivateKey(copying: key)
    }

    func signature(of message: [UInt8], with algorithm: SignatureAlgorithm) throws(MintingError) -> [UInt8] {
        try withEVPKey { key throws(MintingError) in
            try PrivateKey.sign(message, with: algorithm, key: key)
        }
    }

    private init(copying key: OpaquePointer) throws(MintingError) {
        guard let info = EVP_PKEY2PKCS8(key) else { throw .openSSL("encoding a private key") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        self.init(
            pkcs8DER: try derBytes("encoding a private key") { i2d_PKCS8_PRIV_KEY_INFO(info, $0) },
            spkiDER: try derBytes("encoding a public key") { i2d_PUBKEY(key, $0) },
            defaultSignatureAlgorithm: PrivateKey.defaultAlgorithm(of: key))
    }

    private static func defaultAlgorithm(of key: OpaquePointer) -> SignatureAlgorithm? {
        let bits = EVP_PKEY_get_bits(key)
        return switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: .rsaPKCS1(.sha256)
        case EVP_PKEY_RSA_PSS: .rsaPSS(.sha256)
        case EVP_PKEY_EC: .ecdsa(bits > 384 ? .sha512 : bits > 256 ? .sha384 : .sha256)
        case EVP_PKEY_ED25519: .ed25519
        case EVP_PKEY_ED448: .ed448
        case EVP_PKEY_DSA: .dsa(.sha256)
        // OpenSSL gives keys of later algorithms no number.
        default: MLDSA.allCases.first { EVP_PKEY_is_a(key, $0.rawValue) == 1 }.map { .mlDSA($0) }
        }
    }

    /// Runs `body` with this key in OpenSSL's form, which is freed when `body` returns.
    func withEVPKey<Result>(
        _ body: (OpaquePointer) throws(MintingError) -> Result
    ) throws(MintingError) -> Result {
        let key = pkcs8DER.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, buffer.count)
        }
        guard let key else { throw .openSSL("decoding a private key") }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }

    private static func make(_ type: KeyType) throws(MintingError) -> OpaquePointer {
        let operation = "generating a key of type \(type.kind)"
        let options = type.options
        guard let context = type.makeContext() else {
            guard case .mlDSA(let size) = type.kind else { throw .openSSL(operation) }
            ERR_clear_error()
            throw MintingError(
                operation: operation,
                reason: "\(size.rawValue) is unavailable: it needs OpenSSL 3.5, and here is "
                    + String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)))
        }
        defer { EVP_PKEY_CTX_free(context) }
        guard case .dsa = type.kind else { return try generate(operation, context, options) }

        // Only DSA needs its parameters generated first.
        guard EVP_PKEY_paramgen_init(context) == 1 else { throw .openSSL(operation) }
        try set(options, on: context, operation)
        var parameters: OpaquePointer?
        guard EVP_PKEY_paramgen(context, &parameters) == 1, let parameters else { throw .openSSL(operation) }
        defer { EVP_PKEY_free(parameters) }
        guard let keyContext = EVP_PKEY_CTX_new(parameters, nil) else { throw .openSSL(operation) }
        defer { EVP_PKEY_CTX_free(keyContext) }
        return try generate(operation, keyContext, [])
    }

    private static func generate(
        _ operation: String, _ context: OpaquePointer, _ options: [(String, String)]
    ) throws(MintingError) -> OpaquePointer {
        guard EVP_PKEY_keygen_init(context) == 1 else { throw .openSSL(operation) }
        try set(options, on: context, operation)
        var key: OpaquePointer?
        guard EVP_PKEY_keygen(context, &key) == 1, let key else { throw .openSSL(operation) }
        return key
    }

    private static func set(
        _ options: [(String, String)], on context: OpaquePointer, _ operation: String
    ) throws(MintingError) {
        for (name, value) in options where EVP_PKEY_CTX_ctrl_str(context, name, value) <= 0 {
            throw .openSSL("\(operation), \(name)=\(value)")
        }
    }

    private static func sign(
        _ message: [UInt8], with algorithm: SignatureAlgorithm, key: OpaquePointer
    ) throws(MintingError) -> [UInt8] {
        let operation = "signing with \(algorithm)"
        guard let context = EVP_MD_CTX_new() else { throw .openSSL(operation) }
        defer { EVP_MD_CTX_free(context) }
        let digest = algorithm.digest.flatMap { EVP_get_digestbyname($0.rawValue) }
        // Owned by the digest context.
        var keyContext: OpaquePointer?
        guard EVP_DigestSignInit(context, &keyContext, digest, nil, key) == 1 else { throw .openSSL(operation) }
        if case .rsaPSS(let digest) = algorithm {
            guard EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) > 0,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, Int32(digest.byteCount)) > 0
            else { throw .openSSL(operation) }
        }
        var count = 0
        guard EVP_DigestSign(context, nil, &count, message, message.count) == 1 else { throw .openSSL(operation) }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
            throw .openSSL(operation)
        }
        return Array(signature.prefix(count))
    }
}

/// Returns the bytes of one of OpenSSL's `i2d_` functions. Calls it twice: for the size, then for the bytes.
func derBytes(
    _ operation: String, _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) throws(MintingError) -> [UInt8] {
    let count = encode(nil)
    guard count > 0 else { throw .openSSL(operation) }
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
        var cursor = buffer.baseAddress
        written = max(0, Int(encode(&cursor)))
    }
    return bytes
}

extension MintingError {
    /// Returns the error for an OpenSSL call that has just failed on this thread, and empties the thread's error queue.
    static func openSSL(_ operation: String) -> MintingError {
        MintingError(operation: operation, reason: openSSLReason())
    }
}

/// Returns the first error in this thread's OpenSSL queue as text, and empties the queue.
func openSSLReason() -> String {
    let code = ERR_get_error()
    defer { ERR_clear_error() }
    guard code != 0, let text = ERR_reason_error_string(code) else { return "OpenSSL gave no reason" }
    return String(cString: text)
}
