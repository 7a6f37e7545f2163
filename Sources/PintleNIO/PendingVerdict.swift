#if NIO
internal import Pintle

/// Carries the verdict of one channel from the thread pool to the event loop.
///
/// The pool stores the verdict before it completes NIOSSL's promise, so the event loop finds it when the handshake goes
/// on.
final class PendingVerdict: Sendable {
    private let state = Locked<ServerVerdict?>(nil)

    /// The verdict; `nil` if NIOSSL did not ask or has no answer yet.
    var current: ServerVerdict? { state.withLock { $0 } }

    func give(_ verdict: ServerVerdict) {
        state.withLock { $0 = verdict }
    }
}
#endif
