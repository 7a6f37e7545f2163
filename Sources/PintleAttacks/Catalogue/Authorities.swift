package import PintleTestKit

/// The authorities and keys that the attacks on several hosts of one app share.
///
/// The client trusts both roots, as a machine trusts the authorities of its owner, its employer and a hundred
/// companies.
package struct Authorities: Sendable {
    /// The app's own authority, a root.
    let authority: CertificateAuthority
    /// The authority below ``authority`` that issues the server's certificates.
    let intermediate: CertificateAuthority
    /// A root that the client trusts as well, whose key an interceptor holds.
    let otherAuthority: CertificateAuthority
    /// The key of the right server.
    let serverKey: PrivateKey
    /// The backup key of the right server.
    let backup: PrivateKey
    /// The certificate of the app's client; `nil` for clients that are not told it.
    private(set) var client: Identity?
    /// A random name below `.invalid`, which no host has (RFC 2606 section 2).
    let foreignName: String
    /// The common names of the two roots, as a device lists them.
    package let names: [String]

    /// The top-level domain of the many names of one attack. They must be short, and no domain has one letter.
    static let bombSuffix = "h"

    /// Mints authorities for any host, for clients on this machine.
    package init() throws(MintingError) {
        try self.init(foreignName: Self.randomName(), suffix: "") { _ in }
    }

    /// Mints authorities that a device may trust for a test: they live 24 hours, and their critical name constraints
    /// (RFC 5280 section 4.2.1.10) permit only the hosts, names below `.invalid`, and ``bombSuffix``.
    /// - Parameter hosts: names and addresses.
    package init(constrainedTo hosts: [String]) throws(MintingError) {
        let foreign = Self.randomName()
        let names = hosts.map(CertificateTemplate.GeneralName.host)
        let networks = names.compactMap { name -> CertificateTemplate.GeneralName? in
            guard case .ip(let octets) = name else { return nil }
            return .ip(octets + [UInt8](repeating: 0xFF, count: octets.count))
        }
        let permitted =
            names.filter { if case .ip = $0 { false } else { true } } + [.dns("invalid"), .dns(Self.bombSuffix)]
            // The constraint to one address, or to none, keeps other addresses out.
            + (networks.isEmpty
                ? [.ip([UInt8](repeating: 0, count: 4) + [UInt8](repeating: 0xFF, count: 4))] : networks)
        // A device lists these names, so they tell the roots of several runs apart.
        let suffix = " " + foreign.dropFirst().prefix(6)
        try self.init(foreignName: foreign, suffix: suffix) { template in
            template.notAfter = .fromNow(days: 1)
            template.nameConstraints = .nameConstraints(permitted: permitted)
        }
    }

    private init(
        foreignName: String, suffix: String, root configure: (inout CertificateTemplate) -> Void
    ) throws(MintingError) {
        self.foreignName = foreignName
        names = ["Rehearsal Root" + suffix, "Interceptor's Root" + suffix]
        authority = try .root(name: "Rehearsal Root" + suffix, configure: configure)
        intermediate = try authority.intermediate(name: "Rehearsal Intermediate" + suffix)
        otherAuthority = try .root(name: "Interceptor's Root" + suffix, configure: configure)
        serverKey = try PrivateKey()
        backup = try PrivateKey()
    }

    /// Mints a certificate for the app's client, issued by a separate authority below ``authority``.
    package mutating func mintClient() throws(MintingError) {
        client = try authority.intermediate(name: "Rehearsal Client Authority").issueClient(name: "Rehearsal Client")
    }

    /// Returns the name of a host without pins for a redirect, another one for each host of the app. It is below
    /// `.invalid`, so that only a proxy finds it.
    package func unpinnedName(_ number: Int) -> String { "unpinned\(number)-\(foreignName)" }

    private static func randomName() -> String {
        "h" + String(UInt64.random(in: 1 << 60 ... .max), radix: 16) + ".invalid"
    }
}

/// The certificates and keys of the attacks: the app's own authority and server, and a second authority. The client
/// trusts both, as a machine trusts the authorities of its owner, its employer and a hundred companies.
package struct Certificates: Sendable {
    /// The name or address that the servers are for.
    package let host: String
    /// Another name or address that leads to the same machine, or `nil`.
    package let secondHost: String?
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
    /// The right server of ``secondHost``, with a key of its own.
    package let secondGenuine: Identity?
    /// The certificate of the app's client; `nil` for clients that are not told it.
    package let client: Identity?
    /// A random name below `.invalid`, which no host has (RFC 2606 section 2).
    let foreignName: String

    init(host: String, secondHost: String?, authorities: Authorities) throws(MintingError) {
        self.host = host
        self.secondHost = secondHost
        foreignName = authorities.foreignName
        authority = authorities.authority
        intermediate = authorities.intermediate
        otherAuthority = authorities.otherAuthority
        genuine = try intermediate.issue(hosts: [host], key: authorities.serverKey)
        backup = authorities.backup
        client = authorities.client
        if let secondHost { secondGenuine = try intermediate.issue(hosts: [secondHost]) } else { secondGenuine = nil }
    }

    /// The only certificates that the client may trust, in PEM: the roots of ``authority`` and ``otherAuthority``.
    package var anchorsPEM: String { authority.certificate.pem + otherAuthority.certificate.pem }

    /// The question for ``client``, which a client may leave unanswered.
    var question: TLSServerConfiguration.ClientCertificateQuestion {
        .init(isRequired: false, authorities: Array((client?.issuers ?? []).prefix(1)))
    }

    /// Network and mask of addresses for documentation (RFC 5737). Neither host is in that network.
    var foreignNetwork: [UInt8] {
        let network: [UInt8] =
            [host, secondHost].contains { $0?.hasPrefix("192.0.2.") == true } ? [203, 0, 113] : [192, 0, 2]
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
