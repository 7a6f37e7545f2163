package import Pintle

/// The server to connect to. Its name is sent in SNI, and the verdict is about it.
package struct HandshakeTarget: Hashable, Sendable {
    /// The server that the caller means and that the verdict is about.
    package let endpoint: ServerEndpoint

    /// The endpoint to connect to instead of ``endpoint``, if any. SNI and the verdict still use ``endpoint``. Use this
    /// to check one machine behind a load balancer, or a server before its DNS entry moves.
    package var connectTo: ServerEndpoint?

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - endpoint: the server that the verdict is about.
    ///   - connectTo: the endpoint to connect to instead; `nil` to connect to `endpoint`.
    package init(_ endpoint: ServerEndpoint, connectTo: ServerEndpoint? = nil) {
        self.endpoint = endpoint
        self.connectTo = connectTo
    }

    /// Creates a target from a host name or IP literal.
    ///
    /// - Parameters:
    ///   - host: the host that the verdict is about.
    ///   - port: the port.
    ///   - connectTo: the endpoint to connect to instead; `nil` to connect to the host.
    /// - Throws: ``HandshakeError`` with the code `invalid-host`.
    package init(host: String, port: UInt16 = 443, connectTo: ServerEndpoint? = nil) throws(HandshakeError) {
        self.init(try ServerEndpoint(host: host, port: port), connectTo: connectTo)
    }

    /// - Throws: `invalid-host` if the system would connect to another address than the judged one.
    func requireOwnAddress() throws(HandshakeError) {
        guard let alias = AddressAlias(endpoint.host) else { return }
        throw HandshakeError(.invalidHost, alias.message, hint: alias.hint)
    }

    /// The endpoint to which TCP or the proxy connects.
    var destination: ServerEndpoint { connectTo ?? endpoint }
}

extension ServerEndpoint {
    /// - Throws: ``HandshakeError`` with the code `invalid-host`.
    package init(host: String, port: UInt16) throws(HandshakeError) {
        guard port > 0 else { throw .invalidHost(host, why: "port 0 cannot be connected to") }
        do {
            self.init(host: try ServerName(host), port: port)
        } catch {
            throw .invalidHost(host, why: error.hint)
        }
    }

    /// The host, as the same string for the resolver, SNI and the verdict.
    var name: String { host.description }

    /// A Boolean value that indicates whether the host is an IP address, which SNI cannot carry (RFC 6066 section 3).
    var isAddress: Bool { host.ipAddress != nil }
}
