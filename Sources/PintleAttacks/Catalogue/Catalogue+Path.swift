internal import PintleTestKit

extension Catalogue {
    /// Returns the attacks with the right key below an untrusted or broken path, or with one mistake in the
    /// certificate.
    static func path(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        try badAnchors(certificates) + badCertificates(certificates) + badPaths(certificates)
    }

    private static func badAnchors(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        let unknown = try CertificateAuthority.root(name: "Unknown Root")
        return [
            Scenario(
                "untrusted-ca", "an interceptor with an authority of its own", .refused,
                reference: "RFC 5280 section 6.1", impact: "anyone on the network can read the traffic",
                .server(try unknown.issue(hosts: [certificates.host]))),
            Scenario(
                "pinned-key-untrusted-ca", "the right key below an untrusted authority", .refused,
                reference: "RFC 7469 section 2.6", impact: "a pin must not replace a valid path",
                .server(try unknown.issue(hosts: [certificates.host], key: certificates.genuine.key))),
            Scenario(
                "self-signed", "a self-signed certificate", .refused, reference: "RFC 5280 section 6.1",
                impact: "anyone on the network can read the traffic",
                .server(try Identity.selfSigned(hosts: [certificates.host]))),
        ]
    }

    /// Returns the attacks with the right key and authority, and one mistake in the certificate.
    private static func badCertificates(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        [
            Scenario(
                "expired", "an expired certificate", .refused, reference: "RFC 5280 section 6.1.3",
                impact: "a stolen key stays usable forever",
                .server(
                    try certificates.spoilt {
                        $0.notBefore = .fromNow(days: -120)
                        $0.notAfter = .fromNow(days: -30)
                    })),
            Scenario(
                "not-yet-valid", "a certificate that is not valid yet", .refused, reference: "RFC 5280 section 6.1.3",
                impact: "the client ignores dates",
                .server(
                    try certificates.spoilt {
                        $0.notBefore = .fromNow(days: 365)
                        $0.notAfter = .fromNow(days: 455)
                    })),
            Scenario(
                "no-server-purpose", "a certificate only for clients", .refused, reference: "RFC 5280 section 4.2.1.12",
                impact: "any user with a certificate can impersonate the server",
                .server(try certificates.spoilt { $0.extendedKeyUsage = [.clientAuth] })),
            Scenario(
                "unknown-critical-extension", "an unknown critical extension", .refused,
                reference: "RFC 5280 section 4.2", impact: "the client ignores a restriction",
                .server(
                    try certificates.spoilt {
                        $0.extraExtensions = [CertificateExtension([2, 999, 1], critical: true) { $0.null() }]
                    })),
            Scenario(
                "weak-key", "an RSA key of 1,024 bits, which a pin of the key also refuses", .refused,
                reference: "NIST SP 800-131A section 3",
                impact: "attackers can break such a key",
                .server(try certificates.intermediate.issue(hosts: [certificates.host], keyType: .rsa(bits: 1_024)))),
            Scenario(
                "sha1-signature", "a certificate signed with SHA-1", .refused, reference: "RFC 9155 section 2",
                impact: "attackers can forge such a signature",
                .server(try certificates.spoilt { $0.signatureAlgorithm = .ecdsa(.sha1) })),
            Scenario(
                "garbage-der", "garbage instead of a certificate", .refused, reference: "RFC 5280 section 4.1",
                impact: "a parser must handle any input",
                .server([[0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0xA5, count: 256)], certificates.genuine.key)),
        ]
    }

    /// Returns the attacks with a good leaf for the right key, and an invalid path.
    private static func badPaths(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        let short = try certificates.authority.intermediate(name: "Short", pathLength: 0)
        let constrained = try certificates.authority.intermediate(name: "Constrained") {
            $0.nameConstraints = .nameConstraints(
                permitted: [.dns(certificates.foreignName), .ip(certificates.foreignNetwork)])
        }
        // A leaf with a key of its own. If the right leaf signed its own key, the forged certificate would be
        // self-signed.
        let foreignLeaf = try certificates.intermediate.issue(hosts: [certificates.foreignName])
        return [
            Scenario(
                "leaf-as-ca", "a leaf certificate used as an authority", .refused,
                reference: "RFC 5280 section 6.1.4", impact: "the owner of any certificate can sign for any host",
                .server(
                    try foreignLeaf.misusedAsAuthority().issue(
                        hosts: [certificates.host], key: certificates.genuine.key))),
            Scenario(
                "path-length-exceeded", "an authority below one with path length 0", .refused,
                reference: "RFC 5280 section 6.1.4", impact: "the client ignores a restriction",
                .server(
                    try short.intermediate(name: "Below").issue(
                        hosts: [certificates.host], key: certificates.genuine.key))),
            Scenario(
                "name-constraints-violated", "an authority that is constrained to other names", .refused,
                reference: "RFC 5280 section 6.1.3", impact: "the client ignores a restriction",
                .server(try constrained.issue(hosts: [certificates.host], key: certificates.genuine.key))),
            Scenario(
                "explicit-ec-parameters", "an authority whose key names its own curve", .refused,
                reference: "RFC 5480 section 2.1.1", impact: "a forged curve can imitate a trusted key (CVE-2020-0601)",
                .server(
                    try certificates.explicitAuthority().issue(
                        hosts: [certificates.host], key: certificates.genuine.key))),
        ]
    }
}

extension Certificates {
    /// Returns an authority whose P-256 key spells out the curve's parameters. Everything else about it is right.
    fileprivate func explicitAuthority() throws(MintingError) -> CertificateAuthority {
        let key = try PrivateKey(.p256)
        var template = CertificateTemplate.forAuthority("Explicit Parameters")
        template.subjectPublicKeyInfo = SubjectPublicKeyInfo.explicitP256(key)
        return CertificateAuthority(
            certificate: try template.minted(for: key, by: authority), key: key, issuers: [authority.certificate])
    }
}
