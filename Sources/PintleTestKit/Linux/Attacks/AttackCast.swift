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

    init(host: String, otherHost: String?, authorities: AttackAuthorities) throws(MintingError) {
        self.host = host
        self.otherHost = otherHost
        foreignName = authorities.foreignName
        authority = authorities.authority
        intermediate = authorities.intermediate
        otherAuthority = authorities.otherAuthority
        genuine = try intermediate.issue(hosts: [host], key: authorities.serverKey)
        backup = authorities.backup
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
