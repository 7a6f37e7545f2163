internal import Pintle
internal import PintleSystem

/// A certificate that results name. Observations share it, so that each certificate is in memory once.
final class ObservedCertificate: Sendable {
    let key: PublicKeyPin
    let fingerprint: CertificatePin
    let notBefore: Date
    let notAfter: Date

    init(_ certificate: AuditCertificate) {
        key = certificate.spkiPin
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
    }
}

/// A validated path that results name. Observations share it.
final class ObservedPath: Sendable {
    let leaf: ObservedCertificate
    /// The certificates between leaf and root, the leaf's issuer first.
    let intermediates: [ObservedCertificate]
    /// The root; `nil` if the leaf is its own anchor, or if the result does not reach the root.
    let root: ObservedCertificate?

    init(leaf: ObservedCertificate, intermediates: [ObservedCertificate], root: ObservedCertificate?) {
        (self.leaf, self.intermediates, self.root) = (leaf, intermediates, root)
    }
}
