import NIOCore
import NIOHTTP1
import NIOTLS
import Pintle
import PintleNIO

/// Sends one request when the policy has accepted the server, and collects the response. ``PinnedHTTP`` closes the
/// channel.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private static let maximumBody = 1 << 20

    private let path: String
    private let server: ServerEndpoint
    private let promise: EventLoopPromise<Answer>
    private var answer = Answer(status: 0, body: [], receipt: nil)

    init(_ path: String, of server: ServerEndpoint, _ promise: EventLoopPromise<Answer>) {
        self.path = path
        self.server = server
        self.promise = promise
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let receipt = event as? TrustReceipt {
            answer.receipt = receipt
        } else if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            let headers: HTTPHeaders = ["host": server.description, "connection": "close"]
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): answer.status = Int(head.status.code)
        case .body(let part):
            guard answer.body.count + part.readableBytes <= Self.maximumBody else {
                return promise.fail(ByteToMessageDecoderError.PayloadTooLargeError())
            }
            answer.body += part.readableBytesView
        case .end: promise.succeed(answer)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }
}
