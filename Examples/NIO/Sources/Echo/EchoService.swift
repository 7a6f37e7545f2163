import NIOCore
import NIOPosix
import NIOSSL
import PintleTestKit
import Synchronization

/// Sends every message back.
final class EchoService: Sendable {
    private let messages = Messages()
    private let channel: any Channel

    init(_ identity: Identity) async throws {
        let chain = try identity.chain.map { NIOSSLCertificateSource.certificate(try .init(bytes: $0, format: .der)) }
        let key = try NIOSSLPrivateKey(bytes: Array(identity.key.pem.utf8), format: .pem)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
        let messages = messages
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), ByteToMessageHandler(FrameCodec()),
                        MessageToByteHandler(FrameCodec()), EchoHandler(messages),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }
    var received: [String] { messages.texts }
}

final class Messages: Sendable {
    private let stored = Mutex<[String]>([])
    var texts: [String] { stored.withLock { $0 } }
    func add(_ text: String) { stored.withLock { $0.append(text) } }
}

private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = String
    typealias OutboundOut = String
    private let messages: Messages

    init(_ messages: Messages) { self.messages = messages }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = unwrapInboundIn(data)
        messages.add(text)
        context.writeAndFlush(wrapOutboundOut(text), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
