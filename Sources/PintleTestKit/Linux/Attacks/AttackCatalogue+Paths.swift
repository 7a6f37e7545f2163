extension AttackCatalogue {
    /// A good leaf with the right key, and a path that does not hold.
    static func badPaths(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let short = try cast.authority.intermediate(name: "Short", pathLength: 0)
        let constrained = try cast.authority.intermediate(name: "Constrained") {
            $0.nameConstraints = .nameConstraints(
                permitted: [.dns(cast.foreignName), .ip(cast.foreignNetwork)])
        }
        // Another's leaf, with a key of its own: below the right one, the forged certificate would be self-signed.
        let foreignLeaf = try cast.intermediate.issue(hosts: [cast.foreignName])
        return [
            Attack(
                "leaf-as-ca", "a leaf that signs as if it were an authority", .refused,
                reference: "RFC 5280 section 6.1.4", stake: "whoever has any certificate signs for any host",
                .server(try foreignLeaf.misusedAsAuthority().issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "path-length-exceeded", "an authority below one that may have none", .refused,
                reference: "RFC 5280 section 6.1.4", stake: "a restriction is passed over",
                .server(try short.intermediate(name: "Below").issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "name-constraints-violated", "an authority that may only sign for other names", .refused,
                reference: "RFC 5280 section 6.1.3", stake: "a restriction is passed over",
                .server(try constrained.issue(hosts: [cast.host], key: cast.genuine.key))),
            Attack(
                "oversized-chain", "certificates of 5 MiB behind the right ones", .refused,
                reference: "RFC 8446 section 4.4.2", stake: "a server fills the client's memory",
                .server(cast.genuine.chain + (try ballast()), cast.genuine.key)),
        ]
    }

    private static func ballast() throws(MintingError) -> [[UInt8]] {
        let fat = try Identity.selfSigned(hosts: ["h.invalid"]) {
            let octets = [UInt8](repeating: 0, count: 1 << 20)
            $0.extraExtensions = [CertificateExtension([2, 999, 2]) { $0.octetString(octets) }]
        }
        return Array(repeating: fat.certificate.der, count: 5)
    }

    /// What servers do in the course of their lives. Some of it locks out who pins carelessly.
    static func changes(_ cast: AttackCast) throws(MintingError) -> [Attack] {
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
                "cross-signed", "a second path to another authority is sent along", .accepted,
                reference: "RFC 4158 section 2.3", stake: "which path is found decides who gets in",
                .server(cast.genuine.chain + [crossed.certificate.der], cast.genuine.key)),
            Attack(
                "rotated-to-unknown-key", "a key that nobody has pinned, from the same authority", .refused,
                reference: "RFC 7469 section 2.6", stake: "whom the authority signs for by mistake reads it",
                .server(try second.issue(hosts: [cast.host]))),
        ]
    }
}
