/// The certificates and keys of the attacks: those of an app's own authority and server, and those of a second authority that
/// the client trusts too, as a machine trusts those of its owner, of its employer and of a hundred companies.
public struct AttackCast: Sendable {
    /// The name or address that the servers are for.
    public let host: String
    /// Another name or address that leads to the same machine; `nil` where there is none.
    public let otherHost: String?
    /// The app's own authority, a root.
    public let authority: CertificateAuthority
    /// The authority below ``authority`` that issues the server's certificates.
    public let intermediate: CertificateAuthority
    /// A root that the client trusts as well, whose key an interceptor holds.
    public let otherAuthority: CertificateAuthority
    /// The right server.
    public let genuine: Identity
    /// The key that the right server has in reserve.
    public let backup: PrivateKey
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
    }

    /// The only certificates that the client is to trust, in PEM: the roots of ``authority`` and ``otherAuthority``.
    public var anchorsPEM: String { authority.certificate.pem + otherAuthority.certificate.pem }

    /// Network and mask of addresses for documentation (RFC 5737) that neither host is in.
    var foreignNetwork: [UInt8] {
        let network: [UInt8] =
            [host, otherHost].contains { $0?.hasPrefix("192.0.2.") == true } ? [203, 0, 113] : [192, 0, 2]
        return network + [0, 255, 255, 255, 0]
    }

    /// Returns the identity of an interceptor, issued by an authority that the client trusts.
    func interceptor(for host: String? = nil) throws(MintingError) -> Identity {
        try otherAuthority.issue(hosts: [host ?? self.host])
    }

    /// The right server's key in a certificate that is wrong in one thing.
    func spoilt(_ configure: (inout CertificateTemplate) -> Void) throws(MintingError) -> Identity {
        try intermediate.issue(hosts: [host], key: genuine.key, configure: configure)
    }
}
