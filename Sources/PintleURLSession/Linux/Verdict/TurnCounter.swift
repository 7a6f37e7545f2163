internal import Synchronization

/// Counters for the turns of a transport's loop, the bytes received over TLS, and the decoded content.
///
/// Only the transport's thread writes, so relaxed loads and stores are enough. Tests read from other threads. The memory
/// is the exception: the last reference to a transfer may be released on any thread.
final class TurnCounter: Sendable {
    private let turns = Atomic<Int>(0)
    private let received = Atomic<Int>(0)
    private let decoded = Atomic<Int>(0)
    private let decodedInTurn = Atomic<Int>(0)
    private let mostDecoded = Atomic<Int>(0)
    private let memory = Atomic<Int>(0)
    private let mostMemory = Atomic<Int>(0)

    /// The number of the current turn.
    var turn: Int { turns.load(ordering: .relaxed) }
    /// The bytes that OpenSSL has read from the sockets of all connections of the loop, TLS framing included.
    var byteCount: Int { received.load(ordering: .relaxed) }
    /// The bytes of content that libcurl has decoded and handed over, for all transfers of the loop.
    var decodedByteCount: Int { decoded.load(ordering: .relaxed) }
    /// The largest number of decoded bytes in one turn.
    var mostDecodedInTurn: Int { mostDecoded.load(ordering: .relaxed) }

    /// The memory in bytes for the encoded responses of all transfers; see ``DecodingBudget/memory``.
    var decodingMemory: Int { memory.load(ordering: .relaxed) }
    /// The largest value of ``decodingMemory``.
    var mostDecodingMemory: Int { mostMemory.load(ordering: .relaxed) }

    func beginTurn() {
        turns.store(turn &+ 1, ordering: .relaxed)
        decodedInTurn.store(0, ordering: .relaxed)
    }

    func countReceived(_ count: Int) { received.store(byteCount &+ count, ordering: .relaxed) }

    /// Counts memory that a transfer needs, or that it has released if `count` is negative.
    func countDecodingMemory(_ count: Int) {
        let sum = memory.add(count, ordering: .relaxed).newValue
        mostMemory.max(sum, ordering: .relaxed)
    }

    func countDecoded(_ count: Int) {
        decoded.store(decodedByteCount &+ count, ordering: .relaxed)
        let inTurn = decodedInTurn.load(ordering: .relaxed) &+ count
        decodedInTurn.store(inTurn, ordering: .relaxed)
        mostDecoded.store(max(mostDecodedInTurn, inTurn), ordering: .relaxed)
    }
}
