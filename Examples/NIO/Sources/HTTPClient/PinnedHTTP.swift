import NIOCore
import NIOHTTP1
import NIOPosix
import Pintle
import PintleNIO

/// An HTTP/1.1 client with one connection for each request. It follows no redirect.
public struct PinnedHTTP: Sendable {
    /// The response was not complete in time.
    public struct TimedOut: Error {
        public let limit: TimeAmount
    }

    private let tls: PinnedTLS
    private let group: any EventLoopGroup
    private let limit: TimeAmount

    /// - Parameter limit: the time for a whole exchange, from connecting to the last byte. Limits on single steps are
    ///   not enough: a server can send one byte after the other for ever.
    public init(
        _ tls: PinnedTLS, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        limit: TimeAmount = .seconds(60)
    ) {
        self.tls = tls
        self.group = group
        self.limit = limit
    }

    /// Sends a GET request. Throws the reason if the policy refuses the server, and ``TimedOut`` after the limit.
    public func get(_ path: String, from server: ServerEndpoint) async throws -> Answer {
        let loop = group.any()
        let answer = loop.makePromise(of: Answer.self)
        let deadline = loop.scheduleTask(in: limit) { [limit] in answer.fail(TimedOut(limit: limit)) }
        answer.futureResult.whenComplete { _ in deadline.cancel() }
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer { [tls] channel in
            channel.eventLoop.makeCompletedFuture {
                try tls.addHandlers(to: channel, for: server)
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(ExchangeHandler(path, of: server, answer))
            }
        }
        do {
            let channel = try await bootstrap.connect(host: server.host.description, port: Int(server.port)).get()
            channel.closeFuture.whenComplete { _ in answer.fail(ChannelError.eof) }
            answer.futureResult.whenComplete { _ in channel.close(promise: nil) }
        } catch {
            answer.fail(error)
        }
        return try await answer.futureResult.get()
    }
}
