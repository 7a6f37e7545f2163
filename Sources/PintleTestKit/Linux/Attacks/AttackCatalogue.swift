/// The attacks that a client must refuse, and the changes of a server that it must accept.
///
/// The initializer mints the certificates. Servers run only after ``Attack/start()``.
package struct AttackCatalogue: Sendable {
    /// The certificates and keys of the attacks.
    package let cast: AttackCast
    /// The right server. Each of ``attacks`` differs from it in one thing. If a client refuses this server, its other results
    /// prove nothing.
    package internal(set) var control: Attack
    /// The attacks, and the changes of a server that a client must accept, without ``control``.
    package internal(set) var attacks: [Attack]

    /// The attacks that are not here, because they need a client that keeps running from one server to the next. Tests within
    /// one process cover them.
    package static let omissions: [(id: String, reason: String)] = [
        (
            "resumed-session-after-policy-change",
            "needs a client that changes its policy while it runs"
        ),
        (
            "connection-kept-after-policy-change",
            "needs a client that changes its policy while it runs"
        ),
        ("approved-server-changed", "needs a client that asks the user and remembers the answer"),
    ]

    /// Mints the certificates of all attacks.
    ///
    /// - Parameters:
    ///   - host: The name or address that the client connects to. It must lead to this machine.
    ///   - otherHost: Another one, for a redirect to a host without pins. `nil` leaves that attack out.
    /// - Throws: ``MintingError`` if OpenSSL cannot make a certificate.
    package init(host: String = "localhost", otherHost: String? = "127.0.0.1") throws {
        let cast = try AttackCast(host: host, otherHost: otherHost)
        self.cast = cast
        func staged(_ attack: Attack) -> Attack {
            var attack = attack
            attack.host = host
            return attack
        }
        let genuine = Attack(
            "control", "the right server", .accepted, reference: "RFC 9525 section 6",
            stake: "a client that refuses this server refuses every server", .server(cast.genuine))
        let others =
            try AttackCatalogue.interceptions(cast) + AttackCatalogue.badCertificates(cast)
            + AttackCatalogue.badPaths(cast) + AttackCatalogue.changes(cast) + AttackCatalogue.conduct(cast)
            + AttackCatalogue.connections(cast)
        control = staged(genuine)
        attacks = others.map(staged)
    }

    /// Returns the attack or the control with this id, or `nil`.
    package subscript(id: String) -> Attack? { ([control] + attacks).first { $0.id == id } }
}

/// The certificates and keys of the attacks: the app's own authority and server, and a second authority. The client trusts
/// both, as a machine trusts the authorities of its owner, its employer and a hundred companies.
package struct AttackCast: Sendable {
    /// The name or address that the servers are for.
    package let host: String
    /// Another name or address that leads to the same machine, or `nil`.
    package let otherHost: String?
    /// The app's own authority, a root.
    package let authority: CertificateAuthority
    /// The authority below ``authority`` that issues the server's certificates.
    package let intermediate: CertificateAuthority
    /// A root that the client trusts as well, whose key an interceptor holds.
    package let otherAuthority: CertificateAuthority
    /// The right server.
    package let genuine: Identity
    /// The backup key of the right server.
    package let backup: PrivateKey
    /// The right server of ``otherHost``, with a key of its own.
    package let otherGenuine: Identity?
    /// A random name below `.invalid`, which no host has (RFC 2606 section 2).
    let foreignName: String

    init(host: String, otherHost: String?) throws(MintingError) {
        self.host = host
        self.otherHost = otherHost
        foreignName = "h" + String(UInt64.random(in: 1 << 60 ... .max), radix: 16) + ".invalid"
        authority = try .root(name: "Rehearsal Root")
        intermediate = try authority.intermediate(name: "Rehearsal Intermediate")
        otherAuthority = try .root(name: "Interceptor's Root")
        genuine = try intermediate.issue(hosts: [host])
        backup = try PrivateKey()
        if let otherHost { otherGenuine = try intermediate.issue(hosts: [otherHost]) } else { otherGenuine = nil }
    }

    /// The only certificates that the client may trust, in PEM: the roots of ``authority`` and ``otherAuthority``.
    package var anchorsPEM: String { authority.certificate.pem + otherAuthority.certificate.pem }

    /// Network and mask of addresses for documentation (RFC 5737). Neither host is in that network.
    var foreignNetwork: [UInt8] {
        let network: [UInt8] =
            [host, otherHost].contains { $0?.hasPrefix("192.0.2.") == true } ? [203, 0, 113] : [192, 0, 2]
        return network + [0, 255, 255, 255, 0]
    }

    /// Returns the identity of an interceptor, issued by an authority that the client trusts.
    func interceptor(for host: String? = nil) throws(MintingError) -> Identity {
        try otherAuthority.issue(hosts: [host ?? self.host])
    }

    /// Returns the right server's key in a certificate with one mistake.
    func spoilt(_ configure: (inout CertificateTemplate) -> Void) throws(MintingError) -> Identity {
        try intermediate.issue(hosts: [host], key: genuine.key, configure: configure)
    }
}

extension Attack.Staging {
    static func server(_ identity: Identity) -> Self { .server(TLSServerConfiguration(.init(identity))) }

    static func server(_ chain: [[UInt8]], _ key: PrivateKey) -> Self {
        .server(TLSServerConfiguration(.init(chain: chain, key: key)))
    }
}

extension AttackCatalogue {
    /// Returns the attacks by interceptors, whose certificates the client trusts or not.
    static func interceptions(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let interceptor = try cast.interceptor()
        let unknown = try CertificateAuthority.root(name: "Unknown Root")
        return [
            Attack(
                "trusted-interceptor", "an interceptor whose authority the client trusts", .refused,
                reference: "RFC 7469 section 2.6", stake: "any authority on the machine can read the traffic",
                .server(interceptor)),
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
            Attack(
                "other-hosts-certificate", "another host's valid certificate", .refused,
                reference: "RFC 9525 section 6", stake: "the owner of any certificate can read the traffic",
                .server(try cast.interceptor(for: cast.foreignName))),
            Attack(
                "cn-only", "an interceptor with the name only in the subject", .refused,
                reference: "RFC 9525 section 2", stake: "authorities do not check that field",
                .server(try cast.otherAuthority.issue(hosts: [cast.host]) { $0.subjectAltNames = [] })),
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

    /// Returns the attacks with the right key and authority, and one mistake in the certificate.
    static func badCertificates(_ cast: AttackCast) throws(MintingError) -> [Attack] {
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
                "wrong-host", "the right key in a certificate for another name", .refused,
                reference: "RFC 9525 section 6", stake: "the client ignores names",
                .server(try cast.spoilt { $0.subjectAltNames = [.dns(cast.foreignName)] })),
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
}

extension AttackCatalogue {
    /// Returns the attacks with a good leaf for the right key, and an invalid path.
    static func badPaths(_ cast: AttackCast) throws(MintingError) -> [Attack] {
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
                "oversized-chain", "the right certificates, followed by 5 MiB of others", .refused,
                reference: "RFC 8446 section 4.4.2", stake: "a server can fill the client's memory",
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

    /// Returns the changes that servers make over time. Careless pins lock users out after some of them.
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

extension AttackCatalogue {
    /// Returns the attacks with good certificates and a misbehaving server.
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
                stake: "attackers can break old TLS", configured { $0.versions = .tls10 ... .tls10 }),
            Attack(
                "tls-1.1", "TLS 1.1 at most", .refused, reference: "RFC 8996 section 5",
                stake: "attackers can break old TLS", configured { $0.versions = .tls11 ... .tls11 }),
            Attack(
                "redirect-to-http", "the right server redirects the client to plain HTTP", .refused,
                reference: "RFC 9110 section 15.4", stake: "anyone on the network can read the traffic",
                .plainRedirect(genuine)),
            Attack(
                "retry-after-401", "the right server asks for a password, then an interceptor takes over", .refused,
                reference: "RFC 9110 section 15.5.2", stake: "the retry carries the password",
                .challenge(genuine, then: interceptor)),
            Attack(
                "stall-mid-handshake", "a server that stops in the middle of the handshake", .refused,
                reference: "RFC 8446 section 4.4", stake: "a server can block the client forever",
                // Longer than any client waits. The connection ends with the server.
                configured { $0.stall = .midHandshake(seconds: 86_400) }),
        ]
        if let other = cast.otherHost {
            let target = TLSServerConfiguration.Credential(try cast.interceptor(for: other))
            attacks.insert(
                Attack(
                    "redirect-to-unpinned-host", "the right server redirects the client to a host without pins",
                    .refused, reference: "RFC 9110 section 15.4", stake: "the request goes to a host without pins",
                    .redirect(genuine, host: other, to: target)), at: 2)
        }
        return attacks
    }
}
