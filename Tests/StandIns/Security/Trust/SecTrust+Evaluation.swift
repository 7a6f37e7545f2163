internal import COpenSSL
internal import Foundation

/// One `X509_verify_cert`, which stops at the first thing that is wrong: a validator of its own, so that what is
/// tested against it is not tested against itself.
extension SecTrust {
    var evaluated: (path: [SecCertificate], status: OSStatus) {
        if let result { return result }
        let found = evaluate()
        result = found
        return found
    }

    private func evaluate() -> (path: [SecCertificate], status: OSStatus) {
        guard let leaf = presented.first, let store = X509_STORE_new() else { return ([], errSecInternalError) }
        defer { X509_STORE_free(store) }
        var roots = anchors ?? []
        if anchors == nil || !usesAnchorsOnly { roots += StandIn.systemAnchors.compactMap { SecCertificate(der: $0) } }
        for root in roots { X509_STORE_add_cert(store, root.pointer) }
        guard let others = OPENSSL_sk_new_null(), let context = X509_STORE_CTX_new() else {
            return ([], errSecInternalError)
        }
        defer {
            X509_STORE_CTX_free(context)
            OPENSSL_sk_free(others)
            ERR_clear_error()
        }
        for certificate in presented.dropFirst() { OPENSSL_sk_push(others, UnsafeRawPointer(certificate.pointer)) }
        guard X509_STORE_CTX_init(context, store, leaf.pointer, others) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { return ([], errSecInternalError) }
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        X509_VERIFY_PARAM_set_time(parameters, Int((instant ?? Date()).timeIntervalSince1970.rounded(.down)))
        // Of an anchor that is the server's own certificate no usage is asked.
        if roots.contains(where: { $0.der == leaf.der }) { X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY) }
        let isGood = X509_verify_cert(context) == 1
        let stack = X509_STORE_CTX_get0_chain(context)
        var path: [SecCertificate] = []
        for index in 0..<max(0, OPENSSL_sk_num(stack)) {
            guard let pointer = OPENSSL_sk_value(stack, index),
                let certificate = SecCertificate(borrowing: OpaquePointer(pointer))
            else { continue }
            path.append(certificate)
        }
        if path.isEmpty { path = [leaf] }
        if isGood {
            // Since 2019 Apple asks of the leaf that it names the purpose.
            let isAnchor = roots.contains { $0.der == leaf.der }
            let usages = X509_get_extended_key_usage(leaf.pointer)
            guard policies.allSatisfy({ leaf.isFor($0.host) }) else { return (path, errSecHostNameMismatch) }
            return (path, isAnchor || usages != UInt32.max ? errSecSuccess : errSecInvalidExtendedKeyUsage)
        }
        return (path, Self.status(of: X509_STORE_CTX_get_error(context)))
    }

    private static func status(of error: Int32) -> OSStatus {
        switch error {
        case X509_V_ERR_CERT_HAS_EXPIRED: errSecCertificateExpired
        case X509_V_ERR_CERT_NOT_YET_VALID: errSecCertificateNotValidYet
        case X509_V_ERR_INVALID_CA: errSecNoBasicConstraintsCA
        case X509_V_ERR_PATH_LENGTH_EXCEEDED: errSecPathLengthConstraintExceeded
        case X509_V_ERR_INVALID_PURPOSE: errSecInvalidExtendedKeyUsage
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION: errSecCertificateNameNotAllowed
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: errSecUnknownCriticalExtensionFlag
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: errSecUnsupportedKeySize
        case X509_V_ERR_CA_MD_TOO_WEAK: errSecInvalidDigestAlgorithm
        default: errSecNotTrusted
        }
    }
}

extension SecCertificate {
    /// By the subject alternative name alone; without a host for anybody.
    fileprivate func isFor(_ host: String?) -> Bool {
        guard let host, !host.isEmpty else { return true }
        if X509_check_ip_asc(pointer, host, 0) == 1 { return true }
        let flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
        return X509_check_host(pointer, host, host.utf8.count, flags, nil) == 1
    }
}
