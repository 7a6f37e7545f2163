internal import COpenSSL

extension MintingError {
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
