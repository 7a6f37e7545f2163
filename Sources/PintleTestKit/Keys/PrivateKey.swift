internal import COpenSSL

/// A key pair, held as PKCS#8, so that it is a plain value that threads may share.
///
/// Keys are for tests: nothing is wiped from memory.
public struct PrivateKey: Sendable, Hashable {
    /// PrivateKeyInfo, DER (RFC 5208).
    public let pkcs8DER: [UInt8]
    /// SubjectPublicKeyInfo, DER (RFC 5280 section 4.1.2.7): what a public-key pin hashes.
    public let spkiDER: [UInt8]
    let algorithm: Int32
    let bits: Int

    /// Generates a key pair. Nothing is cached: two calls give two keys.
    public init(_ type: KeyType = .p256) throws(MintingError) {
        let key = try PrivateKey.generate(type)
        defer { EVP_PKEY_free(key) }
        try self.init(copying: key)
    }

    /// Reads an unencrypted private key in PEM, as `openssl genpkey` writes it.
    public init(pem: String) throws(MintingError) {
        let text = Array(pem.utf8)
        let key = text.withUnsafeBytes { buffer -> OpaquePointer? in
            // The BIO does not copy: it lives and dies inside this closure.
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_PrivateKey(bio, nil, nil, nil)
        }
        guard let key else { throw .openSSL("reading a private key from PEM") }
        defer { EVP_PKEY_free(key) }
        try self.init(copying: key)
    }

    private init(copying key: OpaquePointer) throws(MintingError) {
        guard let info = EVP_PKEY2PKCS8(key) else { throw .openSSL("encoding a private key") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        pkcs8DER = try derBytes("encoding a private key") { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
        spkiDER = try derBytes("encoding a public key") { i2d_PUBKEY(key, $0) }
        algorithm = EVP_PKEY_get_base_id(key)
        bits = Int(EVP_PKEY_get_bits(key))
    }

    /// The private key as `-----BEGIN PRIVATE KEY-----`.
    public var pem: String { PEM.encode(pkcs8DER, label: "PRIVATE KEY") }

    /// The public key as `-----BEGIN PUBLIC KEY-----`.
    public var publicPEM: String { PEM.encode(spkiDER, label: "PUBLIC KEY") }

    /// Runs `body` with this key in OpenSSL's form, which lives as long as the call.
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

    private static func generate(_ type: KeyType) throws(MintingError) -> OpaquePointer {
        let operation = "generating a key of type \(type)"
        let (algorithm, options) = type.generation
        guard let context = EVP_PKEY_CTX_new_id(algorithm, nil) else { throw .openSSL(operation) }
        defer { EVP_PKEY_CTX_free(context) }
        guard case .dsa = type else { return try generate(operation, context, options) }

        // DSA alone wants its parameters made first.
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
}

/// The bytes that one of OpenSSL's `i2d_` functions gives, which is called twice: for the size, then
/// for the bytes.
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
