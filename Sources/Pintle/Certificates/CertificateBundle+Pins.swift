extension CertificateBundle {
    /// A pin of each key in the bundle, in the order of its certificates; a key that several certificates have is
    /// pinned once.
    ///
    /// A renewed certificate for the same key still matches. The bundle holds what is in use now, so that a backup
    /// pin has to come from elsewhere: from a key that is kept offline.
    ///
    ///     try PinnedHost("example.com", pins: bundle.publicKeyPins(), backupPins: [.publicKey("sha256/...")])
    ///
    /// - Parameter position: where on the validated path they may match.
    public func publicKeyPins(at position: PinPosition = .any) -> [Pin] {
        Self.unique(certificates.map { Pin(.publicKey($0.publicKeyPin), at: position) })
    }

    /// A pin of each certificate in the bundle, in its order. They hold until the certificates are renewed.
    ///
    /// - Parameter position: where on the validated path they may match.
    public func certificatePins(at position: PinPosition = .any) -> [Pin] {
        Self.unique(certificates.map { Pin(.certificate($0.fingerprint), at: position) })
    }

    private static func unique(_ pins: [Pin]) -> [Pin] {
        var known: Set<Pin> = []
        return pins.filter { known.insert($0).inserted }
    }
}
