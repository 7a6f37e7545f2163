/// A table that finds the rule for a host and port, at a cost independent of the number of rules.
///
/// **Order.** Among the rules that cover a host and port, the most specific one wins. The criteria, in this order:
///
/// 1. a rule for this port before a rule for every port;
/// 2. a rule for this host before a rule for a parent domain;
/// 3. the longest parent domain first.
///
/// For a connection to `api.example.com:8443`, a rule for `example.com` port 8443 with its subdomains therefore beats a
/// rule for `api.example.com` without a port. No two rules that cover a name are equal in all three criteria, because
/// the table holds each host and port only once.
///
/// Swift seeds the hashes of a dictionary at random, so an attacker who chooses the hosts of a policy cannot make them
/// collide.
struct HostTable: Sendable {
    /// The rule that decides, and whether it names the host itself.
    struct Match: Sendable, Hashable {
        /// The index that the rule was added with.
        let rule: Int
        /// A Boolean value that indicates whether the rule names the host itself, rather than a parent domain.
        let isExact: Bool
    }

    private struct Key: Hashable {
        let host: ArraySlice<UInt8>
        let port: UInt16?
    }

    private var rules: [Key: (index: Int, includesSubdomains: Bool)] = [:]
    private var hasPorts = false

    /// Adds a rule, unless there is one for the same host and port.
    ///
    /// - Parameters:
    ///   - index: the rule's index.
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot.
    ///   - port: `nil` for every port.
    ///   - includesSubdomains: whether the rule also covers every host that ends in a dot and this host.
    /// - Returns: the index of the earlier rule for this host and port, which decides; `nil` if the rule was added.
    mutating func add(_ index: Int, host: [UInt8], port: UInt16?, includesSubdomains: Bool) -> Int? {
        let key = Key(host: host[...], port: port)
        if let earlier = rules[key] { return earlier.index }
        rules[key] = (index, includesSubdomains)
        hasPorts = hasPorts || port != nil
        return nil
    }

    /// Returns the most specific rule for a host and port, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - host: the canonical bytes: ASCII, lower case, no trailing dot.
    ///   - port: the port of the connection.
    ///   - allowsSubdomainMatch: `false` for IP addresses, whose dots do not separate labels.
    func match(host: [UInt8], port: UInt16, allowsSubdomainMatch: Bool) -> Match? {
        if hasPorts, let match = match(host, rulePort: port, allowsSubdomainMatch) { return match }
        return match(host, rulePort: nil, allowsSubdomainMatch)
    }

    /// Returns the most specific rule for a server, or `nil` if there is none.
    func match(_ endpoint: ServerEndpoint) -> Match? {
        match(
            host: endpoint.host.canonical, port: endpoint.port, allowsSubdomainMatch: endpoint.host.ipAddress == nil)
    }

    /// Looks up the host itself, then its parent domains from the longest to the shortest, among the rules of exactly
    /// this port.
    private func match(_ host: [UInt8], rulePort: UInt16?, _ allowsSubdomainMatch: Bool) -> Match? {
        if let rule = rules[Key(host: host[...], port: rulePort)] { return Match(rule: rule.index, isExact: true) }
        guard allowsSubdomainMatch else { return nil }
        // A dot at the beginning ends no label.
        for dot in host.indices.dropFirst() where host[dot] == UInt8(ascii: ".") {
            if let rule = rules[Key(host: host[(dot + 1)...], port: rulePort)], rule.includesSubdomains {
                return Match(rule: rule.index, isExact: false)
            }
        }
        return nil
    }
}
