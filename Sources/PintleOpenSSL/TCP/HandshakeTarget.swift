public import Pintle

/// The server that is asked for: its name is what SNI carries and what the verifier judges.
public struct HandshakeTarget: Hashable, Sendable {
    /// The server that the caller means, which the verdict is about.
    public let endpoint: ServerEndpoint

    /// Where the bytes go instead, if anywhere: SNI and verification still use ``endpoint``. The way to
    /// look at one machine behind a load balancer, or at a server before its DNS entry moves.
    public var connectTo: ServerEndpoint?

    /// A target that is connected to where its name or address leads, or at another place.
    public init(_ endpoint: ServerEndpoint, connectTo: ServerEndpoint? = nil) {
        self.endpoint = endpoint
        self.connectTo = connectTo
    }

    /// - Throws: ``HandshakeError`` with the code `invalid-host`.
    public init(host: String, port: UInt16 = 443, connectTo: ServerEndpoint? = nil) throws(HandshakeError) {
        self.init(try ServerEndpoint(host: host, port: port), connectTo: connectTo)
    }

    /// - Throws: `invalid-host` where the system would connect to another address than the one that is judged.
    func requireOwnAddress() throws(HandshakeError) {
        guard let alias = AddressAlias(endpoint.host) else { return }
        throw HandshakeError(.invalidHost, alias.message, hint: alias.hint)
    }

    /// Where TCP, or the proxy, has to connect to.
    var destination: ServerEndpoint { connectTo ?? endpoint }
}
