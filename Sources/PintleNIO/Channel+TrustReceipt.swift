#if NIO
public import NIOCore
public import Pintle

extension Channel {
    /// Returns the receipt of a channel with the handlers of ``PinnedTLS``, on any thread; `nil` before the verdict.
    /// The future fails with `ChannelPipelineError.notFound` if the channel lacks those handlers, as a closed channel
    /// does.
    public func trustReceipt() -> EventLoopFuture<TrustReceipt?> {
        eventLoop.submit { try self.pipeline.syncOperations.trustReceipt() }
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Returns the receipt of a channel with the handlers of ``PinnedTLS``; `nil` before the verdict. With TLS inside
    /// of TLS it is the receipt of the outer connection; the events tell the two apart by their `endpoint`.
    ///
    /// - Throws: `ChannelPipelineError.notFound` if the channel lacks those handlers, as a closed channel does.
    public func trustReceipt() throws -> TrustReceipt? {
        try handler(type: PinnedTLSHandler.self).receipt
    }
}
#endif
