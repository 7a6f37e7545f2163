import NIOCore
import NIOPosix
import NIOTLS
import Pintle
import PintleNIO

/// A connection that carries one call after the other.
struct Connection: Sendable {
    let channel: any Channel

    /// Connects, and waits for the verdict.
    ///
    /// - Parameter addTLS: adds the handlers of TLS.
    init(to server: ServerEndpoint, _ addTLS: @escaping @Sendable (any Channel) throws -> Void) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let ready = loop.makePromise(of: Void.self)
        do {
            channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try addTLS(channel)
                        try channel.pipeline.syncOperations.addHandlers([
                            ByteToMessageHandler(FrameCodec()), MessageToByteHandler(FrameCodec()), CallHandler(ready),
                        ])
                    }
                }
                .connect(host: server.host.description, port: Int(server.port)).get()
        } catch {
            ready.fail(error)
            throw error
        }
        try await ready.futureResult.get()
    }

    func call(_ text: String) async throws -> String {
        let answer = channel.eventLoop.makePromise(of: String.self)
        channel.write(Call(text: text, answer: answer)).cascadeFailure(to: answer)
        channel.flush()
        return try await answer.futureResult.get()
    }
}

struct Call: Sendable {
    let text: String
    let answer: EventLoopPromise<String>
}

/// Matches messages of the service with calls, in order.
private final class CallHandler: ChannelDuplexHandler {
    typealias InboundIn = String
    typealias OutboundIn = Call
    typealias OutboundOut = String

    private let ready: EventLoopPromise<Void>
    private var calls = CircularBuffer<EventLoopPromise<String>>()
    private var error: any Error = ChannelError.eof

    init(_ ready: EventLoopPromise<Void>) { self.ready = ready }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let call = unwrapOutboundIn(data)
        calls.append(call.answer)
        context.write(wrapOutboundOut(call.text), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        calls.popFirst()?.succeed(unwrapInboundIn(data))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { ready.succeed() }
        // The running calls end here. A pool with calls that take longer would let them finish first.
        if event is TrustEndedEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ready.fail(error)
        while let call = calls.popFirst() { call.fail(error) }
        context.fireChannelInactive()
    }
}
