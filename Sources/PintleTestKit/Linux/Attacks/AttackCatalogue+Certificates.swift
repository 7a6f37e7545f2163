extension AttackCatalogue {
    /// Somebody in between with certificates that others vouch for, or nobody does.
    static func interceptions(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let interceptor = try cast.interceptor()
        let unknown = try CertificateAuthority.root(name: "Unknown Root")
        return [
            Attack(
                "trusted-interceptor", "an interceptor whose authority the client trusts", .refused,
                reference: "RFC 7469 section 2.6", stake: "any authority on the machine reads it",
                .server(interceptor)),
            Attack(
                "untrusted-ca", "an interceptor with an authority of its own", .refused,
                reference: "RFC 5280 section 6.1", stake: "anybody on the network reads it",
                .server(try unknown.issue(hosts: [cast.host]))),
            Attack(
                "pinned-key-untrusted-ca", "the right key below an authority that nobody trusts", .refused,
                reference: "RFC 7469 section 2.6", stake: "a pin must not stand in for a valid path",
                .server(try unknown.issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "self-signed", "a certificate that signs itself", .refused, reference: "RFC 5280 section 6.1",
                stake: "anybody on the network reads it", .server(try Identity.selfSigned(hosts: [cast.host]))),
            Attack(
                "other-hosts-certificate", "another host's valid certificate", .refused,
                reference: "RFC 9525 section 6", stake: "whoever has any certificate reads it",
                .server(try cast.interceptor(for: cast.foreignName))),
            Attack(
                "cn-only", "an interceptor with the name in the subject alone", .refused,
                reference: "RFC 9525 section 2", stake: "authorities do not check that field",
                .server(try cast.otherAuthority.issue(hosts: [cast.host]) { $0.subjectAltNames = [] })),
            Attack(
                "pin-appended-to-foreign-path", "the right certificates, appended to an interceptor's path", .refused,
                reference: "RFC 7469 section 2.6", stake: "pins are to be compared with the validated path",
                .server(interceptor.chain + cast.genuine.chainWithRoot, interceptor.key)),
            Attack(
                "pinned-intermediate-off-path", "the right intermediate, appended to an interceptor's path", .refused,
                reference: "RFC 7469 section 2.6", stake: "pins are to be compared with the validated path",
                .server(interceptor.chain + [cast.intermediate.certificate.der], interceptor.key)),
        ]
    }

    /// The right key and authority, and a certificate that is wrong in one thing.
    static func badCertificates(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        [
            Attack(
                "expired", "a certificate that is over", .refused, reference: "RFC 5280 section 6.1.3",
                stake: "a lost key stays good for ever",
                .server(
                    try cast.spoilt {
                        $0.notBefore = .fromNow(days: -120)
                        $0.notAfter = .fromNow(days: -30)
                    })),
            Attack(
                "not-yet-valid", "a certificate of the future", .refused, reference: "RFC 5280 section 6.1.3",
                stake: "dates are not looked at",
                .server(
                    try cast.spoilt {
                        $0.notBefore = .fromNow(days: 365)
                        $0.notAfter = .fromNow(days: 455)
                    })),
            Attack(
                "wrong-host", "the right key in a certificate for another name", .refused,
                reference: "RFC 9525 section 6", stake: "the name is not looked at",
                .server(try cast.spoilt { $0.subjectAltNames = [.dns(cast.foreignName)] })),
            Attack(
                "no-server-purpose", "a certificate for clients", .refused, reference: "RFC 5280 section 4.2.1.12",
                stake: "whoever may log in may pose as the server",
                .server(try cast.spoilt { $0.extendedKeyUsage = [.clientAuth] })),
            Attack(
                "unknown-critical-extension", "a critical extension that nobody knows", .refused,
                reference: "RFC 5280 section 4.2", stake: "a restriction is passed over",
                .server(
                    try cast.spoilt {
                        $0.extraExtensions = [CertificateExtension([2, 999, 1], critical: true) { $0.null() }]
                    })),
            Attack(
                "weak-key", "an RSA key of 1,024 bits, which pins of the key refuse anyway", .refused,
                reference: "NIST SP 800-131A section 3",
                stake: "such a key can be broken",
                .server(try cast.intermediate.issue(hosts: [cast.host], keyType: .rsa(bits: 1_024)))),
            Attack(
                "sha1-signature", "a certificate signed over SHA-1", .refused, reference: "RFC 9155 section 2",
                stake: "such a signature can be forged",
                .server(try cast.spoilt { $0.signatureAlgorithm = .ecdsa(.sha1) })),
            Attack(
                "garbage-der", "a certificate that is none", .refused, reference: "RFC 5280 section 4.1",
                stake: "a parser meets whatever comes",
                .server([[0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0xA5, count: 256)], cast.genuine.key)),
        ]
    }
}
