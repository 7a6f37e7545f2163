/// The certificates on the validated path that a pin may match.
public enum PinPosition: String, Sendable, Hashable, CaseIterable {
    /// Any certificate of the path, from leaf to anchor.
    case any
    /// The server's own certificate.
    case leaf
    /// Any certificate above the leaf.
    case ca

    package func covers(depth: Int) -> Bool {
        switch self {
        case .any: true
        case .leaf: depth == 0
        case .ca: depth > 0
        }
    }
}

/// A key or certificate that a rule accepts, and the position at which it may match.
public struct Pin: Sendable, Hashable {
    /// The key or certificate that a pin stands for.
    public enum Subject: Sendable, Hashable {
        /// A public key, in any certificate that holds it.
        case publicKey(PublicKeyPin)
        /// A certificate, byte for byte.
        case certificate(CertificatePin)
    }

    /// The key or certificate that must match.
    public let subject: Subject
    /// The position on the path at which the pin may match.
    public let position: PinPosition

    /// Creates a pin of a key or certificate.
    public init(_ subject: Subject, at position: PinPosition = .any) {
        self.subject = subject
        self.position = position
    }
}

extension Pin {
    /// The pinned key; `nil` for a pin of a certificate.
    package var key: PublicKeyPin? {
        if case .publicKey(let key) = subject { key } else { nil }
    }

    /// The fingerprint of the pinned certificate; `nil` for a pin of a key.
    package var fingerprint: CertificatePin? {
        if case .certificate(let fingerprint) = subject { fingerprint } else { nil }
    }
}

extension Pin: CustomStringConvertible {
    /// The text of the pin, without its position.
    public var description: String {
        switch subject {
        case .publicKey(let pin): pin.description
        case .certificate(let pin): pin.description
        }
    }
}
