internal import Pintle
internal import PintleSystem

/// The keys that one result saw at a server, on the validated path.
struct KeyObservation: Sendable {
    /// The pin that decided a result, and its rule.
    final class Match: Sendable {
        let pin: Pin
        let rule: String?

        init(_ pin: Pin, rule: String?) { (self.pin, self.rule) = (pin, rule) }
    }

    /// The instant of the decision.
    let instant: Date
    let path: ObservedPath
    /// The pin that matched; `nil` if the decision was another one.
    let match: Match?
    /// A Boolean value that indicates whether the server was decided by pins and showed none of them.
    let isMismatch: Bool

    var leafKey: PublicKeyPin { path.leaf.key }
    /// The SHA-256 of the leaf certificate.
    var leafCertificate: CertificatePin { path.leaf.fingerprint }
    var notBefore: Date { path.leaf.notBefore }
    var notAfter: Date { path.leaf.notAfter }
    /// The issuer of the leaf, as text of the certificate.
    var issuer: String { path.leaf.name }
    /// The keys between leaf and root, the leaf's issuer first.
    var intermediates: [PublicKeyPin] { path.intermediates.map(\.key) }
    /// The root's key; `nil` if the result does not name the root.
    var root: PublicKeyPin? { path.root?.key }
}

/// A result that says nothing about a server's keys. No change is concluded from it.
struct KeyGap: Sendable, Hashable {
    let instant: Date
    /// The code of the error, the failure of the path, `no-certificates` or `conflicting-results`.
    let reason: String
}

extension AuditServer: Comparable {
    static func < (one: AuditServer, other: AuditServer) -> Bool {
        (one.endpoint.host.description, one.endpoint.port, one.description)
            < (other.endpoint.host.description, other.endpoint.port, other.description)
    }
}
