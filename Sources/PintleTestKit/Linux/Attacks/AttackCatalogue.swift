/// The attacks that a client has to withstand, and the changes of a server that it has to bear.
///
/// Certificates are minted when the catalogue is made; nothing runs until an attack is started.
public struct AttackCatalogue: Sendable {
    /// The certificates and keys that the attacks are made of.
    public let cast: AttackCast
    /// The right server, which differs in one thing from each of ``attacks``. The other results of a client that refuses this
    /// one prove nothing.
    public let control: Attack
    /// The attacks, and the changes of a server that a client must accept, without ``control``.
    public let attacks: [Attack]

    /// The attacks that need a client which keeps running from one server to the next, and why. Tests within one process
    /// cover them.
    public static let omissions: [(id: String, reason: String)] = [
        (
            "resumed-session-after-policy-change",
            "needs a client that changes its policy while it runs"
        ),
        ("approved-server-changed", "needs a client that asks a person and remembers the answer"),
    ]

    /// Mints the certificates of all attacks.
    ///
    /// - Parameters:
    ///   - host: The name or address that the client is sent to; it has to lead to this machine.
    ///   - otherHost: Another one, for a redirect to a host without pins; `nil` leaves that attack out.
    /// - Throws: ``MintingError`` where OpenSSL cannot make a certificate.
    public init(host: String = "localhost", otherHost: String? = "127.0.0.1") throws {
        let cast = try AttackCast(host: host, otherHost: otherHost)
        self.cast = cast
        func staged(_ attack: Attack) -> Attack {
            var attack = attack
            attack.host = host
            return attack
        }
        let genuine = Attack(
            "control", "the right server", .accepted, reference: "RFC 9525 section 6",
            stake: "a client that refuses this one refuses everything", .server(cast.genuine))
        let others =
            try AttackCatalogue.interceptions(cast) + AttackCatalogue.badCertificates(cast)
            + AttackCatalogue.badPaths(cast) + AttackCatalogue.changes(cast) + AttackCatalogue.conduct(cast)
        control = staged(genuine)
        attacks = others.map(staged)
    }

    /// Returns the attack with this id, or the control; `nil` where none has it.
    public subscript(id: String) -> Attack? { ([control] + attacks).first { $0.id == id } }
}

extension Attack.Staging {
    static func server(_ identity: Identity) -> Self { .server(TLSServerConfiguration(.init(identity))) }

    static func server(_ chain: [[UInt8]], _ key: PrivateKey) -> Self {
        .server(TLSServerConfiguration(.init(chain: chain, key: key)))
    }
}

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

extension AttackCatalogue {
    /// Good certificates, and a server that behaves badly.
    static func conduct(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let genuine = TLSServerConfiguration.Credential(cast.genuine)
        let interceptor = TLSServerConfiguration.Credential(try cast.interceptor())
        func configured(_ change: (inout TLSServerConfiguration) -> Void) -> Attack.Staging {
            var configuration = TLSServerConfiguration(genuine)
            change(&configuration)
            return .server(configuration)
        }
        var attacks = [
            Attack(
                "tls-1.0", "TLS 1.0 at most", .refused, reference: "RFC 8996 section 4",
                stake: "old TLS can be broken", configured { $0.versions = .tls10 ... .tls10 }),
            Attack(
                "tls-1.1", "TLS 1.1 at most", .refused, reference: "RFC 8996 section 5",
                stake: "old TLS can be broken", configured { $0.versions = .tls11 ... .tls11 }),
            Attack(
                "redirect-to-http", "the right server sends the client on to plain HTTP", .refused,
                reference: "RFC 9110 section 15.4", stake: "anybody on the network reads it",
                .plainRedirect(genuine)),
            Attack(
                "retry-after-401", "a password is asked for; who connects again meets an interceptor", .refused,
                reference: "RFC 9110 section 15.5.2", stake: "the retry carries the password",
                .challenge(genuine, then: interceptor)),
            Attack(
                "stall-mid-handshake", "half a handshake, and then nothing", .refused,
                reference: "RFC 8446 section 4.4", stake: "a server holds the client for ever",
                // Longer than anybody waits; the connection ends with the server.
                configured { $0.stall = .midHandshake(seconds: 86_400) }),
        ]
        if let other = cast.otherHost {
            let target = TLSServerConfiguration.Credential(try cast.interceptor(for: other))
            attacks.insert(
                Attack(
                    "redirect-to-unpinned-host", "the right server sends the client on to a host without pins",
                    .refused, reference: "RFC 9110 section 15.4", stake: "the request goes where nobody is pinned",
                    .redirect(genuine, host: other, to: target)), at: 2)
        }
        return attacks
    }
}
