internal import COpenSSL
internal import Pintle
internal import PintleCrypto

/// A reader of keys that are not a SubjectPublicKeyInfo; libcrypto parses them.
enum KeyFile {
    /// The reason why a key cannot be used.
    struct Failure: Error {
        let message: String
        let hint: String
    }

    /// Returns the SubjectPublicKeyInfo, DER, of an unencrypted private key: PKCS#8 (RFC 5208), PKCS#1 (RFC 8017) or SEC1
    /// (RFC 5915), DER. libcrypto wipes its copy when it frees the key; see also ``wipe(_:)``.
    static func publicHalf(of privateKey: [UInt8]) throws(Failure) -> [UInt8] {
        let key = privateKey.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, buffer.count)
        }
        guard let key else {
            ERR_clear_error()
            throw Failure(
                message: "the private key cannot be read",
                hint: "give its public half: openssl pkey -in KEY -pubout | pintle pin -")
        }
        return try subjectPublicKeyInfo(of: key)
    }

    /// Returns the SubjectPublicKeyInfo, DER, of an `RSAPublicKey` (RFC 8017 appendix A.1.1), DER, which files with "RSA
    /// PUBLIC KEY" hold.
    static func subjectPublicKeyInfo(ofRSAPublicKey der: [UInt8]) throws(Failure) -> [UInt8] {
        guard let key = rsaPublicKey(der) else {
            throw Failure(
                message: "the RSA public key cannot be read",
                hint: "export it again: openssl rsa -RSAPublicKey_in -in KEY -pubout")
        }
        return try subjectPublicKeyInfo(of: key)
    }

    /// Returns whether DER without a label is an `RSAPublicKey`. Signatures and parameters are two integers as well, but
    /// the second one is not a small odd number.
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

    private static func subjectPublicKeyInfo(of key: consuming OpaquePointer) throws(Failure) -> [UInt8] {
        defer { EVP_PKEY_free(key) }
        let count = i2d_PUBKEY(key, nil)
        guard count > 0 else {
            ERR_clear_error()
            throw Failure(
                message: "the key has no public half that could be pinned",
                hint: "give the certificate, or the public key: openssl pkey -in KEY -pubout")
        }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_PUBKEY(key, &cursor)))
        }
    }
}

/// Kinds of DER files that are not supported because their keys or certificates are wrapped, recognised by their first
/// bytes.
enum ForeignDER {
    case encryptedKey, pkcs12, pkcs7

    init?(_ bytes: [UInt8]) {
        guard let content = Self.content(ofSequence: bytes[...]) else { return nil }
        if content.starts(with: Self.pfxVersion) {
            self = .pkcs12
        } else if content.starts(with: Self.signedData) {
            self = .pkcs7
        } else if let algorithm = Self.content(ofSequence: content), algorithm.first == 0x06,
            Self.passwordBased.contains(where: algorithm.dropFirst(2).starts)
        {
            self = .encryptedKey
        } else {
            return nil
        }
    }

    var code: String {
        switch self {
        case .encryptedKey: "encrypted-key"
        case .pkcs12, .pkcs7: "unsupported-format"
        }
    }

    var message: String {
        switch self {
        case .encryptedKey: "the private key is encrypted"
        case .pkcs12: "PKCS#12, which is not read"
        case .pkcs7: "certificates wrapped in PKCS#7 are not read"
        }
    }

    var hint: String {
        switch self {
        case .encryptedKey: "take its public half: openssl pkey -in KEY -pubout | pintle pin -"
        case .pkcs12: "take its certificates: openssl pkcs12 -in FILE -nokeys | pintle pin -"
        case .pkcs7: "unwrap them: openssl pkcs7 -inform DER -in FILE -print_certs | pintle pin -"
        }
    }

    /// INTEGER 3 (RFC 7292 section 4).
    private static let pfxVersion: [UInt8] = [0x02, 0x01, 0x03]
    /// 1.2.840.113549.1.7.2 (RFC 2315 section 14).
    private static let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// The arcs of PKCS#5 and of PKCS#12's own algorithms: 1.2.840.113549.1.5 and 1.2.840.113549.1.12.1.
    private static let passwordBased: [[UInt8]] = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05], [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01],
    ]

    /// Returns the bytes behind the header of a SEQUENCE, without checking the length in the header.
    private static func content(ofSequence bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.first == 0x30, let length = bytes.dropFirst().first else { return nil }
        return bytes.dropFirst(length < 0x80 ? 2 : 2 + Int(length & 0x7F))
    }
}

/// A certificate request (PKCS#10, RFC 2986). Its signature is not checked.
///
///     CertificationRequest ::= SEQUENCE {
///         certificationRequestInfo  SEQUENCE {
///             version               INTEGER { v1(0) },
///             subject               Name,
///             subjectPKInfo         SubjectPublicKeyInfo,
///             attributes       [0]  IMPLICIT SET OF Attribute },
///         signatureAlgorithm        AlgorithmIdentifier,
///         signature                 BIT STRING }
struct CertificateRequest: Sendable, Hashable {
    let subject: DistinguishedName
    /// The DER of the SubjectPublicKeyInfo.
    let subjectPublicKeyInfo: [UInt8]
    let publicKey: PublicKeyDescription

    /// - Parameter der: the whole request.
    init(der: [UInt8]) throws(DERError) {
        guard der.count <= Certificate.maximumSize else { throw DERError(.tooLarge, at: 0, reading: "request") }
        let bytes = der.elementSpan
        var input = DERReader(0..<bytes.count)
        let whole = try input.next(DERTag.sequence, in: bytes, reading: "request")
        try input.finish(reading: "request")
        var outer = DERReader(contentsOf: whole)
        var info = DERReader(
            contentsOf: try outer.next(DERTag.sequence, in: bytes, reading: "certificationRequestInfo"))
        _ = try outer.next(DERTag.sequence, in: bytes, reading: "signatureAlgorithm")
        _ = try outer.next(DERTag.bitString, in: bytes, reading: "signature")
        try outer.finish(reading: "request")

        _ = try info.next(DERTag.integer, in: bytes, reading: "version")
        let name = try info.next(DERTag.sequence, in: bytes, reading: "subject")
        try DistinguishedName.check(name, in: bytes)
        let key = try info.next(DERTag.sequence, in: bytes, reading: "subjectPKInfo")
        // Some tools omit the empty set of attributes, against the standard.
        _ = try info.nextIfPresent(DERTag.constructed(0), in: bytes, reading: "attributes")
        try info.finish(reading: "certificationRequestInfo")
        subject = DistinguishedName(name, in: bytes)
        publicKey = try PublicKeyDescription(key, in: bytes)
        subjectPublicKeyInfo = Array(der[key.range])
    }

    var publicKeyPin: PublicKeyPin { PublicKeyPin(digest: SHA256Digest(hashing: subjectPublicKeyInfo)) }
}
