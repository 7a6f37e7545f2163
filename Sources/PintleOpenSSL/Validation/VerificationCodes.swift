internal import COpenSSL
internal import Pintle

/// Translates OpenSSL's error codes to the core's findings.
enum VerificationCodes {
    static func finding(_ error: Int32, depth: Int) -> PathFailure.Finding {
        // OpenSSL 3.0 reports this when there are too many names and constraints to compare.
        if error == X509_V_ERR_UNSPECIFIED {
            return PathFailure.Finding(
                .limitsExceeded, depth: depth, platformCode: Int(error),
                text: "more names and constraints than the library compares")
        }
        let text = X509_verify_cert_error_string(Int(error)).map { String(cString: $0) } ?? "unknown"
        return PathFailure.Finding(code(of: error), depth: depth, platformCode: Int(error), text: text)
    }

    /// Returns the finding for a key that OpenSSL cannot decode. Either the value is not a key, the key is damaged, or
    /// this version of OpenSSL does not know its algorithm.
    static func unreadableKey(of certificate: OpaquePointer, depth: Int, _ error: Int32) -> PathFailure.Finding {
        defer { ERR_clear_error() }
        if let flaw = PublicKeyFlaw.text(ofCertificate: X509Reference(borrowing: certificate).der) {
            return PathFailure.Finding(.weakKey, depth: depth, platformCode: Int(error), text: flaw)
        }
        var algorithm: OpaquePointer?
        X509_PUBKEY_get0_param(&algorithm, nil, nil, nil, X509_get_X509_PUBKEY(certificate))
        let manager = OBJ_nid2sn(OBJ_obj2nid(algorithm)).flatMap { EVP_KEYMGMT_fetch(nil, $0, nil) }
        EVP_KEYMGMT_free(manager)
        let isKnown = manager != nil
        return PathFailure.Finding(
            isKnown ? .malformedCertificate : .weakKey, depth: depth, platformCode: Int(error),
            text: isKnown ? "a public key that cannot be decoded" : "a kind of key that the library does not know")
    }

    private static func code(of error: Int32) -> PathFailure.Code {
        switch error {
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: .limitsExceeded
        case X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY, X509_V_ERR_NO_ISSUER_PUBLIC_KEY,
            X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD,
            X509_V_ERR_INVALID_EXTENSION:
            .malformedCertificate
        case X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE,
            X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY:
            .invalidSignature
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED, X509_V_ERR_SUBJECT_ISSUER_MISMATCH,
            X509_V_ERR_AKID_SKID_MISMATCH, X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH:
            .untrustedRoot
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .notACA
        case X509_V_ERR_PATH_LENGTH_EXCEEDED: .pathLengthExceeded
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            .nameConstraintViolation
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .unhandledCriticalExtension
        case X509_V_ERR_INVALID_PURPOSE: .unsuitablePurpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_EC_KEY_EXPLICIT_PARAMS: .weakKey
        case X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .nameMismatch
        // All other errors, mostly those that X509_V_FLAG_X509_STRICT adds: the certificate is readable but breaches
        // the profile. They are less specific than all of the above.
        default: .other
        }
    }
}
