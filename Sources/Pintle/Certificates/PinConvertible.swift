/// A pin, parsed or as text. ``PinnedHost`` takes lists of them, and one for the key of an issuer.
public protocol PinConvertible {
    /// Returns the pin. Text is parsed in any notation that ``PublicKeyPin/init(_:)`` reads.
    func asPin() throws(PinError) -> Pin
}

extension String: PinConvertible {
    /// Parses the text in any notation that ``PublicKeyPin/init(_:)`` reads. The pin may match anywhere on the path.
    public func asPin() throws(PinError) -> Pin { Pin(.publicKey(try PublicKeyPin(self))) }
}

extension Substring: PinConvertible {
    /// Parses the text in any notation that ``PublicKeyPin/init(_:)`` reads. The pin may match anywhere on the path.
    public func asPin() throws(PinError) -> Pin { Pin(.publicKey(try PublicKeyPin(self))) }
}

extension PublicKeyPin: PinConvertible {
    /// Returns the pin, which may match anywhere on the path.
    public func asPin() -> Pin { Pin(.publicKey(self)) }
}

extension CertificatePin: PinConvertible {
    /// Returns the pin, which may match anywhere on the path.
    public func asPin() -> Pin { Pin(.certificate(self)) }
}

extension Pin: PinConvertible {
    /// Returns the pin itself.
    public func asPin() -> Pin { self }
}

// In an extension of the protocol, so that `PinnedHost(..., pins: [.publicKey("...")])` finds them.
extension PinConvertible where Self == Pin {
    /// Parses a public-key pin, in any notation that ``PublicKeyPin/init(_:)`` reads.
    public static func publicKey(_ text: String, at position: PinPosition = .any) throws(PinError) -> Pin {
        Pin(.publicKey(try PublicKeyPin(text)), at: position)
    }

    /// Parses a fingerprint, in any notation that ``CertificatePin/init(_:)`` reads.
    public static func certificate(_ text: String, at position: PinPosition = .any) throws(PinError) -> Pin {
        Pin(.certificate(try CertificatePin(text)), at: position)
    }
}
