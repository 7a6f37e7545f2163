/// A key or certificate that could not be made: the system's cryptography does not have what was asked for, such as an RSA
/// key of 100 bits or a signature by a key that cannot sign.
public struct MintingError: Error, Sendable, CustomStringConvertible {
    /// The step that failed.
    public let operation: String
    /// The words of OpenSSL or CryptoKit, or a remedy.
    public let reason: String

    package init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    /// The step that failed and why.
    public var description: String { "\(operation): \(reason)" }
}
