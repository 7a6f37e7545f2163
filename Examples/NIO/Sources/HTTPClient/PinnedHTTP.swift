import NIOCore
import NIOHTTP1
import NIOPosix
import Pintle
import PintleNIO

/// An HTTP/1.1 client with one connection for each request. It follows no redirect.
public struct PinnedHTTP: Sendable {
    private let tls: PinnedTLS
    private let group: any EventLoopGroup

    public init(_ tls: PinnedTLS, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) {
        self.tls = tls
        self.group = group
    }

    /// Sends a GET request. Throws the reason if the policy refuses the server.
    public func get(_ path: String, from server: ServerEndpoint) async throws -> Answer {
        let answer = group.any().makePromise(of: Answer.self)
        let bootstrap = ClientBootstrap(group: group).connectTimeout(.seconds(3)).channelInitializer { [tls] channel in
            channel.eventLoop.makeCompletedFuture {
                try tls.addHandlers(to: channel, for: server)
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(ExchangeHandler(path, of: server, answer))
            }
        }
        do {
            let channel = try await bootstrap.connect(host: server.host.description, port: Int(server.port)).get()
            channel.closeFuture.whenComplete { _ in answer.fail(ChannelError.eof) }
        } catch {
            answer.fail(error)
        }
        return try await answer.futureResult.get()
    }
}
