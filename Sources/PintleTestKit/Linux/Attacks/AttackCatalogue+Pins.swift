extension AttackCatalogue {
    /// Returns the attacks that only a pin stops, and the changes of a server that lock out clients with careless pins.
    static func pins(_ cast: AttackCast) throws(MintingError) -> [Attack] { try interceptions(cast) + changes(cast) }

    /// Returns the interceptors whose authority the client trusts.
    private static func interceptions(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let interceptor = try cast.interceptor()
        return [
            Attack(
                "trusted-interceptor", "an interceptor whose authority the client trusts", .refused,
                reference: "RFC 7469 section 2.6", stake: "any authority on the machine can read the traffic",
                .server(interceptor)),
            Attack(
                "copied-certificate", "an interceptor's copy of the right certificates, with other keys", .refused,
                reference: "RFC 7469 section 2.6", stake: "names and serial numbers can be copied, keys cannot",
                .server(try cast.copied())),
            // No standard makes every client refuse ten years: section 6.3.2 of the CA/Browser Forum's requirements binds
            // public authorities, and only some systems limit the validity below other roots.
            Attack(
                "ten-year-leaf", "an interceptor's leaf for ten years, as attack kits make it", .refused,
                reference: "RFC 7469 section 2.6", stake: "most clients accept any validity below such an authority",
                .server(try cast.otherAuthority.issue(hosts: [cast.host]) { $0.notAfter = .fromNow(days: 3_649) })),
            Attack(
                "pin-appended-to-foreign-path", "the right certificates, appended to an interceptor's path", .refused,
                reference: "RFC 7469 section 2.6", stake: "pins must be compared with the validated path",
                .server(interceptor.chain + cast.genuine.chainWithRoot, interceptor.key)),
            Attack(
                "pinned-intermediate-off-path", "the right intermediate, appended to an interceptor's path", .refused,
                reference: "RFC 7469 section 2.6", stake: "pins must be compared with the validated path",
                .server(interceptor.chain + [cast.intermediate.certificate.der], interceptor.key)),
        ]
    }

    /// Returns the changes that servers make over time.
    private static func changes(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let crossed = try cast.intermediate.crossSigned(by: cast.otherAuthority)
        let second = try cast.authority.intermediate(name: "Second Intermediate")
        return [
            Attack(
                "renewed-same-key", "a new certificate for the same key", .accepted,
                reference: "RFC 7469 section 2.4", stake: "every renewal locks users out",
                .server(try cast.genuine.renewed(by: cast.intermediate))),
            Attack(
                "rotated-to-backup-key", "a certificate for the backup key", .accepted,
                reference: "RFC 7469 section 4.3", stake: "losing the key locks users out",
                .server(try cast.intermediate.issue(hosts: [cast.host], key: cast.backup))),
            Attack(
                "cross-signed", "the right certificates, and a cross-signed intermediate", .accepted,
                reference: "RFC 4158 section 2.3", stake: "the verdict depends on the path that the client finds",
                .server(cast.genuine.chain + [crossed.certificate.der], cast.genuine.key)),
            Attack(
                "rotated-to-unknown-key", "an unpinned key, certified by the same authority", .refused,
                reference: "RFC 7469 section 2.6",
                stake: "anyone who gets a certificate by mistake can read the traffic",
                .server(try second.issue(hosts: [cast.host]))),
        ]
    }
}

extension AttackCast {
    /// Returns the right server and its issuer with the interceptor's keys below the interceptor's root.
    ///
    /// Subjects, serial numbers, validity and extensions are equal, key identifiers included. So the leaf differs only in
    /// its key and signature.
    fileprivate func copied() throws(MintingError) -> Identity {
        func copy(_ original: MintedCertificate, by issuer: CertificateAuthority) throws(MintingError)
            -> CertificateAuthority
        {
            let key = try PrivateKey(.p256)
            var template = original.template
            if let identifier = original.subjectKeyIdentifier { template.subjectKeyIdentifier = .octets(identifier) }
            return CertificateAuthority(
                certificate: try template.minted(for: key, by: issuer), key: key,
                issuers: [issuer.certificate] + issuer.issuers)
        }
        let leaf = try copy(genuine.certificate, by: try copy(intermediate.certificate, by: otherAuthority))
        return Identity(certificate: leaf.certificate, key: leaf.key, issuers: leaf.issuers)
    }
}
