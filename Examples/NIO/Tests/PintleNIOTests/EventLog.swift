import NIOCore
import NIOTLS
import Pintle
import PintleNIO
import Synchronization

/// The events of a channel in order.
final class EventLog: Sendable {
    enum Event: Sendable, Hashable {
        case receipt(TrustReceipt)
        case handshakeCompleted
        case ended(TrustEndedEvent.Reason)
        case rejected(String)
        case failed(String)
        case bytes
        case inactive

        /// The name, and the reason if there is one.
        var text: String {
            switch self {
            case .receipt(let receipt): "receipt \(receipt.basis.reason)"
            case .handshakeCompleted: "handshake completed"
            case .ended(let reason): "ended \(reason.rawValue)"
            case .rejected(let reason): "rejected \(reason)"
            case .failed(let text): "failed \(text)"
            case .bytes: "bytes"
            case .inactive: "inactive"
            }
        }
    }

    private let stored = Mutex<[Event]>([])
    let (added, continuation) = AsyncStream<Event>.makeStream()

    var events: [Event] { stored.withLock { $0 } }
    var texts: [String] { events.map(\.text) }

    func add(_ event: Event) {
        stored.withLock { $0.append(event) }
        continuation.yield(event)
    }

    /// Waits for the first event that satisfies a condition.
    func first(where condition: (Event) -> Bool) async -> Event? {
        for await event in added where condition(event) { return event }
        return nil
    }

    /// Waits until the handshake has ended, in one way or the other, and returns all events until then.
    func outcome() async -> [String] {
        _ = await first { event in
            switch event {
            case .handshakeCompleted, .inactive: true
            default: false
            }
        }
        return texts
    }
}

final class RecordingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let log: EventLog

    init(_ log: EventLog) { self.log = log }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let receipt as TrustReceipt: log.add(.receipt(receipt))
        case let event as TrustEndedEvent: log.add(.ended(event.reason))
        case let event as TLSUserEvent:
            if case .handshakeCompleted = event { log.add(.handshakeCompleted) }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { log.add(.bytes) }

    func channelInactive(context: ChannelHandlerContext) {
        log.add(.inactive)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case TrustRejection.invalidPath(let failure): log.add(.rejected("invalid-path \(failure.code.rawValue)"))
        case let rejection as TrustRejection: log.add(.rejected(rejection.reason))
        case let error as PinnedTLSError:
            switch error {
            case .noVerdict: log.add(.failed("noVerdict"))
            case .handshakeTimedOut: log.add(.failed("handshakeTimedOut"))
            default: log.add(.failed("\(error)"))
            }
        default: log.add(.failed("\(error)"))
        }
    }
}
