// A channel of SwiftNIO with a policy. It is compiled only with the trait NIO, as Examples/NIO does.
#if NIO
import NIOCore
import NIOPosix
import PintleNIO

func connect(by policy: PinningPolicy, on group: any EventLoopGroup) async throws -> any Channel {
    // snippet.connect
    let tls = try PinnedTLS(policy: policy)
    let server = ServerEndpoint(host: try ServerName("example.com"))
    let channel = try await ClientBootstrap(group: group)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try tls.addHandlers(to: channel, for: server) }
        }
        .connect(host: "example.com", port: 443).get()
    // snippet.end
    return channel
}
#endif
