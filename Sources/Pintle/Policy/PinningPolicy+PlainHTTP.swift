extension PinningPolicy {
    /// Whether a host may be spoken to without TLS: only one that the policy has nothing to say about. A rule for one port
    /// speaks for every port, or whoever can alter a link could drop the pins.
    ///
    /// - Parameter ports: ``portsOfRules``, which somebody who asks often keeps.
    package func allowsPlainHTTP(to endpoint: ServerEndpoint, ports: @autoclosure () -> Set<UInt16>) -> Bool {
        guard AddressAlias(endpoint.host) == nil else { return false }
        guard unpinnedHosts == .systemTrust, rule(for: endpoint) == nil else { return false }
        return ports().allSatisfy { rule(for: ServerEndpoint(host: endpoint.host, port: $0)) == nil }
    }

    /// The ports that rules are for. Reads every rule.
    package var portsOfRules: Set<UInt16> { Set(hosts.compactMap(\.port)) }
}
