/// A certification path that validation has built and found good, leaf to anchor.
///
/// It holds every certificate of the path, an anchor that the server did not send included, and none
/// that the server sent beside it. Pins are compared with nothing else.
public struct ValidatedPath: Sendable, Hashable {
    /// DER, the leaf first, the trust anchor last.
    public let certificates: [[UInt8]]

    /// For adapters: wraps a path that the caller's own validation has just built.
    ///
    /// Unchecked: nothing is validated here. Handing over what a server merely sent would let anyone
    /// pass by appending a pinned certificate to a chain of their own.
    public init(uncheckedLeafToAnchor certificates: [[UInt8]]) {
        self.certificates = certificates
    }

    /// The public-key pins of the path, leaf first; a certificate whose key cannot be read has none.
    public var publicKeyPins: [PublicKeyPin] {
        certificates.compactMap { PublicKeyPin(sliceOf: $0) }
    }
}

extension ValidatedPath: CustomStringConvertible {
    /// The pins of its keys, leaf first.
    public var description: String { publicKeyPins.map(\.description).joined(separator: ", ") }
}
