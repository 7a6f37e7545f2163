internal import COpenSSL

/// A key pair in OpenSSL's form.
final class EllipticCurveKey {
    private let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    static func generate(on curve: String) -> EllipticCurveKey? {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_ctrl_str(context, "ec_paramgen_curve", curve) == 1,
            EVP_PKEY_keygen(context, &key) == 1
        else { return nil }
        return key.map { EllipticCurveKey(owning: $0) }
    }

    /// - Parameter der: The key as PKCS#8 or ECPrivateKey, without further bytes.
    convenience init?(der: [UInt8]) {
        let key = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let key = d2i_AutoPrivateKey(nil, &cursor, buffer.count) else { return nil }
            guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
        ERR_clear_error()
        guard let key else { return nil }
        self.init(owning: key)
    }

    /// Returns the SubjectPublicKeyInfo of a point; `nil` if it is not on the curve.
    static func spki(ofPoint point: [UInt8], on curve: String) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let key = EVP_EC_gen(curve) else { return nil }
        let owner = EllipticCurveKey(owning: key)
        return EVP_PKEY_set1_encoded_public_key(key, point, point.count) == 1 ? owner.spki : nil
    }

    /// OpenSSL's name of the curve; `nil` for a key that is not on a named curve.
    var curve: String? {
        var (name, count) = ([CChar](repeating: 0, count: 64), 0)
        defer { ERR_clear_error() }
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC,
            EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1
        else { return nil }
        return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var pkcs8: [UInt8] {
        guard let info = EVP_PKEY2PKCS8(pointer) else { return [] }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return Self.bytes { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }

    var spki: [UInt8] { Self.bytes { i2d_PUBKEY(pointer, $0) } }

    /// Signs a digest of any length: ECDSA uses as many of its bits as the curve has.
    func signature(of digest: [UInt8]) -> [UInt8]? {
        guard !digest.isEmpty, let context = EVP_PKEY_CTX_new(pointer, nil) else { return nil }
        defer {
            EVP_PKEY_CTX_free(context)
            ERR_clear_error()
        }
        var count = 0
        guard EVP_PKEY_sign_init(context) == 1,
            EVP_PKEY_sign(context, nil, &count, digest, digest.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1 else { return nil }
        return Array(signature.prefix(count))
    }

    private static func bytes(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> [UInt8] {
        let count = Int(encode(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var cursor = buffer.baseAddress
            written = max(0, Int(encode(&cursor)))
        }
    }
}
