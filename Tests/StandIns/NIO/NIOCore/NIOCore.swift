// The parts of SwiftNIO that PintleNIO uses, for the compiler only: nothing runs. `make nio` runs the real ones.

public struct ByteBuffer: Sendable {}
public struct NIOAny {}

public struct TimeAmount: Sendable, Hashable, Comparable {
    public let nanoseconds: Int64

    public static func seconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount * 1_000_000_000) }
    public static func milliseconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount * 1_000_000) }
    public static func < (left: TimeAmount, right: TimeAmount) -> Bool { left.nanoseconds < right.nanoseconds }
}

// MARK: Event loops

public protocol EventLoop: AnyObject, Sendable {
    var inEventLoop: Bool { get }
    func submit<Value: Sendable>(_ task: @escaping @Sendable () throws -> Value) -> EventLoopFuture<Value>
    func assumeIsolated() -> NIOIsolatedEventLoop
}

public struct NIOIsolatedEventLoop {
    public func scheduleTask<Value>(in delay: TimeAmount, _ task: @escaping () throws -> Value) -> Scheduled<Value> {
        Scheduled()
    }
}

public struct Scheduled<Value> {
    public func cancel() {}
}

public final class EventLoopFuture<Value>: Sendable {}

public struct EventLoopPromise<Value: Sendable>: Sendable {
    public func succeed(_ value: Value) {}
}

// MARK: Channels

public protocol Channel: AnyObject, Sendable {
    var eventLoop: any EventLoop { get }
    var pipeline: ChannelPipeline { get }
    var isActive: Bool { get }
}

public final class ChannelPipeline: Sendable {
    public struct SynchronousOperations {
        public enum Position {
            case first, last
        }

        public func addHandlers(_ handlers: [any ChannelHandler], position: Position = .last) throws {}
        public func handler<Handler: ChannelHandler>(type _: Handler.Type) throws -> Handler { throw NotFound() }
    }

    private struct NotFound: Error {}

    public var syncOperations: SynchronousOperations { SynchronousOperations() }
}

public protocol ChannelHandler: AnyObject {
    func handlerAdded(context: ChannelHandlerContext)
    func handlerRemoved(context: ChannelHandlerContext)
}

public protocol ChannelInboundHandler: ChannelHandler {
    associatedtype InboundIn
    func channelActive(context: ChannelHandlerContext)
    func channelInactive(context: ChannelHandlerContext)
    func channelRead(context: ChannelHandlerContext, data: NIOAny)
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any)
    func errorCaught(context: ChannelHandlerContext, error: any Error)
}

public final class ChannelHandlerContext {
    public let channel: any Channel

    init(_ channel: any Channel) {
        self.channel = channel
    }

    public var eventLoop: any EventLoop { channel.eventLoop }
    public func fireChannelActive() {}
    public func fireChannelInactive() {}
    public func fireChannelRead(_ data: NIOAny) {}
    public func fireUserInboundEventTriggered(_ event: Any) {}
    public func fireErrorCaught(_ error: any Error) {}
    public func close(promise: EventLoopPromise<Void>?) {}
}
