internal import Synchronization

/// Counters for the turns of a transport's loop, and the bytes received over TLS.
///
/// Only the transport's thread writes, so relaxed loads and stores are enough. Tests read from other threads.
final class TurnCounter: Sendable {
    private let turns = Atomic<Int>(0)
    private let received = Atomic<Int>(0)

    /// The number of the current turn.
    var turn: Int { turns.load(ordering: .relaxed) }
    /// The bytes that OpenSSL has read from the sockets of all connections of the loop, TLS framing included.
    var byteCount: Int { received.load(ordering: .relaxed) }

    func beginTurn() { turns.store(turn &+ 1, ordering: .relaxed) }
    func countReceived(_ count: Int) { received.store(byteCount &+ count, ordering: .relaxed) }
}
