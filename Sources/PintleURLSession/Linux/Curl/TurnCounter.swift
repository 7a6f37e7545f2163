internal import Synchronization

/// Counts the passes of a transport's loop and the bytes that came over TLS.
///
/// Only the transport's thread writes, so relaxed loads and stores are enough. Tests read from other threads.
final class TurnCounter: Sendable {
    private let passes = Atomic<Int>(0)
    private let received = Atomic<Int>(0)

    /// The number of the pass that runs now.
    var turn: Int { passes.load(ordering: .relaxed) }
    /// Bytes that OpenSSL has read from the sockets of all connections of the loop, TLS framing included.
    var byteCount: Int { received.load(ordering: .relaxed) }

    func beginTurn() { passes.store(turn &+ 1, ordering: .relaxed) }
    func note(_ count: Int) { received.store(byteCount &+ count, ordering: .relaxed) }
}
