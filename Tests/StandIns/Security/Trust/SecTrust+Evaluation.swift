internal import COpenSSL
internal import Foundation

/// The evaluation. OpenSSL builds the path and reports every flaw. It is a separate validator, so that Pintle's code is
/// not tested against itself. The rules of Apple's policies are added to its flaws.
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
        let usesSystem = anchors == nil || !usesAnchorsOnly
        let system = usesSystem ? StandIn.systemAnchors : []
        roots += system.compactMap { SecCertificate(der: $0) }
        for root in roots { X509_STORE_add_cert(store, root.pointer) }
        // An issuer needs the right name and key. Key identifiers are checked once the path is built.
        X509_STORE_set_check_issued(store) { _, subject, issuer in
            guard X509_NAME_cmp(X509_get_subject_name(issuer), X509_get_issuer_name(subject)) == 0 else { return 0 }
            return X509_verify(subject, X509_get0_pubkey(issuer)) == 1 ? 1 : 0
        }
        guard let others = OPENSSL_sk_new_null(), let context = X509_STORE_CTX_new() else {
            return ([], errSecInternalError)
        }
        defer {
            X509_STORE_CTX_free(context)
            OPENSSL_sk_free(others)
            ERR_clear_error()
        }
        for certificate in presented.dropFirst() { OPENSSL_sk_push(others, UnsafeRawPointer(certificate.pointer)) }
        let instant = instant ?? Date()
        guard X509_STORE_CTX_init(context, store, leaf.pointer, others) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { return ([], errSecInternalError) }
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_POLICY_CHECK))
        // The policies check strength and usages.
        X509_VERIFY_PARAM_set_auth_level(parameters, 0)
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)
        // Without a set of acceptable policies OpenSSL refuses each path on which a policy is required.
        X509_VERIFY_PARAM_add0_policy(parameters, OBJ_nid2obj(NID_any_policy))
        X509_VERIFY_PARAM_set_time(parameters, Int(instant.timeIntervalSince1970.rounded(.down)))
        let collected = Collected()
        X509_STORE_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(collected).toOpaque())
        X509_STORE_CTX_set_verify_cb(context) { isGood, context in
            guard isGood != 1, let data = X509_STORE_CTX_get_ex_data(context, 0) else { return isGood }
            let error = X509_STORE_CTX_get_error(context)
            Unmanaged<Collected>.fromOpaque(data).takeUnretainedValue().errors.append(error)
            return 1
        }
        var flaws = withExtendedLifetime(collected) {
            X509_verify_cert(context) == 1 ? [] : [Flaw(.trust, errSecNotTrusted)]
        }
        let path = Self.path(context, leaf)
        flaws += collected.errors.compactMap { Self.flaw($0, path) }
        if let flaw = SecCertificate.flaw(ofConstraintsOn: path) { flaws.append(flaw) }
        let isSystem = path.last.map { system.contains($0.der) } ?? false
        for policy in policies { flaws += policy.flaws(of: path, isSystem: isSystem, at: instant) }
        return (path, Flaw.status(of: flaws))
    }

    private final class Collected {
        var errors: [Int32] = []
    }

    private static func path(_ context: OpaquePointer, _ leaf: SecCertificate) -> [SecCertificate] {
        let stack = X509_STORE_CTX_get0_chain(context)
        var path: [SecCertificate] = []
        for index in 0..<max(0, OPENSSL_sk_num(stack)) {
            guard let pointer = OPENSSL_sk_value(stack, index),
                let certificate = SecCertificate(borrowing: OpaquePointer(pointer))
            else { continue }
            path.append(certificate)
        }
        return path.isEmpty ? [leaf] : path
    }

    private static func flaw(_ error: Int32, _ path: [SecCertificate]) -> Flaw? {
        switch error {
        // The system has no separate status for "not valid yet".
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: Flaw(.dates, errSecCertificateExpired)
        case X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            path.dropFirst().lazy.compactMap(\.flawAsAuthority).first ?? Flaw(.compliance, errSecNoBasicConstraintsCA)
        case X509_V_ERR_PATH_LENGTH_EXCEEDED: Flaw(.compliance, errSecPathLengthConstraintExceeded)
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION: Flaw(.compliance, errSecInvalidName)
        case X509_V_ERR_NO_EXPLICIT_POLICY: Flaw(.compliance, errSecInvalidPolicyIdentifiers)
        case X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_INVALID_POLICY_EXTENSION:
            Flaw(.compliance, errSecUnknownCertExtension)
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: Flaw(.compliance, errSecUnknownCriticalExtensionFlag)
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            Flaw(.trust, errSecNotTrusted)
        // The basic policy decides about kinds of names that OpenSSL does not compare.
        case X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE: nil
        default: Flaw(.trust, errSecCreateChainFailed)
        }
    }
}
