/// The reason that a proxy setting cannot be used. It names the variable and contains no credentials.
package struct ProxyError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The setting cannot be parsed.
        case invalid
        /// The scheme of the proxy is not supported (`https://`, `socks4://`, ...).
        case unsupported
    }

    package let kind: Kind
    /// The event, for people. Lower case, no full stop.
    package let message: String
    /// The remedy.
    package let hint: String

    init(_ kind: Kind, _ message: String, hint: String) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }
}
