internal import Pintle
internal import PintleOpenSSL

// SOCKS 5 (RFC 1928), its authentication by user name and password (RFC 1929), and SOCKS 4a.
extension ProxyTunnel {
    /// - Throws: `proxy-refused`, `proxy-authentication-required`, `proxy-protocol`, `proxy-timeout`,
    ///   `name-not-resolved` without remote DNS.
    borrowing func openBySOCKS5(
        to destination: ServerEndpoint, credentials: ProxyCredentials?, remoteDNS: Bool
    ) throws(HandshakeError) {
        let address = try Self.address(of: destination, remoteDNS: remoteDNS)
        let none: UInt8 = 0
        let userAndPassword: UInt8 = 2
        try send(credentials == nil ? [5, 1, none] : [5, 2, none, userAndPassword])
        let choice = try receive(exactly: 2)
        guard choice[0] == 5 else { throw notSOCKS(choice) }
        switch (choice[1], credentials) {
        case (none, _): break
        case (userAndPassword, let credentials?): try authenticate(credentials)
        default: throw unauthenticated(credentials != nil)
        }

        try send([5, 1, 0] + address + Self.bigEndian(destination.port))
        let reply = try receive(exactly: 4)
        guard reply[0] == 5 else { throw notSOCKS(reply) }
        guard reply[1] == 0 else { throw refused(destination, Self.reason(reply[1])) }
        // The address that the proxy uses follows; it must be read to reach the tunnel's bytes.
        switch reply[3] {
        case 1: _ = try receive(exactly: 4 + 2)
        case 3: _ = try receive(exactly: Int(try receive(exactly: 1)[0]) + 2)
        case 4: _ = try receive(exactly: 16 + 2)
        default: throw notSOCKS(reply)
        }
    }

    borrowing func openBySOCKS4a(to destination: ServerEndpoint, user: String?) throws(HandshakeError) {
        let userID = Array((user ?? "").utf8)
        guard userID.count <= 255, !userID.contains(0) else {
            throw Self.badCredentials("a SOCKS 4a user name has at most 255 bytes and no NUL")
        }
        var request: [UInt8] = [4, 1] + Self.bigEndian(destination.port)
        if let address = destination.host.ipAddress, !address.isIPv6 {
            request += address.octets + userID + [0]
        } else if !destination.isAddress {
            // The invalid address 0.0.0.x means that the name follows.
            request += [0, 0, 0, 1] + userID + [0] + Array(destination.name.utf8) + [0]
        } else {
            throw HandshakeError(
                .proxyUnsupported, "SOCKS 4a cannot connect to an IPv6 address (\(destination))",
                hint: "use a socks5h:// proxy"
            )
        }
        try send(request)
        let reply = try receive(exactly: 8)
        guard reply[0] == 0 else { throw notSOCKS(reply) }
        switch reply[1] {
        case 90: return
        case 92, 93: throw unauthenticated(user != nil)
        default: throw refused(destination, "SOCKS 4 code \(reply[1])")
        }
    }

    private borrowing func authenticate(_ credentials: ProxyCredentials) throws(HandshakeError) {
        let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
        guard let userCount = UInt8(exactly: user.count), let passwordCount = UInt8(exactly: password.count),
            userCount > 0, passwordCount > 0
        else { throw Self.badCredentials("a SOCKS 5 user name or password has 1 to 255 bytes") }
        try send([1, userCount] + user + [passwordCount] + password)
        guard try receive(exactly: 2)[1] == 0 else { throw unauthenticated(true) }
    }

    /// Returns ATYP and address. Without remote DNS, the name is resolved here and the first address is used, so that
    /// the proxy does not see the name.
    private static func address(of destination: ServerEndpoint, remoteDNS: Bool) throws(HandshakeError) -> [UInt8] {
        if let literal = destination.host.ipAddress { return typed(literal.octets) }
        if !remoteDNS {
            return try address(of: destination, at: SocketAddress.resolve(destination, as: .server))
        }
        // At most 253 bytes, which `ServerName` guarantees.
        return [3, UInt8(truncatingIfNeeded: destination.name.utf8.count)] + Array(destination.name.utf8)
    }

    static func address(
        of destination: ServerEndpoint, at addresses: [SocketAddress]
    ) throws(HandshakeError) -> [UInt8] {
        guard let octets = addresses.first?.octets else {
            throw HandshakeError(
                .nameNotResolved, "cannot resolve \(destination.host): no address that SOCKS 5 could carry",
                hint: "let the proxy resolve it: socks5h://"
            )
        }
        return typed(octets)
    }

    private static func typed(_ octets: [UInt8]) -> [UInt8] { [octets.count == 16 ? 4 : 1] + octets }

    private static func bigEndian(_ port: UInt16) -> [UInt8] {
        [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
    }

    private static func badCredentials(_ what: String) -> HandshakeError {
        HandshakeError(.invalidProxy, what, hint: "check the user name and password in HTTPS_PROXY or ALL_PROXY")
    }

    private func notSOCKS(_ bytes: [UInt8]) -> HandshakeError {
        mismatch("it does not speak SOCKS (\"\(printable(bytes))\")")
    }

    private static func reason(_ code: UInt8) -> String {
        switch code {
        case 1: "general failure"
        case 2: "not allowed by its rules"
        case 3: "network unreachable"
        case 4: "host unreachable"
        case 5: "connection refused"
        case 6: "TTL expired"
        case 7: "command not supported"
        case 8: "address type not supported"
        default: "SOCKS 5 code \(code)"
        }
    }
}
