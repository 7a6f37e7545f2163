internal import PintleTestKit

extension Catalogue {
    /// Returns the attacks that only a pin stops, and the changes of a server that lock out clients with careless pins.
    static func pins(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        try interceptions(certificates) + changes(certificates)
    }

    /// Returns the interceptors whose authority the client trusts.
    private static func interceptions(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        let interceptor = try certificates.interceptor()
        var asking = TLSServerConfiguration(.init(interceptor))
        asking.clientCertificateQuestion = certificates.question
        return [
            Scenario(
                "trusted-interceptor", "an interceptor whose authority the client trusts", .refused,
                reference: "RFC 7469 section 2.6", impact: "any authority on the machine can read the traffic",
                .server(interceptor)),
            Scenario(
                "copied-certificate", "an interceptor's copy of the right certificates, with other keys", .refused,
                reference: "RFC 7469 section 2.6", impact: "names and serial numbers can be copied, keys cannot",
                .server(try certificates.copied())),
            // No standard makes every client refuse ten years: section 6.3.2 of the CA/Browser Forum's requirements
            // binds public authorities, and only some systems limit the validity below other roots.
            Scenario(
                "ten-year-leaf", "an interceptor's leaf for ten years, as attack kits make it", .refused,
                reference: "RFC 7469 section 2.6", impact: "most clients accept any validity below such an authority",
                .server(
                    try certificates.otherAuthority.issue(hosts: [certificates.host]) {
                        $0.notAfter = .fromNow(days: 3_649)
                    })),
            Scenario(
                "pin-appended-to-foreign-path", "the right certificates, appended to an interceptor's path", .refused,
                reference: "RFC 7469 section 2.6", impact: "pins must be compared with the validated path",
                .server(interceptor.chain + certificates.genuine.chainWithRoot, interceptor.key)),
            Scenario(
                "pinned-intermediate-off-path", "the right intermediate, appended to an interceptor's path", .refused,
                reference: "RFC 7469 section 2.6", impact: "pins must be compared with the validated path",
                .server(interceptor.chain + [certificates.intermediate.certificate.der], interceptor.key)),
            Scenario(
                "interceptor-asks-for-identity", "an interceptor that asks for the client's certificate", .refused,
                reference: "RFC 8446 section 4.4.2", impact: "an interceptor learns who the user is", .server(asking)),
        ]
    }

    /// Returns the changes that servers make over time.
    private static func changes(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        let crossed = try certificates.intermediate.crossSigned(by: certificates.otherAuthority)
        let second = try certificates.authority.intermediate(name: "Second Intermediate")
        return [
            Scenario(
                "renewed-same-key", "a new certificate for the same key", .accepted,
                reference: "RFC 7469 section 2.4", impact: "every renewal locks users out",
                .server(try certificates.genuine.renewed(by: certificates.intermediate))),
            Scenario(
                "rotated-to-backup-key", "a certificate for the backup key", .accepted,
                reference: "RFC 7469 section 4.3", impact: "losing the key locks users out",
                .server(try certificates.intermediate.issue(hosts: [certificates.host], key: certificates.backup))),
            Scenario(
                "cross-signed", "the right certificates, and a cross-signed intermediate", .accepted,
                reference: "RFC 4158 section 2.3", impact: "the verdict depends on the path that the client finds",
                .server(certificates.genuine.chain + [crossed.certificate.der], certificates.genuine.key)),
            Scenario(
                "rotated-to-unknown-key", "an unpinned key, certified by the same authority", .refused,
                reference: "RFC 7469 section 2.6",
                impact: "anyone who gets a certificate by mistake can read the traffic",
                .server(try second.issue(hosts: [certificates.host]))),
        ]
    }
}

extension Certificates {
    /// Returns the right server and its issuer with the interceptor's keys below the interceptor's root.
    ///
    /// Subjects, serial numbers, validity and extensions are equal, key identifiers included. So the leaf differs only
    /// in its key and signature.
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
