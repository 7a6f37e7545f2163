/// The reason that a proxy setting cannot be used. It names the variable and contains no credentials.
package struct ProxyError: Error, Hashable, Sendable {
    /// The kind of error; stable, for programs.
    package enum Code: String, Hashable, Sendable {
        /// The setting cannot be parsed.
        case invalid = "invalid-proxy"
        /// The scheme of the proxy is not supported (`https://`, `socks4://`, ...).
        case unsupported = "proxy-unsupported"
    }

    package let code: Code
    /// The event, for people. Lower case, no full stop.
    package let message: String
    /// The remedy.
    package let hint: String

    init(_ code: Code, _ message: String, hint: String) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
