internal import COpenSSL

extension SecCertificate {
    /// The numbers of permitted and excluded names in the certificate's name constraints.
    private var constraintCounts: (permitted: Int32, excluded: Int32) {
        guard let pointer = X509_get_ext_d2i(pointer, NID_name_constraints, nil, nil) else { return (0, 0) }
        let constraints = pointer.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        return (
            max(0, OPENSSL_sk_num(constraints.pointee.permittedSubtrees)),
            max(0, OPENSSL_sk_num(constraints.pointee.excludedSubtrees))
        )
    }

    /// Returns the flaw of a path with 1,024 permitted or excluded names, which SecPolicyServer.c refuses unread.
    static func flaw(ofConstraintsOn path: [SecCertificate]) -> Flaw? {
        let counts = path.dropFirst().map(\.constraintCounts)
        let most = max(counts.map(\.permitted).reduce(0, +), counts.map(\.excluded).reduce(0, +))
        return most < 1_024 ? nil : Flaw(.compliance, errSecInvalidName)
    }
}
