/// The rule that decides about a server.
public struct MatchedRule: Sendable, Hashable {
    /// The rule's index in ``PinningPolicy/hosts``.
    public let index: Int
    /// The host of the rule, which may be a parent domain of the server's name.
    public let host: ServerName
    /// The port of the rule; `nil` if the rule covers every port.
    public let port: UInt16?
    /// A Boolean value that indicates whether the rule names the server's host itself. If false, the server is a
    /// sub-domain of it.
    public let isExact: Bool

    /// The host of the rule and its port, if it has one: `example.com:8443`.
    public var pattern: String {
        guard let port else { return host.description }
        return ServerEndpoint(host: host, port: port).description
    }
}

extension MatchedRule: CustomStringConvertible {
    /// The same text as ``pattern``.
    public var description: String { pattern }
}
