/// The server that a proxy connects a client to when it asks for a name and a port.
package struct AttackRoute: Sendable, Hashable {
    /// The name or address in the client's URL.
    package let host: String
    /// The port in the client's URL.
    package let port: UInt16
    /// The port of the server on loopback.
    package let server: UInt16

    package init(host: String, port: UInt16, server: UInt16) {
        (self.host, self.port, self.server) = (host, port, server)
    }
}
