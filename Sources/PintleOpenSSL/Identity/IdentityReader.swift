internal import COpenSSL
internal import Pintle

/// A reader of certificates and private keys, in PEM or DER.
package enum IdentityReader {
    /// The most bytes of an input.
    static let sizeLimit = 1 << 20
    /// The most certificates of an input.
    static let certificateLimit = 100
    /// The most iterations of all derivations from a password together. That is some seconds of work; OpenSSL uses
    /// 2,048 by default, and OWASP asks for 600,000 (PBKDF2 with SHA-256).
    static let iterationLimit = 5_000_000

    /// Copies an input within the limit.
    static func bytes(_ input: some Sequence<UInt8>) throws(ClientIdentityError) -> [UInt8] {
        var bytes: [UInt8] = []
        // Reserved, so that no copy of a key is left behind when the array grows.
        let count = input.underestimatedCount
        bytes.reserveCapacity((count == 0 ? sizeLimit : min(count, sizeLimit)) + 1)
        for byte in input.prefix(sizeLimit + 1) { bytes.append(byte) }
        guard bytes.count <= sizeLimit else {
            OPENSSL_cleanse(&bytes, bytes.count)
            throw ClientIdentityError(
                .tooLarge, "an identity with more than \(sizeLimit >> 20) MiB is not read",
                hint: "give only the client's certificate, those of its issuers, and the key")
        }
        return bytes
    }

    // MARK: Certificates

    static func certificates(in bytes: [UInt8]) throws(ClientIdentityError) -> [X509Reference] {
        guard PEMReader.looksLikePEM(bytes) else {
            guard !bytes.isEmpty else { throw noCertificate }
            return [try certificate(bytes, "the certificate")]
        }
        var reader = PEMReader(bytes)
        var certificates: [X509Reference] = []
        while let block = try nextBlock(&reader) {
            guard block.isCertificate else { continue }
            guard certificates.count < certificateLimit else {
                throw ClientIdentityError(.tooLarge, "more than \(certificateLimit) certificates are not read")
            }
            certificates.append(try certificate(block.bytes, "line \(block.line): the certificate"))
        }
        guard !certificates.isEmpty else { throw noCertificate }
        return certificates
    }

    /// Returns the next block that is not a private key; `nil` at the end.
    private static func nextBlock(_ reader: inout PEMReader) throws(ClientIdentityError) -> PEMBlock? {
        while true {
            do throws(PEMError) {
                guard var block = try reader.next() else { return nil }
                guard block.label.hasSuffix("PRIVATE KEY") else { return block }
                OPENSSL_cleanse(&block.bytes, block.bytes.count)
            } catch {
                if error.reason == .encryptedLegacyKey { continue }
                throw ClientIdentityError(
                    .unreadableCertificate, "line \(error.line): \(error.message)", hint: error.hint)
            }
        }
    }

    static let noCertificate = ClientIdentityError(
        .noCertificate, "there is no certificate", hint: "give the client's certificate in PEM or DER")

    static func certificate(_ der: [UInt8], _ name: String) throws(ClientIdentityError) -> X509Reference {
        guard let certificate = X509Reference(der: der) else {
            throw ClientIdentityError(
                .unreadableCertificate, "\(name) cannot be read",
                hint: "look at it: openssl x509 -in FILE -noout -text")
        }
        return certificate
    }

    // MARK: Keys

    static func key(
        in bytes: [UInt8], _ password: () -> String?
    ) throws(ClientIdentityError) -> PrivateKeyReference {
        guard PEMReader.looksLikePEM(bytes) else {
            guard !bytes.isEmpty else { throw noKey }
            return try key(der: bytes, password)
        }
        var reader = PEMReader(bytes)
        while true {
            var block: PEMBlock
            do throws(PEMError) {
                // Not kept in another variable, so that the bytes are overwritten in place.
                guard let next = try reader.next() else { break }
                block = consume next
            } catch {
                if error.reason == .encryptedLegacyKey { return try legacyKey(in: bytes, at: error.line, password) }
                throw ClientIdentityError(.unreadableKey, "line \(error.line): \(error.message)", hint: error.hint)
            }
            guard block.label.hasSuffix("PRIVATE KEY") else { continue }
            defer { OPENSSL_cleanse(&block.bytes, block.bytes.count) }
            return try key(der: block.bytes, password)
        }
        throw noKey
    }

    private static let noKey = ClientIdentityError(
        .noKey, "there is no private key", hint: "give the key of the client's certificate in PEM or DER")
    static let unreadableKey = ClientIdentityError(
        .unreadableKey, "the private key cannot be read",
        hint: "look at it: openssl pkey -in FILE -noout; it is PKCS#8, PKCS#1 or SEC1")
    static let passwordRequired = ClientIdentityError(
        .passwordRequired, "the private key is encrypted, and there is no password", hint: "give the password")
    static let wrongPassword = ClientIdentityError(.wrongPassword, "the password does not open the private key")

    private static func key(
        der: [UInt8], _ password: () -> String?
    ) throws(ClientIdentityError) -> PrivateKeyReference {
        defer { ERR_clear_error() }
        if let encrypted = try affordableKey(der) {
            defer { X509_SIG_free(encrypted) }
            guard let text = password() else { throw passwordRequired }
            guard let key = withBytes(of: text, { decrypted(encrypted, $0, nil) }) else { throw wrongPassword }
            return key
        }
        guard let key = plainKey(der) else { throw unreadableKey }
        return key
    }

    /// Decrypts an EncryptedPrivateKeyInfo (RFC 5958 section 3), DER.
    ///
    /// - Parameter password: in UTF-8. The caller overwrites it.
    package static func decrypted(
        _ der: [UInt8], _ password: [UInt8]
    ) throws(ClientIdentityError) -> PrivateKeyReference {
        defer { ERR_clear_error() }
        guard let encrypted = try affordableKey(der) else { throw unreadableKey }
        defer { X509_SIG_free(encrypted) }
        let key = password.withUnsafeBytes { decrypted(encrypted, $0.bindMemory(to: CChar.self), nil) }
        guard let key else { throw wrongPassword }
        return key
    }

    /// Returns an EncryptedPrivateKeyInfo as `X509_SIG *`, which the caller frees; `nil` if the bytes are none.
    ///
    /// - Throws: an error if the derivation from the password would take too much work.
    private static func affordableKey(_ der: [UInt8]) throws(ClientIdentityError) -> OpaquePointer? {
        guard let encrypted = encryptedKey(der) else { return nil }
        var budget = iterationLimit
        do throws(ClientIdentityError) {
            try requireAffordable(encrypted, &budget)
        } catch {
            X509_SIG_free(encrypted)
            throw error
        }
        return encrypted
    }

    /// Parses an unencrypted key: PKCS#8 (RFC 5208, RFC 5958), PKCS#1 (RFC 8017) or SEC1 (RFC 5915), DER.
    package static func plainKey(_ der: [UInt8]) -> PrivateKeyReference? {
        // Formats that were tried before the right one leave errors too.
        defer { ERR_clear_error() }
        if let parts = OneAsymmetricKey(der) { return parts.key }
        return der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            if let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, buffer.count) {
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                return key(info)
            }
            cursor = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, buffer.count).map { PrivateKeyReference(owning: $0) }
        }
    }

    /// The most bytes of a DSA or DH key in PKCS#8; one with a prime of 8,192 bits takes about 2,100. OpenSSL computes
    /// the public half of these keys, and its work grows with the cube of their length.
    private static let slowKeyLimit = 3_072

    /// - Parameter info: `PKCS8_PRIV_KEY_INFO *`.
    static func key(_ info: OpaquePointer) -> PrivateKeyReference? {
        var algorithm: OpaquePointer?
        PKCS8_pkey_get0(&algorithm, nil, nil, nil, info)
        let isSlow = [NID_dsa, NID_dsa_2, NID_dhKeyAgreement, NID_dhpublicnumber].contains(OBJ_obj2nid(algorithm))
        guard !isSlow || i2d_PKCS8_PRIV_KEY_INFO(info, nil) <= slowKeyLimit else { return nil }
        return EVP_PKCS82PKEY(info).map { PrivateKeyReference(owning: $0) }
    }

    /// Returns an EncryptedPrivateKeyInfo (RFC 5958 section 3), or `nil`.
    private static func encryptedKey(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509_SIG(nil, &cursor, buffer.count)
        }
    }

    /// Decrypts a key; `nil` if the password is wrong or the key is damaged.
    ///
    /// - Parameter library: the library context with the ciphers; `nil` for the default one.
    static func decrypted(
        _ encrypted: OpaquePointer, _ password: UnsafeBufferPointer<CChar>, _ library: OpaquePointer?
    ) -> PrivateKeyReference? {
        let info = PKCS8_decrypt_ex(encrypted, password.baseAddress, CInt(password.count), library, nil)
        guard let info else { return nil }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        // In the default context, because the handshake uses the key there.
        return key(info)
    }

    /// Throws if a derivation from a password would exceed the budget, and reduces the budget.
    ///
    /// - Parameter encrypted: `X509_SIG *`.
    static func requireAffordable(_ encrypted: OpaquePointer, _ budget: inout Int) throws(ClientIdentityError) {
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(encrypted, &algorithm, nil)
        try requireAffordable(algorithm, &budget)
    }

    /// Throws if the derivation from a password would take more work than the budget, and reduces the budget.
    ///
    /// The integers of the parameters of PBKDF1, PBKDF2 and PKCS#12 are the iterations and lengths (RFC 8018 appendix
    /// A, RFC 7292 appendix C). The cost of scrypt is the product of its integers (RFC 7914 section 7). OpenSSL 3.4 to
    /// 3.6 overflows a buffer if PBMAC1 (RFC 9579) has a long key (CVE-2025-11187).
    static func requireAffordable(
        _ algorithm: UnsafePointer<X509_ALGOR>?, _ budget: inout Int
    ) throws(ClientIdentityError) {
        guard let algorithm, let der = der(of: algorithm), let integers = try? DERReader.integers(in: der) else {
            throw ClientIdentityError(.unreadableKey, "the encryption of the private key cannot be read")
        }
        if der.firstRange(of: pbmac1) != nil, integers.dropFirst().contains(where: { $0 > 64 }) {
            throw ClientIdentityError(.unreadablePKCS12, "the MAC of the PKCS#12 file has an overlong key")
        }
        guard der.firstRange(of: scrypt) != nil else { return try spend(integers.max() ?? 0, of: &budget) }
        let product = integers.reduce(1) { product, factor in
            let (result, overflows) = product.multipliedReportingOverflow(by: max(factor, 1))
            return overflows ? .max : result
        }
        try spend(product, of: &budget)
    }

    /// The OBJECT IDENTIFIER 1.3.6.1.4.1.11591.4.11.
    private static let scrypt: [UInt8] = [0x06, 0x09, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]
    /// The OBJECT IDENTIFIER 1.2.840.113549.1.5.14.
    private static let pbmac1: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0E]

    static func spend(_ iterations: Int, of budget: inout Int) throws(ClientIdentityError) {
        guard (0...budget).contains(iterations) else {
            throw ClientIdentityError(
                .tooManyIterations, "the password needs more than \(iterationLimit) iterations",
                hint: "encrypt it again: openssl pkcs12, or openssl pkcs8 -topk8 -iter 600000")
        }
        budget -= iterations
    }

    private static func der(of algorithm: UnsafePointer<X509_ALGOR>) -> [UInt8]? {
        let count = i2d_X509_ALGOR(algorithm, nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(i2d_X509_ALGOR(algorithm, &cursor)))
        }
    }

    /// The labels of keys in OpenSSL's old form. In this form PKCS#8 could have any number of iterations of its own.
    private static let legacyLabels = ["RSA", "EC", "DSA"].map { Array("-----BEGIN \($0) PRIVATE KEY-----".utf8) }

    /// Reads a key in OpenSSL's old form with `Proc-Type: 4,ENCRYPTED` (RFC 1421 section 4.6.1.1). Its derivation has
    /// one iteration. OpenSSL gets only this block, because it would skip one that it does not know.
    ///
    /// - Parameter line: the number of a line in the block, counted from 1.
    private static func legacyKey(
        in bytes: [UInt8], at line: Int, _ password: () -> String?
    ) throws(ClientIdentityError) -> PrivateKeyReference {
        defer { ERR_clear_error() }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let begin = lines.prefix(line).lastIndex { $0.starts(with: "-----BEGIN ".utf8) }
        let end = lines.dropFirst(line).firstIndex { $0.starts(with: "-----END ".utf8) }
        guard let begin, let end, legacyLabels.contains(where: lines[begin].starts) else { throw unreadableKey }
        let block = bytes[lines[begin].startIndex..<lines[end].endIndex]
        guard let text = password() else { throw passwordRequired }
        // OpenSSL would cut the password there, and its own buffer has 1,024 bytes.
        guard !text.utf8.contains(0), text.utf8.count <= 1_024 else { throw wrongPassword }
        let key = withBytes(of: text) { secret in
            block.withUnsafeBytes { buffer -> OpaquePointer? in
                guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count)) else { return nil }
                defer { BIO_free(bio) }
                // Without a callback, the last argument is the password with a NUL behind it.
                return PEM_read_bio_PrivateKey(bio, nil, nil, UnsafeMutableRawPointer(mutating: secret.baseAddress))
            }
        }
        guard let key else { throw wrongPassword }
        return PrivateKeyReference(owning: key)
    }

    /// Calls a closure with the bytes of a password, and overwrites them afterwards. The NUL behind them is not part of
    /// the buffer.
    static func withBytes<Value, Failure: Error>(
        of password: String, _ body: (UnsafeBufferPointer<CChar>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var bytes = Array(password.utf8CString)
        defer { OPENSSL_cleanse(&bytes, bytes.count) }
        return try bytes.withUnsafeBufferPointer { (buffer) throws(Failure) in
            try body(UnsafeBufferPointer(rebasing: buffer.dropLast()))
        }
    }
}
