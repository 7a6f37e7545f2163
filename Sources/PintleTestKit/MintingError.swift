internal import COpenSSL

/// A key or certificate that could not be made: what was asked for cannot be had from OpenSSL,
/// such as an RSA key of 100 bits or a signature by a key that cannot sign.
public struct MintingError: Error, Sendable, CustomStringConvertible {
    /// What was being done.
    public let operation: String
    /// What OpenSSL said, or what to do instead.
    public let reason: String

    public init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    public var description: String { "\(operation): \(reason)" }

    /// The error for an OpenSSL call that has just failed on this thread. Empties its error queue.
    static func openSSL(_ operation: String) -> MintingError {
        MintingError(operation: operation, reason: openSSLReason())
    }
}

/// The first error in this thread's OpenSSL queue, as text. Empties the queue.
func openSSLReason() -> String {
    let code = ERR_get_error()
    defer { ERR_clear_error() }
    guard code != 0, let text = ERR_reason_error_string(code) else { return "OpenSSL gave no reason" }
    return String(cString: text)
}
