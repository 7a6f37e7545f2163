/// The reason why a client's certificate or key cannot be used, and the remedy.
///
/// Neither the key nor the password is part of it.
public struct ClientIdentityError: Error, Hashable, Sendable {
    /// The reasons. Their raw values do not change.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The input is larger than 1 MiB, or has more certificates than a server needs.
        case tooLarge = "too-large"
        /// A certificate cannot be parsed, or the PEM around it.
        case unreadableCertificate = "unreadable-certificate"
        /// There is no certificate.
        case noCertificate = "no-certificate"
        /// The key cannot be parsed, or the PEM around it.
        case unreadableKey = "unreadable-key"
        /// There is no private key.
        case noKey = "no-key"
        /// The input is not PKCS#12 (RFC 7292), or is damaged.
        case unreadablePKCS12 = "unreadable-pkcs12"
        /// The key or the PKCS#12 file is encrypted, and there is no password.
        case passwordRequired = "password-required"
        /// The password does not open the key or the PKCS#12 file.
        case wrongPassword = "wrong-password"
        /// The derivation of a key from the password would take more than five million iterations.
        case tooManyIterations = "too-many-iterations"
        /// The key belongs to another certificate.
        case keyMismatch = "key-mismatch"
        /// All certificates belong to authorities: the client's own certificate is missing.
        case missingLeaf = "missing-leaf"
        /// OpenSSL does not take the certificate or the key, for example because the key is too short.
        case unusable
    }

    /// The reason, stable for machines.
    public let code: Code
    /// The reason in English, for people.
    public let message: String
    /// The remedy, if one is known.
    public let hint: String?

    init(_ code: Code, _ message: String, hint: String? = nil) {
        (self.code, self.message, self.hint) = (code, message, hint)
    }
}

extension ClientIdentityError: CustomStringConvertible {
    /// The reason and the remedy.
    public var description: String { hint.map { "\(message); \($0)" } ?? message }
}
