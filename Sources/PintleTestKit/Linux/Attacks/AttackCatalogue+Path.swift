extension AttackCatalogue {
    /// Returns the attacks with the right key below an untrusted or broken path, or with one mistake in the certificate.
    static func path(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        try badAnchors(cast) + badCertificates(cast) + badPaths(cast)
    }

    private static func badAnchors(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let unknown = try CertificateAuthority.root(name: "Unknown Root")
        return [
            Attack(
                "untrusted-ca", "an interceptor with an authority of its own", .refused,
                reference: "RFC 5280 section 6.1", stake: "anyone on the network can read the traffic",
                .server(try unknown.issue(hosts: [cast.host]))),
            Attack(
                "pinned-key-untrusted-ca", "the right key below an untrusted authority", .refused,
                reference: "RFC 7469 section 2.6", stake: "a pin must not replace a valid path",
                .server(try unknown.issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "self-signed", "a self-signed certificate", .refused, reference: "RFC 5280 section 6.1",
                stake: "anyone on the network can read the traffic",
                .server(try Identity.selfSigned(hosts: [cast.host]))),
        ]
    }

    /// Returns the attacks with the right key and authority, and one mistake in the certificate.
    private static func badCertificates(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        [
            Attack(
                "expired", "an expired certificate", .refused, reference: "RFC 5280 section 6.1.3",
                stake: "a stolen key stays usable forever",
                .server(
                    try cast.spoilt {
                        $0.notBefore = .fromNow(days: -120)
                        $0.notAfter = .fromNow(days: -30)
                    })),
            Attack(
                "not-yet-valid", "a certificate that is not valid yet", .refused, reference: "RFC 5280 section 6.1.3",
                stake: "the client ignores dates",
                .server(
                    try cast.spoilt {
                        $0.notBefore = .fromNow(days: 365)
                        $0.notAfter = .fromNow(days: 455)
                    })),
            Attack(
                "no-server-purpose", "a certificate only for clients", .refused, reference: "RFC 5280 section 4.2.1.12",
                stake: "any user with a certificate can impersonate the server",
                .server(try cast.spoilt { $0.extendedKeyUsage = [.clientAuth] })),
            Attack(
                "unknown-critical-extension", "an unknown critical extension", .refused,
                reference: "RFC 5280 section 4.2", stake: "the client ignores a restriction",
                .server(
                    try cast.spoilt {
                        $0.extraExtensions = [CertificateExtension([2, 999, 1], critical: true) { $0.null() }]
                    })),
            Attack(
                "weak-key", "an RSA key of 1,024 bits, which a pin of the key also refuses", .refused,
                reference: "NIST SP 800-131A section 3",
                stake: "attackers can break such a key",
                .server(try cast.intermediate.issue(hosts: [cast.host], keyType: .rsa(bits: 1_024)))),
            Attack(
                "sha1-signature", "a certificate signed with SHA-1", .refused, reference: "RFC 9155 section 2",
                stake: "attackers can forge such a signature",
                .server(try cast.spoilt { $0.signatureAlgorithm = .ecdsa(.sha1) })),
            Attack(
                "garbage-der", "garbage instead of a certificate", .refused, reference: "RFC 5280 section 4.1",
                stake: "a parser must handle any input",
                .server([[0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0xA5, count: 256)], cast.genuine.key)),
        ]
    }

    /// Returns the attacks with a good leaf for the right key, and an invalid path.
    private static func badPaths(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let short = try cast.authority.intermediate(name: "Short", pathLength: 0)
        let constrained = try cast.authority.intermediate(name: "Constrained") {
            $0.nameConstraints = .nameConstraints(
                permitted: [.dns(cast.foreignName), .ip(cast.foreignNetwork)])
        }
        // A leaf with a key of its own. If the right leaf signed its own key, the forged certificate would be self-signed.
        let foreignLeaf = try cast.intermediate.issue(hosts: [cast.foreignName])
        return [
            Attack(
                "leaf-as-ca", "a leaf certificate used as an authority", .refused,
                reference: "RFC 5280 section 6.1.4", stake: "the owner of any certificate can sign for any host",
                .server(try foreignLeaf.misusedAsAuthority().issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "path-length-exceeded", "an authority below one with path length 0", .refused,
                reference: "RFC 5280 section 6.1.4", stake: "the client ignores a restriction",
                .server(try short.intermediate(name: "Below").issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "name-constraints-violated", "an authority that is constrained to other names", .refused,
                reference: "RFC 5280 section 6.1.3", stake: "the client ignores a restriction",
                .server(try constrained.issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "explicit-ec-parameters", "an authority whose key names its own curve", .refused,
                reference: "RFC 5480 section 2.1.1", stake: "a forged curve can imitate a trusted key (CVE-2020-0601)",
                .server(try cast.explicitAuthority().issue(hosts: [cast.host], key: cast.genuine.key))),
        ]
    }
}

extension AttackCast {
    /// Returns an authority whose P-256 key spells out the curve's parameters. Everything else about it is right.
    fileprivate func explicitAuthority() throws(MintingError) -> CertificateAuthority {
        let key = try PrivateKey(.p256)
        var template = CertificateTemplate.forAuthority("Explicit Parameters")
        template.subjectPublicKeyInfo = SubjectPublicKeyInfo.explicitP256(key)
        return CertificateAuthority(
            certificate: try template.minted(for: key, by: authority), key: key, issuers: [authority.certificate])
    }
}
