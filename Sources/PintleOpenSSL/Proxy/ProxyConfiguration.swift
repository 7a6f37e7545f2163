package import Pintle

/// The proxy to use, if any.
package enum ProxyConfiguration: Hashable, Sendable {
    /// A direct connection.
    case none
    /// A tunnel by HTTP CONNECT (RFC 9110 section 9.3.6). The connection to the proxy itself is not encrypted.
    case http(ServerEndpoint, ProxyCredentials? = nil)
    /// SOCKS 5 (RFC 1928). With `remoteDNS` the proxy resolves the name (`socks5h`); otherwise we do (`socks5`).
    case socks5(ServerEndpoint, ProxyCredentials? = nil, remoteDNS: Bool = true)
    /// SOCKS 4a. The proxy resolves the name; only IPv4 and names are possible. The user name is the only credential.
    case socks4a(ServerEndpoint, user: String? = nil)
}

/// A user name and password for a proxy. Printing one never shows the password.
package struct ProxyCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The user name, as the proxy expects it.
    package let user: String
    /// The password. No description contains it.
    package let password: String

    /// Creates credentials.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The user name, followed by asterisks in place of the password.
    package var description: String { "\(printable(Array(user.utf8))):***" }
    /// The same as ``description``.
    package var debugDescription: String { description }
}
