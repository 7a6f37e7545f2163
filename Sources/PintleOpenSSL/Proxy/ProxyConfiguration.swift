package import Pintle

/// How a server is reached.
package enum ProxyConfiguration: Hashable, Sendable {
    /// A connection without a proxy.
    case none
    /// A tunnel by CONNECT (RFC 9110 section 9.3.6), the way to the proxy itself in the clear.
    case http(ServerEndpoint, ProxyCredentials? = nil)
    /// SOCKS 5 (RFC 1928). `remoteDNS`: the proxy resolves the name (`socks5h`), else we do (`socks5`).
    case socks5(ServerEndpoint, ProxyCredentials? = nil, remoteDNS: Bool = true)
    /// SOCKS 4a: the proxy resolves the name; IPv4 and names only. The user name is its only credential.
    case socks4a(ServerEndpoint, user: String? = nil)
}

/// A user name and password for a proxy. Printing one never shows the password.
package struct ProxyCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The user name, as the proxy expects it.
    package let user: String
    /// The password. No description contains it.
    package let password: String

    /// A name and a password.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The user name, and asterisks for the password.
    package var description: String { "\(printable(Array(user.utf8))):***" }
    /// The same as ``description``.
    package var debugDescription: String { description }
}
