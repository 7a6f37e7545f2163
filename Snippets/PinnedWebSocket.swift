// A web socket over SwiftNIO with a policy. It is compiled only with the trait NIO, as Examples/NIO does.
#if NIO
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import PintleNIO

/// The server did not change from HTTP to a web socket.
public struct UpgradeRefused: Error {}

/// Opens a web socket. The upgrade request is sent only to a server that the policy trusts.
public func openWebSocket(
    to server: ServerEndpoint, path: String, _ tls: PinnedTLS, on group: any EventLoopGroup,
    within limit: TimeAmount = .seconds(10)
) async throws -> NIOAsyncChannel<WebSocketFrame, WebSocketFrame> {
    // snippet.upgrade
    let request = HTTPRequestHead(
        version: .http1_1, method: .GET, uri: path, headers: ["Host": "\(server)", "Content-Length": "0"])
    let upgrader = NIOTypedWebSocketClientUpgrader { channel, _ in
        channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<WebSocketFrame, WebSocketFrame>(wrappingChannelSynchronously: channel)
        }
    }
    let upgrade = try await ClientBootstrap(group: group)
        .connect(host: server.host.description, port: Int(server.port)) { channel in
            channel.eventLoop.makeCompletedFuture {
                try tls.addHandlers(to: channel, for: server)
                let upgrade = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                    configuration: .init(
                        upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                            upgradeRequestHead: request, upgraders: [upgrader],
                            notUpgradingCompletionHandler: { $0.close().flatMapThrowing { throw UpgradeRefused() } })))
                // A server that does not answer must not hold the client.
                let deadline = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
                upgrade.whenComplete { _ in deadline.cancel() }
                return upgrade
            }
        }
    let socket = try await upgrade.get()
    // snippet.end
    return socket
}
#endif
