internal import COpenSSL
internal import Glibc
internal import PintleOpenSSL
internal import Synchronization

/// A limit on what OpenSSL reads from one connection, so that no server can monopolize the transport's thread.
///
/// All transfers of a session run on one thread. Inside one call OpenSSL skips HelloRequest messages, and nghttp2 skips
/// PRIORITY frames and empty DATA frames, for as long as the socket has more of them. So a filter BIO in front of the
/// socket reports "try again later" (`SSL_ERROR_WANT_READ`) once the connection has used up its share of the current
/// turn. libcurl then returns to the loop. No data is lost, and the delay is short: the rest is still in the socket,
/// and `poll` reports a socket with unread bytes at once.
///
/// The filter also notes whether the socket fails, and can refuse to write while there is something to read.
///
/// Use it only on the transport's thread. The BIO owns a reference, and the `SSL` owns the BIO.
final class ReadBudget {
    private let limits: ReadLimits
    private let counter: TurnCounter
    private var turn = -1
    private var usedInTurn = 0
    private var usedInHandshake = 0
    private var isHandshaking = true
    private var isMultiplexed = false

    /// A Boolean value that indicates whether the server sent more bytes than a handshake may have.
    private(set) var isExceeded = false
    /// The first bytes from the server.
    private(set) var firstBytes: [UInt8] = []
    /// A Boolean value that indicates whether the socket has ended or failed.
    private(set) var hasFailed = false
    /// The socket to read from instead of libcurl's BIO, which works only inside a call that libcurl makes. Set only
    /// while OpenSSL looks for content. The end of the socket is left for libcurl's next read.
    var socket: CInt?
    /// A Boolean value that indicates whether the next write needs a silent server.
    var expectsSilence = false
    /// A Boolean value that indicates whether a write failed because the server was not silent. Nothing was sent.
    private(set) var hasWithheldBytes = false

    init(_ limits: ReadLimits, countedBy counter: TurnCounter) {
        self.limits = limits
        self.counter = counter
    }

    /// - Parameter isMultiplexed: A Boolean value that indicates whether client and server have agreed on HTTP/2.
    func endHandshake(isMultiplexed: Bool) { (isHandshaking, self.isMultiplexed) = (false, isMultiplexed) }

    /// Puts a filter in front of the BIO that `ssl` uses. Returns `false` if OpenSSL has no memory.
    func install(on ssl: OpaquePointer) -> Bool {
        guard limits.isAvailable, let method = Self.method, let source = SSL_get_rbio(ssl),
            source == SSL_get_wbio(ssl), let filter = BIO_new(method.pointer)
        else {
            return false
        }
        BIO_set_data(filter, Unmanaged.passRetained(self).toOpaque())
        BIO_set_init(filter, 1)
        // SSL_set_bio releases the SSL's references to its old BIO, which the filter still needs.
        BIO_up_ref(source)
        BIO_set_next(filter, source)
        SSL_set_bio(ssl, filter, filter)
        return true
    }

    private enum Allowance {
        case bytes(Int)
        /// The connection may read no more bytes in this turn of the loop.
        case later
        case never
    }

    private var allowance: Allowance {
        if turn != counter.turn { (turn, usedInTurn) = (counter.turn, 0) }
        var left = (isHandshaking ? limits.perTurnOfHandshake : limits.perTurn) - usedInTurn
        if isMultiplexed { left = min(left, limits.perTurnOfStreams - usedInTurn) }
        if isHandshaking {
            let rest = limits.handshake - usedInHandshake
            guard rest > 0 else {
                isExceeded = true
                return .never
            }
            left = min(left, rest)
        }
        return left > 0 ? .bytes(left) : .later
    }

    /// Lets the next look for content read 32 KiB, although the handshake may have used up this turn's limit.
    func beginPeek() {
        // Begins the turn, if it is a new one.
        _ = allowance
        usedInTurn = min(usedInTurn, limits.perTurn - Self.peekLimit)
    }
    private static let peekLimit = 32 << 10

    /// A Boolean value that indicates whether the connection may read no more bytes in this turn of the loop.
    var isUsedUp: Bool {
        if case .bytes = allowance { false } else { true }
    }

    /// Charges a message that came after the handshake against this turn's limit.
    func chargeMessage() {
        if !isHandshaking { usedInTurn += limits.perMessage }
    }

    private func spend(_ count: Int) {
        usedInTurn += count
        if isHandshaking { usedInHandshake += count }
        counter.countReceived(count)
    }

    // MARK: The BIO

    private static func of(_ bio: OpaquePointer) -> ReadBudget? {
        BIO_get_data(bio).map { Unmanaged<ReadBudget>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func read(_ bio: OpaquePointer, _ buffer: UnsafeMutableRawPointer, _ count: CInt) -> CInt {
        BIO_clear_flags(bio, retryFlags)
        guard let budget = of(bio), let source = BIO_next(bio) else { return -1 }
        switch budget.allowance {
        case .bytes(let left):
            let most = min(count, CInt(clamping: left))
            let received: CInt
            if let socket = budget.socket {
                received = CInt(clamping: recv(socket, buffer, Int(most), Self.withoutWaiting))
                guard received > 0 else {
                    BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                    return -1
                }
            } else {
                received = BIO_read(source, buffer, most)
                BIO_copy_next_retry(bio)
            }
            guard received > 0 else {
                budget.noteFailure(of: bio)
                return received
            }
            if budget.firstBytes.isEmpty {
                budget.firstBytes = Array(UnsafeRawBufferPointer(start: buffer, count: Int(received)).prefix(16))
            }
            budget.spend(Int(received))
            return received
        case .later:
            BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        case .never: return -1
        }
    }

    private static func write(_ bio: OpaquePointer, _ bytes: UnsafeRawPointer?, _ count: CInt) -> CInt {
        BIO_clear_flags(bio, retryFlags)
        guard let budget = of(bio), let source = BIO_next(bio) else { return -1 }
        guard budget.socket == nil else {
            BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        guard budget.isSilent(source) else { return -1 }
        let sent = BIO_write(source, bytes, count)
        BIO_copy_next_retry(bio)
        if sent <= 0 { budget.noteFailure(of: bio) }
        return sent
    }

    /// Reads a byte before a write that needs a silent server. This is the only place for it: libcurl's BIO works only
    /// inside a call that libcurl makes.
    private func isSilent(_ source: OpaquePointer) -> Bool {
        guard expectsSilence else { return true }
        expectsSilence = false
        var byte: UInt8 = 0
        let isSilent = BIO_read(source, &byte, 1) <= 0 && BIO_test_flags(source, BIO_FLAGS_SHOULD_RETRY) != 0
        // The connection cannot be used again: the byte is lost.
        if !isSilent { (hasWithheldBytes, hasFailed) = (true, true) }
        return isSilent
    }

    private func noteFailure(of bio: OpaquePointer) {
        if BIO_test_flags(bio, BIO_FLAGS_SHOULD_RETRY) == 0 { hasFailed = true }
    }

    private static let withoutWaiting = CInt(truncatingIfNeeded: MSG_DONTWAIT)
    private static let retryFlags = BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    private static let method = Method()

    /// The functions that implement the filter BIO.
    ///
    /// `@unchecked`: the pointer is constant, and the method that it points to does not change after `init`.
    private final class Method: @unchecked Sendable {
        /// The `BIO_METHOD *`, which is never freed: connections may use it until the process ends.
        let pointer: OpaquePointer

        init?() {
            let type = BIO_get_new_index()
            guard type > 0, let method = BIO_meth_new(type | BIO_TYPE_FILTER, "pintle read budget") else { return nil }
            pointer = method
            BIO_meth_set_read(method) { bio, buffer, count in
                guard let bio, let buffer, count > 0 else { return 0 }
                return ReadBudget.read(bio, buffer, count)
            }
            BIO_meth_set_write(method) { bio, bytes, count in
                guard let bio else { return -1 }
                return ReadBudget.write(bio, bytes, count)
            }
            BIO_meth_set_ctrl(method) { bio, command, number, argument in
                switch command {
                case BIO_CTRL_PUSH, BIO_CTRL_POP, BIO_CTRL_DUP: return 0
                default:
                    guard let bio, let source = BIO_next(bio) else { return 0 }
                    return BIO_ctrl(source, command, number, argument)
                }
            }
            BIO_meth_set_destroy(method) { bio in
                guard let bio, let budget = BIO_get_data(bio) else { return 1 }
                BIO_set_data(bio, nil)
                Unmanaged<ReadBudget>.fromOpaque(budget).release()
                return 1
            }
        }
    }
}

/// Limits on the bytes that OpenSSL may read from one connection.
struct ReadLimits: Sendable {
    /// The limit for one turn of the loop after the handshake. nghttp2 needs only a few milliseconds for this many
    /// bytes of the smallest frames.
    var perTurn = 256 << 10
    /// A smaller limit for one turn of the loop over HTTP/2.
    var perTurnOfStreams = Int.max
    /// The bytes of ``perTurn`` that a handshake message such as KeyUpdate costs after the handshake (RFC 8446 section
    /// 4.6.3). OpenSSL needs 10 us for its 27 bytes.
    var perMessage = 4 << 10
    /// The limit for one turn of the loop during the handshake, when each byte costs more time.
    var perTurnOfHandshake = 32 << 10
    /// The limit for a whole handshake, the same as for the handshakes that Pintle makes itself.
    var handshake = ContextRestriction.handshakeAllowance
    /// A Boolean value that is `false` only in tests that simulate missing memory: the limit cannot be installed, so no
    /// connection is made.
    var isAvailable = true
}

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
