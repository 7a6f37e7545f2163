/// Which rule decides for a host, and how it came to.
public struct MatchedRule: Sendable, Hashable {
    /// Position in ``PinningPolicy/hosts``.
    public let index: Int
    /// The host of the rule, not the server that was asked about.
    public let host: ServerName
    /// The port of the rule; `nil` for every port.
    public let port: UInt16?
    /// A Boolean value that indicates whether the rule names the host itself. Otherwise the host is a sub-domain.
    public let isExact: Bool

    /// The host and, where it has one, the port of the rule: `example.com:8443`.
    public var pattern: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}

extension MatchedRule: CustomStringConvertible {
    /// As ``pattern``.
    public var description: String { pattern }
}
