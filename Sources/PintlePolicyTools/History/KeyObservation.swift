internal import Pintle
internal import PintleSystem

/// The keys that one result saw at a server, on the validated path.
struct KeyObservation: Sendable {
    /// The instant of the decision.
    let instant: Date
    let path: ObservedPath

    var leafKey: PublicKeyPin { path.leaf.key }
    /// The SHA-256 of the leaf certificate.
    var leafCertificate: CertificatePin { path.leaf.fingerprint }
    var notBefore: Date { path.leaf.notBefore }
    var notAfter: Date { path.leaf.notAfter }
    /// The keys between leaf and root, the leaf's issuer first.
    var intermediates: [PublicKeyPin] { path.intermediates.map(\.key) }
    /// The root's key; `nil` if the result does not name the root.
    var root: PublicKeyPin? { path.root?.key }
}
