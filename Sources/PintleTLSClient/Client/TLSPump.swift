internal import COpenSSL
internal import PintleOpenSSL
internal import PintleSystem

/// The reason that an OpenSSL call did not complete.
enum PumpError: Error {
    case timedOut
    /// The peer closed TCP without close_notify.
    case endOfStream
    case broken(CInt)
    /// The peer sent close_notify.
    case closedByPeer
    /// The first bytes are not a TLS record.
    case notTLS([UInt8])
    /// The peer sent more bytes than `TLSPump.allowance`.
    case tooMuch
    case library(LibraryErrors)
}

/// Moves bytes between an `SSL`, which reads and writes memory buffers, and its socket.
///
/// If OpenSSL wrote to the socket itself, it would use `write`, which raises SIGPIPE when the peer has gone. An alert
/// could also stay in a buffer when the socket is closed at once. Here every operation first sends everything that it
/// produced, including alerts.
struct TLSPump: ~Copyable {
    /// `SSL *`
    let ssl: OpaquePointer
    let socket: Socket
    /// The memory `BIO *`s, both owned by `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// The first bytes from the peer, until they are known to begin a TLS record.
    private var preamble: [UInt8]? = []
    /// The number of bytes that the peer may still send; `nil` for no limit. OpenSSL itself skips some messages without
    /// limit.
    var allowance: Int?
    /// The state that ``step(until:_:)`` keeps between calls.
    private(set) var turn = Turn()

    /// - Parameter context: `SSL_CTX *`
    init(context: OpaquePointer, socket: consuming Socket) throws(HandshakeError) {
        let ssl = SSL_new(context)
        let incoming = BIO_new(BIO_s_mem())
        let outgoing = BIO_new(BIO_s_mem())
        guard let ssl, let incoming, let outgoing else {
            SSL_free(ssl)
            BIO_free(incoming)
            BIO_free(outgoing)
            throw .noResources("OpenSSL has no memory for a connection")
        }
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        self.socket = socket
    }

    deinit {
        SSL_free(ssl)
    }

    /// Returns the next piece of OpenSSL's output; empty if there is none.
    private func drainOutgoing() -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(outgoing, &chunk, CInt(chunk.count))
        return Array(chunk.prefix(max(0, Int(count))))
    }

    /// Passes received bytes to OpenSSL. Returns `false` while they are too few to recognize TLS.
    private mutating func give(_ received: [UInt8]) throws(PumpError) -> Bool {
        var bytes = received
        guard !bytes.isEmpty else { throw .endOfStream }
        if let allowance {
            guard bytes.count <= allowance else { throw .tooMuch }
            self.allowance = allowance - bytes.count
        }
        if let before = preamble {
            bytes = before + bytes
            guard Self.mayBeTLS(bytes) else { throw .notTLS(bytes) }
            preamble = bytes.count < 2 ? bytes : nil
            if preamble != nil { return false }
        }
        guard BIO_write(incoming, bytes, CInt(bytes.count)) == bytes.count else {
            throw .library(LibraryErrors.drain())
        }
        return true
    }

    /// Returns whether the bytes may begin a TLS record: a handshake message (22) or an alert (21) of major version 3.
    /// For any other protocol, its first bytes make a better error message than OpenSSL's guess.
    private static func mayBeTLS(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        guard first == 21 || first == 22 else { return false }
        return bytes.count < 2 || bytes[1] == 3
    }
}

extension PumpError {
    init(_ failure: SocketError) {
        switch failure {
        case .timedOut: self = .timedOut
        case .broken(let error): self = .broken(error)
        }
    }
}

extension TLSPump {
    /// The state of a connection between two steps.
    struct Turn {
        /// The bytes that have not been sent yet.
        fileprivate var unsent: ArraySlice<UInt8> = []
        /// The result of the operation. It is returned after everything has been sent.
        fileprivate var outcome: Result<CInt, PumpError>?
        fileprivate var needsInput = false

        /// The error that ended the exchange. It is reported, not the failure to send an alert about it.
        fileprivate var libraryFailure: PumpError? {
            if case .failure(let failure) = outcome, case .library = failure { failure } else { nil }
        }

        /// The events that `poll` must wait for.
        var events: CInt { unsent.isEmpty ? POLLIN : POLLOUT }
    }

    /// Repeats `operation` until it returns a positive result, and moves bytes in between.
    mutating func run(
        until deadline: Deadline, _ operation: (_ ssl: OpaquePointer) -> CInt
    ) throws(PumpError) -> CInt {
        // Drops bytes that an earlier operation could not send before its deadline. The connection is of no use then.
        turn = Turn()
        while true {
            if let result = try step(until: deadline, operation) { return result }
            try waitForSocket(until: deadline)
        }
    }

    /// Waits until the socket is ready. If it is not ready in time, or has failed, the next step ends the exchange.
    func waitForSocket(until deadline: Deadline) throws(PumpError) {
        do throws(SocketError) {
            try socket.wait(for: turn.events, until: deadline)
        } catch {
            if case .broken = error { throw turn.libraryFailure ?? PumpError(error) }
        }
    }

    /// Repeats `operation` as ``run(until:_:)`` does, but returns `nil` instead of waiting for ``Turn/events``.
    ///
    /// A piece that has already arrived counts even after the deadline. The deadline is also checked after each piece,
    /// because a peer that always has bytes ready could avoid the check before a wait.
    mutating func step(
        until deadline: Deadline, _ operation: (_ ssl: OpaquePointer) -> CInt
    ) throws(PumpError) -> CInt? {
        var hasReceived = false
        while true {
            guard try sendWhatWaits() else { return try wait(until: deadline) }
            if let outcome = turn.outcome.take() { return try outcome.get() }
            if turn.needsInput {
                if hasReceived, deadline.hasPassed { throw .timedOut }
                guard try feed() else { return try wait(until: deadline) }
                (turn.needsInput, hasReceived) = (false, true)
            }
            // The error queue belongs to the thread, which also runs other connections.
            ERR_clear_error()
            let result = operation(ssl)
            let outcome = SSL_get_error(ssl, result)
            let errors = LibraryErrors.drain()
            while case let bytes = drainOutgoing(), !bytes.isEmpty { turn.unsent += bytes }
            if result > 0 {
                turn.outcome = .success(result)
            } else {
                switch outcome {
                case SSL_ERROR_WANT_READ: turn.needsInput = true
                case SSL_ERROR_ZERO_RETURN: turn.outcome = .failure(.closedByPeer)
                default: turn.outcome = .failure(.library(errors))
                }
            }
        }
    }

    /// Returns `nil`, so that the caller waits. After the deadline it throws.
    private func wait(until deadline: Deadline) throws(PumpError) -> CInt? {
        guard deadline.hasPassed else { return nil }
        throw turn.libraryFailure ?? .timedOut
    }

    /// Sends pending bytes. Returns `false` if the socket cannot take more now.
    private mutating func sendWhatWaits() throws(PumpError) -> Bool {
        while !turn.unsent.isEmpty {
            do throws(SocketError) {
                guard let count = try socket.sendNow(turn.unsent) else { return false }
                turn.unsent = turn.unsent.dropFirst(count)
            } catch {
                turn.unsent = []
                throw turn.libraryFailure ?? PumpError(error)
            }
        }
        return true
    }

    /// Receives bytes. Returns `false` if none have arrived yet.
    private mutating func feed() throws(PumpError) -> Bool {
        while true {
            let bytes: [UInt8]?
            do throws(SocketError) {
                bytes = try socket.receiveNow(atMost: 16_384)
            } catch {
                throw PumpError(error)
            }
            guard let bytes else { return false }
            if try give(bytes) { return true }
        }
    }
}
