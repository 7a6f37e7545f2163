internal import COpenSSL
internal import Foundation

/// The checks of a single certificate that policies need.
extension SecCertificate {
    enum Digest: CaseIterable {
        case md5, sha1
    }

    var isSelfIssued: Bool {
        X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }

    /// Returns `true` if the key has at least the given size in bits.
    ///
    /// - Parameter edwards: A Boolean value that indicates whether Ed25519 and Ed448 are accepted. Every other kind of
    ///   key is weak.
    func hasKey(rsa: Int32, ellipticCurve: Int32, edwards: Bool) -> Bool {
        guard let key = X509_get0_pubkey(pointer) else { return false }
        return switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: EVP_PKEY_get_bits(key) >= rsa
        case EVP_PKEY_EC: EVP_PKEY_get_bits(key) >= ellipticCurve
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: edwards
        default: false
        }
    }

    func isSignedOver(_ digest: Digest) -> Bool {
        var found: Int32 = 0
        guard OBJ_find_sigid_algs(X509_get_signature_nid(pointer), &found, nil) == 1 else { return false }
        return found == (digest == .md5 ? NID_md5 : NID_sha1)
    }

    /// A Boolean value that indicates whether a required subject is empty. Only a leaf whose alternative names are
    /// critical may have an empty subject.
    var lacksSubject: Bool {
        guard X509_NAME_entry_count(X509_get_subject_name(pointer)) == 0 else { return false }
        let index = X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1)
        guard index >= 0, X509_check_ca(pointer) == 0 else { return true }
        return X509_EXTENSION_get_critical(X509_get_ext(pointer, index)) != 1
    }

    /// Returns `false` if the key identifiers differ. They are compared only if both certificates have one.
    func namesKey(of issuer: SecCertificate) -> Bool {
        guard let own = X509_get0_authority_key_id(pointer), let other = X509_get0_subject_key_id(issuer.pointer) else {
            return true
        }
        return ASN1_OCTET_STRING_cmp(own, other) == 0
    }

    /// The reason why the certificate may not sign others; `nil` if it may.
    var flawAsAuthority: Flaw? {
        let flags = X509_get_extension_flags(pointer)
        guard flags & UInt32(EXFLAG_BCONS) != 0 else { return Flaw(.compliance, errSecNoBasicConstraints) }
        guard flags & UInt32(EXFLAG_CA) != 0 else { return Flaw(.compliance, errSecNoBasicConstraintsCA) }
        let maySign = X509_get_key_usage(pointer) & UInt32(KU_KEY_CERT_SIGN) != 0
        return maySign ? nil : Flaw(.usage, errSecInvalidKeyUsageForPolicy)
    }

    // MARK: Keys and usages

    /// The SHA-256 of the SubjectPublicKeyInfo.
    var keyDigest: [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), &start)
        guard count > 0, let start else { return [] }
        defer { CRYPTO_free(start, nil, 0) }
        return [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, initialized in
            _ = SHA256(start, Int(count), buffer.baseAddress)
            initialized = Int(SHA256_DIGEST_LENGTH)
        }
    }

    /// Returns `true` if the certificate may be used for servers.
    ///
    /// - Parameter strictly: A Boolean value that indicates whether a certificate without usages, or for any usage, is
    ///   refused.
    func isForServers(strictly: Bool) -> Bool {
        let usages = X509_get_extended_key_usage(pointer)
        guard usages != UInt32.max else { return !strictly }
        return usages & UInt32(strictly ? XKU_SSL_SERVER : XKU_SSL_SERVER | XKU_SGC | XKU_ANYEKU) != 0
    }

    // MARK: Dates

    /// Seconds since 1970: 1 July 2019 in London, then 1 March 2018 and 1 September 2020 in UTC.
    static let july2019 = 1_561_935_600
    private static let march2018 = 1_519_862_400
    private static let september2020 = 1_598_918_400

    var notBefore: Int { Self.seconds(X509_get0_notBefore(pointer)) }
    var notAfter: Int { Self.seconds(X509_get0_notAfter(pointer)) }

    func isValid(at instant: Date) -> Bool {
        (notBefore...max(notBefore, notAfter)).contains(Int(instant.timeIntervalSince1970.rounded(.down)))
    }

    /// Returns `true` if the certificate is valid for more than 825 days and an hour. For public authorities the limit
    /// is 398 days from September 2020 on.
    func isValidTooLong(isSystem: Bool) -> Bool {
        let (length, longest) = (notAfter - notBefore, 825 * 86_400 + 3_600)
        if isSystem, notBefore >= Self.september2020, length > 398 * 86_400 { return true }
        return notBefore >= (isSystem ? Self.march2018 : Self.july2019) && length > longest
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int {
        var fields = tm()
        guard ASN1_TIME_to_tm(time, &fields) == 1 else { return 0 }
        return timegm(&fields)
    }
}
