import NIOCore
import NIOSSL
import Pintle
import PintleNIO

/// Makes NIOSSL's handler itself, as the NIO transport of gRPC Swift 2 does, and takes only the callback.
struct CallbackClient {
    private let tls: PinnedTLS
    private let server: ServerEndpoint

    init(_ tls: PinnedTLS, _ server: ServerEndpoint) {
        self.tls = tls
        self.server = server
    }

    func echo(_ text: String) async throws -> String {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        let connection = try await Connection(to: server) { [tls, server] channel in
            let handler = try NIOSSLClientHandler(
                context: context, serverHostname: server.host.description,
                customVerificationCallbackWithMetadata: tls.verification(of: server))
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        return try await connection.call(text)
    }
}
