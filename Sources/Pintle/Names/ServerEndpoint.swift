/// A server and the port on it.
public struct ServerEndpoint: Sendable, Hashable {
    /// The host, as a DNS name or an address.
    public let host: ServerName
    /// The TCP port.
    public let port: UInt16

    /// A server on a host.
    public init(host: ServerName, port: UInt16 = 443) {
        self.host = host
        self.port = port
    }
}

extension ServerEndpoint: CustomStringConvertible {
    /// `example.com:443`; IPv6 addresses in brackets.
    public var description: String {
        host.ipAddress?.isIPv6 == true ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ServerEndpoint {
    /// The server that an `https` URL leads to, or `nil` where it is none.
    ///
    /// Not a URL parser: it takes the plain form `https://HOST[:PORT][/...]` and refuses whatever URL
    /// parsers read differently from one another: user-info, back-slashes, blanks, control characters and
    /// anything beyond ASCII.
    package init?(httpsURL url: some StringProtocol) {
        guard url.utf8.count <= 8192, url.prefix(8).lowercased() == "https://" else { return nil }
        let rest = url.dropFirst(8)
        guard rest.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else { return nil }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { return nil }
        // Without brackets, the last group of an IPv6 address looks like a port.
        guard authority.hasPrefix("[") || authority.filter({ $0 == ":" }).count <= 1 else { return nil }
        self.init(authority)
    }

    /// Reads `HOST[:PORT]`; IPv6 addresses with a port stand in brackets. Port 443 by default.
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
