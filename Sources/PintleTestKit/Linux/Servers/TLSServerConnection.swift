internal import COpenSSL

/// The server's side of one TLS connection.
///
/// OpenSSL reads and writes memory, and the bytes are carried between that and the socket here:
/// its own socket BIO would raise SIGPIPE, could not be woken when the server closes, and would
/// leave no place to stall or to change what is sent.
final class TLSServerConnection: RekeyingStream {
    private let socket: TCPConnection
    private let state: TLSServerState
    private let index: Int
    private let ssl: OpaquePointer
    /// Owned by `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var stall: TLSServerConfiguration.Stall?
    private var hasRead = false
    private var splice: CertificateSplice?

    init?(_ socket: TCPConnection, state: TLSServerState, index: Int) {
        guard let ssl = SSL_new(state.context.pointer) else { return nil }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            return nil
        }
        SSL_set_bio(ssl, incoming, outgoing)
        self.socket = socket
        self.state = state
        self.index = index
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        stall = state.configuration.stall
        if state.needsClearHandshake {
            let versions = state.configuration.versions
            let lowest = min(versions.lowerBound, .tls12)
            let highest = min(versions.upperBound, .tls12)
            SSL_ctrl(ssl, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(lowest.rawValue), nil)
            SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(highest.rawValue), nil)
        }
        watch()
    }

    deinit { SSL_free(ssl) }

    /// Notes the alerts, and picks the credential once the ClientHello is there.
    private func watch() {
        // Unretained: `ssl` lives within this object, and calls back only within calls on it.
        let this = Unmanaged.passUnretained(self).toOpaque()
        SSL_set_ex_data(ssl, 0, this)
        SSL_set_info_callback(ssl) { ssl, place, value in
            guard place & SSL_CB_ALERT != 0, let argument = SSL_get_ex_data(ssl, 0) else { return }
            let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
            let alert = LoopbackTLSServer.Alert(isFatal: value >> 8 == 2, code: UInt8(truncatingIfNeeded: value))
            connection.updateRecord { record in
                if place & SSL_CB_READ != 0 {
                    record.alertsReceived.append(alert)
                } else {
                    record.alertsSent.append(alert)
                }
            }
        }
        SSL_set_cert_cb(
            ssl,
            { _, argument in
                guard let argument else { return 0 }
                let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
                return connection.chooseCredential() ? 1 : 0
            }, this)
    }

    private func chooseCredential() -> Bool {
        let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
        updateRecord { $0.serverName = name }
        let (credential, number) = state.credential(for: name)
        updateRecord { $0.credentialNumber = number }
        splice = credential.splicedChain.map { CertificateSplice(chain: $0) }
        return credential.use(for: ssl)
    }

    private func updateRecord(_ change: (inout TLSConnectionRecord) -> Void) {
        state.updateRecord(index, change)
    }

    /// Whether the handshake completed; what came of it is on record.
    func handshake() -> Bool {
        do throws(StreamError) {
            guard try drive({ SSL_accept(ssl) }) > 0 else {
                throw StreamError(reason: "the client closed the connection")
            }
        } catch {
            updateRecord { $0.handshakeFailure = error.reason }
            return false
        }
        stall = nil
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        let chosen = UnsafeBufferPointer(start: name, count: Int(count))
        updateRecord { record in
            record.isHandshakeComplete = true
            record.isResumed = SSL_session_reused(ssl) == 1
            record.version = LoopbackTLSServer.Version(rawValue: UInt16(truncatingIfNeeded: SSL_version(ssl)))
            if !chosen.isEmpty { record.applicationProtocol = String(decoding: chosen, as: UTF8.self) }
        }
        return true
    }

    func read(upTo count: Int) throws(StreamError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: min(max(count, 1), 16_384))
        let received = Int(try drive { SSL_read(ssl, &buffer, Int32(buffer.count)) })
        updateRecord { $0.requestByteCount += received }
        return Array(buffer.prefix(received))
    }

    func write(_ bytes: [UInt8]) throws(StreamError) {
        // In pieces, so that what waits to be sent stays small.
        for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
            let piece = Array(bytes[start..<min(start + 1 << 16, bytes.count)])
            let sent = try drive { SSL_write(ssl, piece, Int32(piece.count)) }
            guard sent == piece.count else { throw StreamError(reason: "the client ended the session") }
        }
    }

    func updateKeys(times count: Int) throws(StreamError) {
        let result = try drive {
            for _ in 0..<count {
                guard SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else { return -1 }
                let result = SSL_do_handshake(ssl)
                if result <= 0 { return result }
            }
            return 1
        }
        guard result > 0 else { throw StreamError(reason: "the client ended the session") }
    }

    /// Says goodbye with close_notify.
    func close() {
        ERR_clear_error()
        SSL_shutdown(ssl)
        try? flush()
    }

    /// Repeats an operation, carrying bytes in between, until it is done: its result, or 0 where
    /// the client has ended the session.
    private func drive(_ operation: () -> Int32) throws(StreamError) -> Int32 {
        while true {
            ERR_clear_error()
            let result = operation()
            let outcome = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl, result)
            let reason = outcome == SSL_ERROR_SSL ? openSSLReason() : "the connection broke"
            do throws(StreamError) {
                try flush()
            } catch  where outcome == SSL_ERROR_SSL {
                // The client was gone before our alert: what went wrong first matters more.
                throw StreamError(reason: reason)
            }
            switch outcome {
            case SSL_ERROR_NONE: return result
            case SSL_ERROR_ZERO_RETURN: return 0
            case SSL_ERROR_WANT_READ:
                guard try fill() else { return 0 }
            default: throw StreamError(reason: reason)
            }
        }
    }

    /// Takes in what the client sent; false where it sends no more.
    private func fill() throws(StreamError) -> Bool {
        let bytes = try socket.read(upTo: 65_536)
        guard let first = bytes.first else { return false }
        if !hasRead {
            hasRead = true
            // 22, handshake.
            updateRecord { record in
                if first == 0x16 { record.hasBegunHandshake = true } else { record.clearByteCount = bytes.count }
            }
        }
        guard BIO_write(incoming, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
            throw StreamError(reason: "out of memory")
        }
        if case .beforeServerHello(let seconds) = stall {
            stall = nil
            socket.stall(seconds: seconds)
        }
        return true
    }

    /// Sends what OpenSSL has written.
    private func flush() throws(StreamError) {
        let pending = BIO_ctrl(outgoing, BIO_CTRL_PENDING, 0, nil)
        guard pending > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: pending)
        let count = BIO_read(outgoing, &bytes, Int32(clamping: pending))
        bytes = Array(bytes.prefix(max(0, Int(count))))
        if splice != nil { bytes = splice?.rewrite(bytes) ?? bytes }
        if case .midHandshake(let seconds) = stall {
            stall = nil
            try socket.write(Array(bytes.prefix(bytes.count / 2)))
            socket.stall(seconds: seconds)
            bytes.removeFirst(bytes.count / 2)
        }
        try socket.write(bytes)
    }
}
