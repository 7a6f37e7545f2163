internal import Pintle
internal import PintleSystem

/// A certificate that results name. Observations share it, so that each certificate is in memory once.
final class ObservedCertificate: Sendable {
    let key: PublicKeyPin
    let fingerprint: CertificatePin
    let notBefore: Date
    let notAfter: Date
    /// The issuer of a leaf, the subject of an authority. It is text of the certificate, which a stranger may have
    /// chosen.
    let name: String

    init(_ certificate: AuditCertificate, name: String) {
        key = certificate.spkiPin
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
        self.name = name
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

    var certificates: [ObservedCertificate] { [leaf] + intermediates + (root.map { [$0] } ?? []) }

    /// Returns `true` if a certificate at a place that the pin covers has the pinned key or fingerprint.
    func shows(_ pin: Pin) -> Bool {
        certificates.enumerated().contains { depth, certificate in
            guard pin.position.covers(depth: depth) else { return false }
            return switch pin.subject {
            case .publicKey(let key): certificate.key == key
            case .certificate(let fingerprint): certificate.fingerprint == fingerprint
            }
        }
    }
}
