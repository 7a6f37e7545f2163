#if NIO
internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import Pintle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Turns the verdict of a channel into events. It stands after NIOSSL's handler, and lets nothing of the server through
/// before there is a receipt.
final class PinnedTLSHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private enum State {
        case handshaking
        case trusted(TrustReceipt)
        case ended(TrustReceipt)
        case failed
    }

    private var state = State.handshaking
    private let server: ServerEndpoint
    /// The thread pool stores the verdict before it completes NIOSSL's promise, so it is here when the handshake goes
    /// on.
    private let verdict: Locked<ServerVerdict?>
    private let judge: ServerJudge
    private let timing: PinnedTLS.Timing
    private var timer: Scheduled<Void>?

    init(
        for server: ServerEndpoint, _ verdict: Locked<ServerVerdict?>, _ judge: ServerJudge, _ timing: PinnedTLS.Timing
    ) {
        self.server = server
        self.verdict = verdict
        self.judge = judge
        self.timing = timing
    }

    /// The receipt of the connection, also after its trust has ended; `nil` before the verdict.
    var receipt: TrustReceipt? {
        switch state {
        case .trusted(let receipt), .ended(let receipt): receipt
        case .handshaking, .failed: nil
        }
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { limitHandshake(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        limitHandshake(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let completed = event as? TLSUserEvent, case .handshakeCompleted = completed else {
            return context.fireUserInboundEventTriggered(event)
        }
        // A handshake that has failed can still be completed: by a verdict after the server has closed its side.
        guard case .handshaking = state else { return }
        guard case .accepted(let receipt) = verdict.withLock({ $0 }) else { return fail(context, .noVerdict(server)) }
        // The policy may have changed since the verdict: a server can hold its last message back. A handler that writes
        // when the handshake is completed must not get that far.
        guard judge.reason(against: receipt, at: Date()) == nil else { return fail(context, .policyChanged(server)) }
        state = .trusted(receipt)
        timer?.cancel()
        context.fireUserInboundEventTriggered(receipt)
        context.fireUserInboundEventTriggered(event)
        scheduleCheck(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard receipt != nil else { return }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .handshaking = state else { return context.fireErrorCaught(error) }
        state = .failed
        timer?.cancel()
        context.fireErrorCaught(cause(of: error))
        // NIOSSL closes the channel after most errors, but not if the server has closed its side of a half-open
        // channel.
        if context.channel.isActive { context.close(promise: nil) }
    }

    // MARK: The verdict

    /// Returns the refusal that led to an error of NIOSSL, or the error itself if it has another cause.
    private func cause(of error: any Error) -> any Error {
        switch verdict.withLock({ $0 }) {
        case .refused(let rejection): rejection
        case .unavailable(let failure): failure
        case .accepted: error
        case nil: PathFailure(handshake: error).map { judge.refuse(server, $0) } ?? error
        }
    }

    private func fail(_ context: ChannelHandlerContext, _ error: PinnedTLSError) {
        state = .failed
        timer?.cancel()
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    // MARK: Timers

    private func limitHandshake(_ context: ChannelHandlerContext) {
        guard case .handshaking = state, timer == nil else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timing.handshake) {
            guard case .handshaking = self.state else { return }
            self.fail(context, .handshakeTimedOut(self.server))
        }
    }

    private func scheduleCheck(_ context: ChannelHandlerContext) {
        let delay = max(timing.check, .milliseconds(1))
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        guard case .trusted(let receipt) = state, context.channel.isActive else { return }
        guard let reason = judge.reason(against: receipt, at: Date()) else { return scheduleCheck(context) }
        state = .ended(receipt)
        context.fireUserInboundEventTriggered(TrustEndedEvent(receipt: receipt, reason: reason))
    }
}
#endif
