/// A server's host and port.
public struct ServerEndpoint: Sendable, Hashable {
    /// The host: a DNS name or an IP address.
    public let host: ServerName
    /// The TCP port.
    public let port: UInt16

    /// Creates an endpoint.
    public init(host: ServerName, port: UInt16 = 443) {
        self.host = host
        self.port = port
    }
}

extension ServerEndpoint: CustomStringConvertible {
    /// The host and port: `example.com:443`. IPv6 addresses are in brackets.
    public var description: String {
        host.ipAddress?.isIPv6 == true ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ServerEndpoint {
    /// Creates the endpoint of an `https` URL, or `nil` for any other URL.
    ///
    /// This is not a full URL parser. It accepts only the plain form `https://HOST[:PORT][/...]` and refuses everything
    /// on which URL parsers disagree: user-info, backslashes, blanks, control characters and non-ASCII characters.
    package init?(httpsURL url: some StringProtocol) {
        guard url.utf8.count <= 8192, url.prefix(8).lowercased() == "https://" else { return nil }
        let rest = url.dropFirst(8)
        guard rest.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else { return nil }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { return nil }
        // Without brackets, the last group of an IPv6 address would be taken for a port.
        guard authority.hasPrefix("[") || authority.filter({ $0 == ":" }).count <= 1 else { return nil }
        self.init(authority)
    }

    /// Parses `HOST[:PORT]`, by default with port 443. An IPv6 address with a port must be in brackets.
    package init?(_ authority: some StringProtocol, defaultPort: UInt16 = 443) {
        var host = Substring(authority)
        var port = defaultPort
        let isBareIPv6 = !host.hasPrefix("[") && host.filter({ $0 == ":" }).count > 1
        if !isBareIPv6, let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
            let digits = host[host.index(after: colon)...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(digits),
                number > 0
            else { return nil }
            port = number
            host = host[..<colon]
        }
        guard let name = try? ServerName(host) else { return nil }
        self.init(host: name, port: port)
    }
}
