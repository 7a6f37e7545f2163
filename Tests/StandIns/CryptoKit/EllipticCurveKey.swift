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

    /// - Parameter number: The private key, big-endian, as long as a coordinate. OpenSSL computes the point of an
    ///   ECPrivateKey without one, and refuses a number outside of the group.
    convenience init?(number: [UInt8], on curve: String) {
        let identifier: [UInt8]
        switch (curve, number.count) {
        case ("prime256v1", 32): identifier = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case ("secp384r1", 48): identifier = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case ("secp521r1", 66): identifier = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        default: return nil
        }
        let fields =
            [0x02, 0x01, 0x01, 0x04, UInt8(number.count)] + number + [0xA0, UInt8(identifier.count)] + identifier
        self.init(der: [0x30, UInt8(fields.count)] + fields)
    }

    /// Returns whether a signature of a digest is valid.
    static func isValid(_ signature: [UInt8], of digest: [UInt8], spki: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        let key = spki.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let key else { return false }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_PKEY_CTX_new(key, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_verify_init(context) == 1
            && EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
    }

    /// Returns the SubjectPublicKeyInfo of a point; `nil` if it is not on the curve.
    static func spki(ofPoint point: [UInt8], on curve: String) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let key = generate(on: curve) else { return nil }
        return EVP_PKEY_set1_encoded_public_key(key.pointer, point, point.count) == 1 ? key.spki : nil
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
