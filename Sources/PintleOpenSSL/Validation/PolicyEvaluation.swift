internal import COpenSSL
internal import Pintle

/// Evaluates the certificate policies on a path with OpenSSL (RFC 5280 section 6.1).
///
/// `X509_V_FLAG_POLICY_CHECK` would evaluate them inside `X509_verify_cert`. It leaves out the anchor, spends any
/// amount of work even on a path with forged signatures, and without a set of acceptable policies it refuses every path
/// on which a policy is required.
enum PolicyEvaluation {
    /// - Parameters:
    ///   - path: the path, leaf first, anchor last; at least two certificates.
    ///   - includesAnchor: whether the anchor's extensions count like an intermediate's.
    static func findings(_ path: [X509Reference], includesAnchor: Bool) -> [PathFailure.Finding] {
        guard let anchor = path.last, let acceptable = OPENSSL_sk_new_null() else { return [Verification.outOfMemory] }
        defer {
            OPENSSL_sk_free(acceptable)
            ERR_clear_error()
        }
        // OpenSSL leaves out the last certificate.
        var certificates = path
        if includesAnchor {
            guard let statement = allowingAnyPolicy(anchor) else { return [Verification.outOfMemory] }
            certificates.insert(statement, at: path.count - 1)
        }
        guard let stack = X509Stack(certificates),
            OPENSSL_sk_push(acceptable, UnsafeMutableRawPointer(OBJ_nid2obj(NID_any_policy))) > 0
        else {
            return [Verification.outOfMemory]
        }
        var tree: OpaquePointer?
        var isRequired: CInt = 0
        let status = X509_policy_check(&tree, &isRequired, stack.pointer, acceptable, 0)
        X509_policy_tree_free(tree)
        switch status {
        case X509_PCY_TREE_VALID: return []
        case X509_PCY_TREE_FAILURE:
            return [
                .init(
                    .noValidCertificatePolicy, platformCode: Int(X509_V_ERR_NO_EXPLICIT_POLICY),
                    text: "a certificate requires a certificate policy, and none is valid on the whole path")
            ]
        case X509_PCY_TREE_INVALID:
            let depth = path.firstIndex {
                X509_get_extension_flags($0.pointer) & UInt32(EXFLAG_INVALID_POLICY) != 0
            }
            return [
                .init(
                    .noValidCertificatePolicy, depth: depth, platformCode: Int(X509_V_ERR_INVALID_POLICY_EXTENSION),
                    text: "certificate policies that cannot be read or contradict themselves")
            ]
        // OpenSSL stops at 1,000 combinations of policies.
        default: return [ConstraintWork.tooManyPolicies]
        }
    }

    /// Returns the anchor, or a copy with anyPolicy if the anchor has no policies: an intermediate without policies
    /// allows none, and an anchor without them allows all (RFC 5937).
    private static func allowingAnyPolicy(_ anchor: X509Reference) -> X509Reference? {
        guard X509_get_ext_by_NID(anchor.pointer, NID_certificate_policies, -1) < 0 else { return anchor }
        // SEQUENCE { SEQUENCE { OBJECT IDENTIFIER 2.5.29.32.0 } }
        let anyPolicy: [UInt8] = [0x30, 0x08, 0x30, 0x06, 0x06, 0x04, 0x55, 0x1D, 0x20, 0x00]
        guard let copy = X509_dup(anchor.pointer).map({ X509Reference(owning: $0) }),
            let value = ASN1_OCTET_STRING_new()
        else { return nil }
        defer { ASN1_OCTET_STRING_free(value) }
        guard ASN1_OCTET_STRING_set(value, anyPolicy, CInt(anyPolicy.count)) == 1,
            let field = X509_EXTENSION_create_by_NID(nil, NID_certificate_policies, 0, value)
        else { return nil }
        defer { X509_EXTENSION_free(field) }
        return X509_add_ext(copy.pointer, field, -1) == 1 ? copy : nil
    }
}
