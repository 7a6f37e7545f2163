internal import COpenSSL
internal import Glibc

/// Why an OpenSSL call did not come to its end.
enum PumpFailure: Error {
    case timedOut
    /// TCP ended, without close_notify.
    case endOfStream
    case broken(CInt)
    /// close_notify.
    case closedByPeer
    /// The first bytes that came are no TLS record.
    case notTLS([UInt8])
    /// More bytes came than `TLSPump.allowance` let in.
    case tooMuch
    case library(LibraryErrors)
}

/// An `SSL` and its socket, with memory in between.
///
/// OpenSSL would write to a socket itself with `write`, where a peer that has gone raises SIGPIPE; and it
/// would leave an alert in a buffer when the socket is closed at once. Here every operation ends with
/// everything that it produced on the wire, alerts included.
struct TLSPump: ~Copyable {
    /// `SSL *`
    let ssl: OpaquePointer
    let socket: Socket
    /// `BIO *`, both owned by `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// What came first, until it is known to be the beginning of a TLS record.
    private var preamble: [UInt8]? = []
    /// How many bytes may still come; nil: any number. OpenSSL passes over some messages without limit.
    var allowance: Int?
    /// What ``step(_:)`` has left to do.
    var turn = Turn()

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

    /// Repeats `operation` until it gives a positive result, moving bytes as it needs them.
    ///
    /// The socket looks at the clock only where it has to wait, and a peer can see to it that it never has to:
    /// so the clock is looked at here as well, after every piece that was not enough.
    mutating func run(
        until deadline: Deadline, _ operation: (_ ssl: OpaquePointer) -> CInt
    ) throws(PumpFailure) -> CInt {
        var hasReceived = false
        while true {
            // The queue is the thread's, not the connection's: what others left there is not ours.
            ERR_clear_error()
            let result = operation(ssl)
            let outcome = SSL_get_error(ssl, result)
            let errors = LibraryErrors.drain()
            do throws(SocketFailure) {
                try flush(until: deadline)
            } catch {
                // The reason for the end is worth more than the failure to send an alert about it.
                if outcome != SSL_ERROR_SSL { throw PumpFailure(error) }
            }
            if result > 0 { return result }
            switch outcome {
            case SSL_ERROR_WANT_READ:
                if hasReceived, deadline.hasPassed { throw .timedOut }
                try fill(until: deadline)
                hasReceived = true
            case SSL_ERROR_ZERO_RETURN: throw .closedByPeer
            default: throw .library(errors)
            }
        }
    }

    /// Everything that OpenSSL has written so far goes out.
    private func flush(until deadline: Deadline) throws(SocketFailure) {
        while case let bytes = drainOutgoing(), !bytes.isEmpty { try socket.send(bytes, until: deadline) }
    }

    /// The next piece of what OpenSSL has written; empty where there is no more.
    func drainOutgoing() -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(outgoing, &chunk, CInt(chunk.count))
        return Array(chunk.prefix(max(0, Int(count))))
    }

    /// Called only when OpenSSL has used up what it was given, so that no more than one piece waits.
    private mutating func fill(until deadline: Deadline) throws(PumpFailure) {
        while true {
            let bytes: [UInt8]
            do throws(SocketFailure) {
                bytes = try socket.receive(atMost: 16_384, until: deadline)
            } catch {
                throw PumpFailure(error)
            }
            if try give(bytes) { return }
        }
    }

    /// Hands on what the peer sent. False while it is too little to be told from another protocol.
    mutating func give(_ received: [UInt8]) throws(PumpFailure) -> Bool {
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

    /// A server's first record is a handshake message (22) or an alert (21) of major version 3. Anything
    /// else is another protocol, and better named by its own first words than by OpenSSL's guess.
    private static func mayBeTLS(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        guard first == 21 || first == 22 else { return false }
        return bytes.count < 2 || bytes[1] == 3
    }
}

extension PumpFailure {
    init(_ failure: SocketFailure) {
        switch failure {
        case .timedOut: self = .timedOut
        case .broken(let error): self = .broken(error)
        }
    }
}

extension TLSPump {
    /// Where a connection stands between two steps.
    struct Turn {
        /// What has not gone out yet.
        fileprivate var unsent: ArraySlice<UInt8> = []
        /// What the operation came to; told when everything has gone out.
        fileprivate var outcome: Result<CInt, PumpFailure>?
        fileprivate var isHungry = false

        /// What `poll` has to wait for.
        var events: CInt { unsent.isEmpty ? POLLIN : POLLOUT }
    }

    /// Repeats `operation` until it gives a positive result, as ``run(until:_:)`` does, but returns nil where it
    /// would have to wait: for ``Turn/events``. The clock is the caller's.
    ///
    /// Bounded by ``allowance``, however busily the peer sends.
    mutating func step(_ operation: (_ ssl: OpaquePointer) -> CInt) throws(PumpFailure) -> CInt? {
        while true {
            guard try sendWhatWaits() else { return nil }
            switch turn.outcome {
            case .success(let result): return result
            case .failure(let failure): throw failure
            case nil: break
            }
            if turn.isHungry {
                guard try feed() else { return nil }
                turn.isHungry = false
            }
            // The queue is the thread's, and other connections are on it.
            ERR_clear_error()
            let result = operation(ssl)
            let outcome = SSL_get_error(ssl, result)
            let errors = LibraryErrors.drain()
            while case let bytes = drainOutgoing(), !bytes.isEmpty { turn.unsent += bytes }
            if result > 0 {
                turn.outcome = .success(result)
            } else {
                switch outcome {
                case SSL_ERROR_WANT_READ: turn.isHungry = true
                case SSL_ERROR_ZERO_RETURN: turn.outcome = .failure(.closedByPeer)
                default: turn.outcome = .failure(.library(errors))
                }
            }
        }
    }

    /// False where there is no room now.
    private mutating func sendWhatWaits() throws(PumpFailure) -> Bool {
        while !turn.unsent.isEmpty {
            do throws(SocketFailure) {
                guard let count = try socket.sendNow(turn.unsent) else { return false }
                turn.unsent = turn.unsent.dropFirst(count)
            } catch {
                turn.unsent = []
                // The reason for the end is worth more than the failure to send an alert about it.
                if case .failure(.library) = turn.outcome { return true }
                throw PumpFailure(error)
            }
        }
        return true
    }

    /// False where nothing has come yet.
    private mutating func feed() throws(PumpFailure) -> Bool {
        while true {
            let bytes: [UInt8]?
            do throws(SocketFailure) {
                bytes = try socket.receiveNow(atMost: 16_384)
            } catch {
                throw PumpFailure(error)
            }
            guard let bytes else { return false }
            if try give(bytes) { return true }
        }
    }
}
