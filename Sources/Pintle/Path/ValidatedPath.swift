/// A certification path that validation has built and accepted, from leaf to anchor.
///
/// It holds every certificate of the path, even an anchor that the server did not send, and no other certificate that
/// the server sent. Pins are compared only with these certificates.
public struct ValidatedPath: Sendable, Hashable {
    /// The certificates in DER, the leaf first, the trust anchor last.
    public let certificates: [[UInt8]]
    /// The hashes of a path that exists only in a plan; `nil` for a path of certificates.
    private let planned: [CertificateHashes]?

    /// Wraps a path that the caller's own validation has just built. It is meant for adapters.
    ///
    /// Nothing is validated here. If a caller passed the chain that a server sent, an attacker could match a pin by
    /// appending the pinned certificate to a chain of their own.
    public init(uncheckedLeafToAnchor certificates: [[UInt8]]) {
        self.certificates = certificates
        planned = nil
    }

    /// Creates a path of certificates that do not exist yet and of which only the hashes are known, leaf first. The
    /// same decision serves both kinds of path, so a plan of a rotation needs no certificates.
    package init(planned hashes: [CertificateHashes]) {
        certificates = []
        planned = hashes
    }

    /// The public-key pins of the path, leaf first. A certificate whose key cannot be read is skipped.
    public var publicKeyPins: [PublicKeyPin] { (0..<count).compactMap(publicKeyPin) }

    /// The number of certificates.
    var count: Int { planned?.count ?? certificates.count }

    /// Returns the hash of the key at this depth, less than ``count``; `nil` if it cannot be read or is not known.
    func publicKeyPin(at depth: Int) -> PublicKeyPin? {
        if let planned { return planned[depth].key }
        return PublicKeyPin(sliceOf: certificates[depth])
    }

    /// Returns the hash of the certificate at this depth, less than ``count``; `nil` if it is not known.
    func fingerprint(at depth: Int) -> CertificatePin? {
        if let planned { return planned[depth].certificate }
        return CertificatePin(certificate: certificates[depth])
    }
}

/// The hashes by which a certificate can be pinned.
package struct CertificateHashes: Sendable, Hashable {
    /// The hash of the key; `nil` if it cannot be read or is not known.
    let key: PublicKeyPin?
    /// The hash of the certificate; `nil` if it is not known.
    let certificate: CertificatePin?

    package init(key: PublicKeyPin?, certificate: CertificatePin?) {
        self.key = key
        self.certificate = certificate
    }

    func matches(_ pin: Pin) -> Bool {
        switch pin.subject {
        case .publicKey(let pin): pin == key
        case .certificate(let pin): pin == certificate
        }
    }
}

extension ValidatedPath: CustomStringConvertible {
    /// The public-key pins of the path, leaf first.
    public var description: String { publicKeyPins.map(\.description).joined(separator: ", ") }
}
