internal import COpenSSL
internal import Pintle

/// A reader of PKCS#12 (RFC 7292).
///
/// `PKCS12_parse` of OpenSSL would spend any number of iterations that the file demands, so the parts are read one by
/// one.
struct PKCS12Reader {
    private var certificates: [X509Reference] = []
    private var keys: [PrivateKeyReference] = []
    private var iterations = IdentityReader.iterationLimit
    private var password: UnsafeBufferPointer<CChar>
    private let hasOldCiphers: Bool
    private let library: OpaquePointer

    static func read(
        _ bytes: [UInt8], _ password: () -> String?
    ) throws(ClientIdentityError) -> ([X509Reference], PrivateKeyReference) {
        defer { ERR_clear_error() }
        // Old files use RC2, which only the legacy provider has. In a context of its own, nothing else gets it.
        guard let library = OSSL_LIB_CTX_new() else { throw ClientIdentityError(.unusable, "OpenSSL has no memory") }
        defer { OSSL_LIB_CTX_free(library) }
        let common = OSSL_PROVIDER_load(library, "default")
        let legacy = OSSL_PROVIDER_load(library, "legacy")
        defer {
            OSSL_PROVIDER_unload(legacy)
            OSSL_PROVIDER_unload(common)
        }
        guard let file = parsed(bytes, library) else { throw damaged }
        defer { PKCS12_free(file) }
        return try IdentityReader.withBytes(of: password() ?? "") { (password) throws(ClientIdentityError) in
            var reader = PKCS12Reader(password: password, library: library, hasOldCiphers: legacy != nil)
            return try reader.read(file)
        }
    }

    private static let damaged = ClientIdentityError(
        .unreadablePKCS12, "the PKCS#12 file cannot be read",
        hint: "look at it: openssl pkcs12 -in FILE -info -noout")

    private static func parsed(_ bytes: [UInt8], _ library: OpaquePointer) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var file = PKCS12_init_ex(NID_pkcs7_data, library, nil)
            var cursor = buffer.baseAddress
            // On failure OpenSSL frees the file.
            return d2i_PKCS12(&file, &cursor, buffer.count)
        }
    }

    private init(password: UnsafeBufferPointer<CChar>, library: OpaquePointer, hasOldCiphers: Bool) {
        (self.password, self.library, self.hasOldCiphers) = (password, library, hasOldCiphers)
    }

    private mutating func read(
        _ file: OpaquePointer
    ) throws(ClientIdentityError) -> ([X509Reference], PrivateKeyReference) {
        try checkPassword(of: file)
        guard let parts = PKCS12_unpack_authsafes(file) else { throw Self.damaged }
        defer { OPENSSL_sk_pop_free(parts) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
        for index in 0..<max(0, OPENSSL_sk_num(parts)) {
            guard let part = OPENSSL_sk_value(parts, index) else { continue }
            try readPart(part.assumingMemoryBound(to: PKCS7.self))
        }
        guard !certificates.isEmpty else { throw IdentityReader.noCertificate }
        guard let key = keys.first else {
            throw ClientIdentityError(
                .noKey, "the PKCS#12 file has no private key", hint: "export it again with the key")
        }
        guard keys.count == 1 else {
            throw ClientIdentityError(
                .unusable, "the PKCS#12 file has \(keys.count) private keys", hint: "export one identity")
        }
        return (certificates, key)
    }

    /// Checks the password with the file's MAC. A file without one is decrypted without this check.
    private mutating func checkPassword(of file: OpaquePointer) throws(ClientIdentityError) {
        guard PKCS12_mac_present(file) == 1 else { return }
        var (count, algorithm): (UnsafePointer<ASN1_INTEGER>?, UnsafePointer<X509_ALGOR>?) = (nil, nil)
        PKCS12_get0_mac(nil, &algorithm, nil, &count, file)
        try IdentityReader.requireAffordable(algorithm, &iterations)
        var number: Int64 = 1
        if let count, ASN1_INTEGER_get_int64(&number, count) != 1 { number = .max }
        try IdentityReader.spend(Int(clamping: number), of: &iterations)
        if PKCS12_verify_mac(file, password.baseAddress, CInt(password.count)) == 1 { return }
        // No password and an empty one lead to different keys.
        if password.isEmpty, PKCS12_verify_mac(file, nil, 0) == 1 {
            password = UnsafeBufferPointer(start: nil, count: 0)
            return
        }
        throw closed
    }

    /// The error of a file, or a part of it, that the password does not open.
    private var closed: ClientIdentityError {
        guard !password.isEmpty else {
            return ClientIdentityError(
                .passwordRequired, "the PKCS#12 file has a password, and none was given", hint: "give the password")
        }
        let remedy =
            hasOldCiphers
            ? "or the file is damaged"
            : "or it has ciphers of OpenSSL's legacy provider, which is missing; write it again: openssl pkcs12 -export"
        return ClientIdentityError(.wrongPassword, "the password does not open the PKCS#12 file", hint: remedy)
    }

    private mutating func readPart(_ part: UnsafeMutablePointer<PKCS7>) throws(ClientIdentityError) {
        let bags: OpaquePointer
        switch OBJ_obj2nid(part.pointee.type) {
        case NID_pkcs7_data:
            guard let plain = PKCS12_unpack_p7data(part) else { throw Self.damaged }
            bags = plain
        case NID_pkcs7_encrypted:
            let algorithm = part.pointee.d.encrypted?.pointee.enc_data?.pointee.algorithm
            try IdentityReader.requireAffordable(algorithm, &iterations)
            let opened = PKCS12_unpack_p7encdata(part, password.baseAddress, CInt(password.count))
            guard let opened else { throw closed }
            bags = opened
        // A part that is encrypted for a public key (RFC 7292 section 3.1).
        default: return
        }
        defer { OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free($0.map { OpaquePointer($0) }) } }
        try readBags(bags, depth: 0)
    }

    /// The depth of bags in bags that is read.
    private static let depthLimit = 4

    /// The number of keys that are read. OpenSSL takes a tenth of a second to compute the public half of a DSA key.
    private static let keyLimit = 16

    private mutating func readBags(_ bags: OpaquePointer, depth: Int) throws(ClientIdentityError) {
        for index in 0..<max(0, OPENSSL_sk_num(bags)) {
            guard let bag = OPENSSL_sk_value(bags, index).map({ OpaquePointer($0) }) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag where keys.count >= Self.keyLimit,
                NID_pkcs8ShroudedKeyBag where keys.count >= Self.keyLimit:
                throw ClientIdentityError(.tooLarge, "more than \(Self.keyLimit) keys are not read")
            case NID_keyBag:
                guard let info = PKCS12_SAFEBAG_get0_p8inf(bag), let key = IdentityReader.key(info) else {
                    throw IdentityReader.unreadableKey
                }
                keys.append(key)
            case NID_pkcs8ShroudedKeyBag:
                guard let encrypted = PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw Self.damaged }
                try IdentityReader.requireAffordable(encrypted, &iterations)
                guard let key = IdentityReader.decrypted(encrypted, password, library) else {
                    throw closed
                }
                keys.append(key)
            case NID_certBag where PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
                guard let parsed = PKCS12_SAFEBAG_get1_cert(bag) else { throw Self.damaged }
                guard certificates.count < IdentityReader.certificateLimit else {
                    throw ClientIdentityError(
                        .tooLarge, "more than \(IdentityReader.certificateLimit) certificates are not read")
                }
                let der = X509Reference(owning: parsed).der
                certificates.append(try IdentityReader.certificate(der, "a certificate of the PKCS#12 file"))
            case NID_safeContentsBag where depth < Self.depthLimit:
                if let inner = PKCS12_SAFEBAG_get0_safes(bag) { try readBags(inner, depth: depth + 1) }
            default: break
            }
        }
    }
}
