package import PintleTestKit
internal import Synchronization

/// The two authorities of a survey, and the certificates that they have issued for the hosts of the client.
///
/// The hosts are not known before the client asks for them, so no name constraints can limit these authorities. Their
/// keys are in memory only, and they end two hours after the survey began. Threads may share this object.
package final class SurveyAuthorities: Sendable {
    /// An authority that may have issued the certificate of an interceptor.
    package enum Issuer: String, Sendable, Hashable, CaseIterable {
        /// The authority that the client was told to trust.
        case known
        /// The authority that no machine trusts.
        case unknown
    }

    private struct Leaf: Hashable {
        let names: [String]
        let issuer: Issuer
    }

    private let known: CertificateAuthority
    private let unknown: CertificateAuthority
    /// The key of every interceptor.
    private let key: PrivateKey
    private let leaves = Mutex<[Leaf: TLSCredential]>([:])

    /// The validity of the authorities, in hours.
    package static let hours = 2

    package init() throws(MintingError) {
        // A device lists the name, so it tells the roots of several runs apart.
        let suffix = String(UInt32.random(in: 1 << 28 ... .max), radix: 16)
        let configure = { (template: inout CertificateTemplate) in
            template.notAfter = .fromNow(seconds: Self.hours * 3_600)
            template.basicConstraints = .init(isCA: true, pathLength: 0)
        }
        name = "Survey Root " + suffix
        known = try .root(name: name, configure: configure)
        unknown = try .root(name: "Unknown Root " + suffix, configure: configure)
        key = try PrivateKey()
    }

    /// The common name of the authority that the client must trust, as a device lists it.
    package let name: String

    /// The certificate that the client must trust, without its key.
    package var certificate: MintedCertificate { known.certificate }

    /// Returns the certificate for a host, which is minted once.
    ///
    /// - Parameter serverName: the name in the ClientHello. A client that connects to one host under the name of
    ///   another may check either.
    /// - Returns: `nil` if a name fits no certificate.
    func credential(for host: String, _ serverName: String?, by issuer: Issuer) -> TLSCredential? {
        let leaf = Leaf(names: [host] + (serverName.map { $0 == host ? [] : [$0] } ?? []), issuer: issuer)
        return leaves.withLock { leaves in
            if let credential = leaves[leaf] { return credential }
            guard let credential = try? mint(leaf) else { return nil }
            // The hosts are limited. A client that names others in its ClientHello must not fill the memory.
            if leaves.count < SurveyLog.hostLimit * Issuer.allCases.count { leaves[leaf] = credential }
            return credential
        }
    }

    private func mint(_ leaf: Leaf) throws(MintingError) -> TLSCredential {
        let authority = leaf.issuer == .known ? known : unknown
        let identity = try authority.issue(hosts: leaf.names, key: key) { template in
            template.notAfter = .fromNow(seconds: Self.hours * 3_600)
        }
        return try TLSCredential(TLSServerConfiguration.Credential(identity))
    }

    /// The credential of connections without a host, which no client gets.
    var placeholder: TLSServerConfiguration.Credential {
        get throws(MintingError) { .init(try unknown.issue(hosts: ["survey.invalid"], key: key)) }
    }
}
