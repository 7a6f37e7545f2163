/// Where on the validated path a pin may match.
public enum PinPosition: String, Sendable, Hashable, CaseIterable {
    /// Anywhere, leaf to anchor.
    case any
    /// The server's own certificate.
    case leaf
    /// Any certificate above the leaf.
    case ca

    func covers(depth: Int) -> Bool {
        switch self {
        case .any: true
        case .leaf: depth == 0
        case .ca: depth > 0
        }
    }
}

/// A key or a certificate that a rule accepts, and where.
public struct Pin: Sendable, Hashable {
    /// What is compared.
    public enum Subject: Sendable, Hashable {
        /// A key, in any certificate that holds it.
        case publicKey(PublicKeyPin)
        /// A certificate, byte for byte.
        case certificate(CertificatePin)
    }

    /// The key or certificate that has to match.
    public let subject: Subject
    /// Where on the path it may match.
    public let position: PinPosition

    /// A pin of a key or certificate, which matches at the position.
    public init(_ subject: Subject, at position: PinPosition = .any) {
        self.subject = subject
        self.position = position
    }

    /// A public-key pin, in any notation that ``PublicKeyPin/init(_:)`` reads.
    public static func publicKey(_ text: String, at position: PinPosition = .any) throws(PinError) -> Pin {
        Pin(.publicKey(try PublicKeyPin(text)), at: position)
    }

    /// A fingerprint, in any notation that ``CertificatePin/init(_:)`` reads.
    public static func certificate(_ text: String, at position: PinPosition = .any) throws(PinError) -> Pin {
        Pin(.certificate(try CertificatePin(text)), at: position)
    }
}

extension Pin: CustomStringConvertible {
    /// The pin alone, without its position.
    public var description: String {
        switch subject {
        case .publicKey(let pin): pin.description
        case .certificate(let pin): pin.description
        }
    }
}
