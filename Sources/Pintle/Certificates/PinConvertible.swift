/// A pin, parsed or as text. ``PinnedHost`` takes lists of them.
public protocol PinConvertible {
    /// Returns the pin. Text is parsed in any notation that ``PublicKeyPin/init(_:)`` reads.
    func asPin() throws(PinError) -> Pin
}

/// A public-key pin, parsed or as text.
public protocol PublicKeyPinConvertible: PinConvertible {
    /// Returns the public-key pin. Text is parsed in any notation that ``PublicKeyPin/init(_:)`` reads.
    func asPublicKeyPin() throws(PinError) -> PublicKeyPin
}

extension PublicKeyPinConvertible {
    /// Returns the pin, which may match anywhere on the path.
    public func asPin() throws(PinError) -> Pin { Pin(.publicKey(try asPublicKeyPin())) }
}

extension String: PublicKeyPinConvertible {
    /// Parses the text in any notation that ``PublicKeyPin/init(_:)`` reads.
    public func asPublicKeyPin() throws(PinError) -> PublicKeyPin { try PublicKeyPin(self) }
}

extension Substring: PublicKeyPinConvertible {
    /// Parses the text in any notation that ``PublicKeyPin/init(_:)`` reads.
    public func asPublicKeyPin() throws(PinError) -> PublicKeyPin { try PublicKeyPin(self) }
}

extension PublicKeyPin: PublicKeyPinConvertible {
    /// Returns the pin itself.
    public func asPublicKeyPin() -> PublicKeyPin { self }
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
