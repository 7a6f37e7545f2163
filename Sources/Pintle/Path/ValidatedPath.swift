/// A certification path that validation has built and accepted, from leaf to anchor.
///
/// It holds every certificate of the path, even an anchor that the server did not send, and no other certificate that
/// the server sent. Pins are compared only with these certificates.
public struct ValidatedPath: Sendable, Hashable {
    /// The certificates in DER, the leaf first, the trust anchor last.
    public let certificates: [[UInt8]]

    /// Wraps a path that the caller's own validation has just built. It is meant for adapters.
    ///
    /// Nothing is validated here. If a caller passed the chain that a server sent, an attacker could match a pin by
    /// appending the pinned certificate to a chain of their own.
    public init(uncheckedLeafToAnchor certificates: [[UInt8]]) {
        self.certificates = certificates
    }

    /// The public-key pins of the path, leaf first. A certificate whose key cannot be read is skipped.
    public var publicKeyPins: [PublicKeyPin] {
        certificates.compactMap { PublicKeyPin(sliceOf: $0) }
    }
}

extension ValidatedPath: CustomStringConvertible {
    /// The public-key pins of the path, leaf first.
    public var description: String { publicKeyPins.map(\.description).joined(separator: ", ") }
}
