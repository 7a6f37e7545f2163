import NIOCore
import NIOPosix
import Pintle
import PintleNIO

/// A pool of one connection. It asks the policy before each call, and drops a connection that the policy no longer
/// stands behind.
actor EchoClient {
    private let tls: PinnedTLS
    private let server: ServerEndpoint
    private var connection: Connection?
    private(set) var connectionCount = 0

    init(_ tls: PinnedTLS, _ server: ServerEndpoint) {
        self.tls = tls
        self.server = server
    }

    func echo(_ text: String) async throws -> String {
        try await usable().call(text)
    }

    private func usable() async throws -> Connection {
        // A channel that has been closed in the meantime has no receipt.
        if let connection, let receipt = try? await connection.channel.trustReceipt().get(),
            connection.channel.isActive, tls.allows(receipt, for: server)
        {
            return connection
        }
        try? await connection?.channel.close()
        connection = nil
        connectionCount += 1
        let made = try await Connection(to: server) { [tls, server] channel in
            try tls.addHandlers(to: channel, for: server)
        }
        connection = made
        return made
    }
}
