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
