internal import COpenSSL
internal import Glibc

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
