internal import COpenSSL

/// The server's side of one TLS connection.
///
/// OpenSSL reads and writes memory, and this class copies the bytes between that memory and the socket. OpenSSL's own
/// socket BIO would raise SIGPIPE, could not be woken when the server closes, and could neither stall nor change its
/// output.
package final class TLSServerConnection: KeptStream {
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
    /// The counter of request bytes if ALPN selected HTTP/2.
    private var meter: HTTP2RequestMeter?
    /// The bytes that were read from the socket before, and are not OpenSSL's yet.
    private var firstBytes: [UInt8]
    /// Returns a credential for this connection only; `nil` for the server's.
    private let choose: ((ClientHello, String?) -> TLSCredential?)?
    private var hello: ClientHello?

    init?(
        _ socket: TCPConnection, state: TLSServerState, index: Int, firstBytes: [UInt8] = [],
        choosing choose: ((ClientHello, String?) -> TLSCredential?)? = nil
    ) {
        guard let ssl = SSL_new(state.context.pointer) else { return nil }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            return nil
        }
        SSL_set_bio(ssl, incoming, outgoing)
        self.socket = socket
        self.state = state
        self.index = index
        self.firstBytes = firstBytes
        self.choose = choose
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

    /// Records alerts, and selects the credential when the ClientHello has arrived.
    private func watch() {
        // Unretained: this object owns `ssl`, which calls back only during calls of this object.
        let this = Unmanaged.passUnretained(self).toOpaque()
        SSL_set_ex_data(ssl, 0, this)
        SSL_set_info_callback(ssl) { ssl, place, value in
            guard place & SSL_CB_ALERT != 0, let argument = SSL_get_ex_data(ssl, 0) else { return }
            let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
            let alert = LoopbackTLSServer.Alert(isFatal: value >> 8 == 2, code: UInt8(truncatingIfNeeded: value))
            connection.updateRecord { record in
                if place & SSL_CB_READ != 0 {
                    record.alertsReceived.append(alert)
                    record.end = record.end ?? .now
                } else {
                    record.alertsSent.append(alert)
                }
            }
        }
        SSL_set_msg_callback(ssl) { isSent, _, contentType, bytes, count, ssl, _ in
            guard isSent == 0, contentType == SSL3_RT_HANDSHAKE, let ssl, let argument = SSL_get_ex_data(ssl, 0),
                UnsafeRawBufferPointer(start: bytes, count: count).first == UInt8(SSL3_MT_CERTIFICATE_VERIFY)
            else { return }
            let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
            connection.updateRecord { $0.hasClientSignature = true }
        }
        SSL_set_cert_cb(
            ssl,
            { _, argument in
                guard let argument else { return 0 }
                let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
                return connection.chooseCredential() ? 1 : 0
            }, this)
    }

    /// Keeps the hello for the choice of a credential, which comes later.
    static func readHello(_ ssl: OpaquePointer) {
        guard let argument = SSL_get_ex_data(ssl, 0) else { return }
        let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
        if connection.choose != nil { connection.hello = ClientHello(ssl) }
        var (start, count): (UnsafePointer<UInt8>?, Int) = (nil, 0)
        let offers = SSL_client_hello_get0_ext(ssl, UInt32(TLSEXT_TYPE_post_handshake_auth), &start, &count) == 1
        connection.updateRecord { $0.offersLateAuthentication = offers }
    }

    /// Records a client's certificates, and returns whether the server accepts them.
    static func acceptsClient(_ store: OpaquePointer, of ssl: OpaquePointer) -> Bool {
        guard let argument = SSL_get_ex_data(ssl, 0), let presented = X509_STORE_CTX_get0_untrusted(store) else {
            return false
        }
        let connection = Unmanaged<TLSServerConnection>.fromOpaque(argument).takeUnretainedValue()
        let certificates = (0..<OPENSSL_sk_num(presented)).compactMap { index in
            OPENSSL_sk_value(presented, index).flatMap { certificate in
                try? derBytes("encoding a certificate") { i2d_X509(OpaquePointer(certificate), $0) }
            }
        }
        connection.updateRecord { $0.clientCertificates = certificates }
        guard connection.state.configuration.clientCertificateQuestion?.refusesAll == true else { return true }
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED)
        return false
    }

    private func chooseCredential() -> Bool {
        let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
        updateRecord { record in
            record.serverName = name
            record.hasPresented = true
        }
        if let hello, let credential = choose?(hello, name) { return credential.use(for: ssl) }
        let (credential, number) = state.credential(for: name)
        updateRecord { $0.credentialNumber = number }
        splice = credential.splicedChain.map { CertificateSplice(chain: $0) }
        return credential.use(for: ssl)
    }

    /// Keeps the bytes within the limit of the transcript.
    private func keep(_ bytes: [UInt8]) {
        let limit = state.configuration.transcriptLimit
        guard limit > 0 else { return }
        updateRecord { $0.received += bytes.prefix(limit - $0.received.count) }
    }

    private func updateRecord(_ change: (inout TLSConnectionRecord) -> Void) {
        state.updateRecord(index, change)
    }

    /// The server's record of the connection so far.
    package var record: TLSConnectionRecord { state.record(index) }

    /// Adds bytes to ``TLSConnectionRecord/misdirectedByteCount``.
    package func addMisdirectedBytes(_ count: Int) { updateRecord { $0.misdirectedByteCount += count } }

    func setAnswered(_ isAnswered: Bool) { state.setAnswered(isAnswered, index) }

    package var isCrowded: Bool { state.isCrowded }

    func limitReading(seconds: Double) { socket.limitReading(seconds: seconds) }

    /// Makes the handshake and records its result. Returns `true` if it completed.
    func handshake() -> Bool {
        do throws(StreamError) {
            let early = state.configuration.earlyContent
            let result = try drive {
                let result = SSL_accept(ssl)
                if result > 0, !early.isEmpty { SSL_write(ssl, early, Int32(early.count)) }
                return result
            }
            guard result > 0 else {
                throw StreamError(reason: "the client closed the connection")
            }
        } catch {
            // ALPN has selected a protocol before a client refuses the certificates.
            recordProtocol()
            let hasDropped = socket.peerHasDroppedBytes()
            updateRecord { record in
                record.handshakeFailure = error.reason
                if hasDropped { record.hasDroppedBytes = true }
            }
            readAlert()
            return false
        }
        stall = nil
        recordProtocol()
        updateRecord { record in
            record.isHandshakeComplete = true
            record.isResumed = SSL_session_reused(ssl) == 1
            record.version = LoopbackTLSServer.Version(rawValue: UInt16(truncatingIfNeeded: SSL_version(ssl)))
        }
        return true
    }

    /// Reads the alert of a client that did not wait for all of a long flight.
    private func readAlert() {
        guard let bytes = socket.readWaiting(), BIO_write(incoming, bytes, Int32(bytes.count)) > 0 else { return }
        ERR_clear_error()
        _ = SSL_accept(ssl)
    }

    private func recordProtocol() {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard count > 0 else { return }
        let chosen = String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
        if chosen == "h2" { meter = HTTP2RequestMeter() }
        updateRecord { $0.applicationProtocol = chosen }
    }

    package func read(upTo count: Int) throws(StreamError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: min(max(count, 1), 16_384))
        let received = Int(try drive { SSL_read(ssl, &buffer, Int32(buffer.count)) })
        let bytes = Array(buffer.prefix(received))
        let counted = meter?.count(bytes) ?? received
        updateRecord { record in
            record.requestByteCount += counted
            if counted > 0 { record.firstRequest = record.firstRequest ?? .now }
        }
        keep(bytes)
        return bytes
    }

    package func write(_ bytes: [UInt8]) throws(StreamError) {
        // In pieces, to keep the output buffer small.
        for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
            let piece = Array(bytes[start..<min(start + 1 << 16, bytes.count)])
            let sent = try drive { SSL_write(ssl, piece, Int32(piece.count)) }
            guard sent == piece.count else { throw StreamError(reason: "the client ended the session") }
        }
    }

    /// Sends `count` KeyUpdate messages (RFC 8446 section 4.6.3) in a row.
    package func updateKeys(times count: Int) throws(StreamError) {
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

    /// Sends a NewSessionTicket message (RFC 8446 section 4.6.1).
    package func sendTicket() throws(StreamError) {
        guard SSL_new_session_ticket(ssl) == 1, try drive({ SSL_do_handshake(ssl) }) > 0 else {
            throw StreamError(reason: "no ticket can be sent")
        }
    }

    /// Waits for a time. Throws as soon as the peer disconnects or the server closes, which a write may not notice.
    package func pause(seconds: Double) throws(StreamError) { try socket.pause(seconds: seconds) }

    /// Ends the TCP connection without close_notify.
    ///
    /// - Parameter isReset: `true` for a reset, which follows when the connection is released; `false` for an end of
    ///   file.
    package func cut(isReset: Bool) {
        if isReset { socket.resetOnClose() }
        // Also keeps close() from sending close_notify.
        socket.shutdownWriting()
    }

    /// Sends bytes without encrypting them.
    package func inject(_ bytes: [UInt8]) throws(StreamError) { try socket.write(bytes) }

    /// Sends close_notify.
    func close() {
        ERR_clear_error()
        SSL_shutdown(ssl)
        try? flush()
    }

    /// Repeats an operation, and copies bytes in between, until it is done. Returns its result, or 0 when the client
    /// has ended the session.
    private func drive(_ operation: () -> Int32) throws(StreamError) -> Int32 {
        while true {
            ERR_clear_error()
            let result = operation()
            let outcome = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl, result)
            let reason = outcome == SSL_ERROR_SSL ? openSSLReason() : "the connection broke"
            do throws(StreamError) {
                try flush()
            } catch  where outcome == SSL_ERROR_SSL {
                // The client disconnected before our alert. The first failure matters more.
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

    /// Reads from the client. Returns `false` when it has ended its side.
    private func fill() throws(StreamError) -> Bool {
        let bytes = firstBytes.isEmpty ? try socket.read(upTo: 65_536) : firstBytes
        firstBytes = []
        guard let first = bytes.first else {
            let hasDropped = socket.peerHasDroppedBytes()
            updateRecord { record in
                record.hasDroppedBytes = hasDropped
                record.end = record.end ?? .now
            }
            return false
        }
        if !hasRead {
            hasRead = true
            // 0x16 is the content type of a handshake record.
            updateRecord { record in
                record.begin = .now
                if first == 0x16 { record.hasBegunHandshake = true } else { record.clearByteCount = bytes.count }
            }
            if first != 0x16 { keep(bytes) }
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

    /// Sends the bytes that OpenSSL has written.
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

/// Replaces the certificates in the Certificate message that a TLS 1.2 server sends.
///
/// OpenSSL sends only certificates that it has parsed and encoded again. Up to TLS 1.2 the message is not encrypted
/// (RFC 5246 section 7.4.2), so its records (section 6.2.1) can be rebuilt around any bytes.
struct CertificateSplice {
    private static let handshake: UInt8 = 22
    private static let certificate: UInt8 = 11

    private let message: [UInt8]
    private var isDone = false
    /// The beginning of an incomplete record.
    private var partialRecord: [UInt8] = []
    /// The beginning of an incomplete handshake message.
    private var partialMessage: [UInt8] = []

    init(chain: [[UInt8]]) {
        let list = chain.flatMap { CertificateSplice.length($0.count) + $0 }
        let body = CertificateSplice.length(list.count) + list
        message = [CertificateSplice.certificate] + CertificateSplice.length(body.count) + body
    }

    /// Returns the bytes to send instead of `output`.
    mutating func rewrite(_ output: [UInt8]) -> [UInt8] {
        guard !isDone else { return output }
        partialRecord += output
        var result: [UInt8] = []
        while partialRecord.count >= 5 {
            let count = 5 + Int(partialRecord[3]) << 8 + Int(partialRecord[4])
            guard partialRecord.count >= count else { break }
            let record = Array(partialRecord.prefix(count))
            partialRecord.removeFirst(count)
            guard record[0] == CertificateSplice.handshake else {
                // No certificate follows an alert or ChangeCipherSpec.
                isDone = true
                defer { partialRecord = [] }
                return result + record + partialRecord
            }
            partialMessage += record.dropFirst(5)
            result += messages(version: record[1...2])
        }
        return result
    }

    private mutating func messages(version: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        while partialMessage.count >= 4 {
            let length = partialMessage[1...3].reduce(0) { $0 << 8 + Int($1) }
            guard partialMessage.count >= 4 + length else { break }
            let original = partialMessage.prefix(4 + length)
            let replacement = original.first == CertificateSplice.certificate ? message[...] : original
            result += CertificateSplice.records(around: replacement, version: version)
            partialMessage.removeFirst(4 + length)
        }
        return result
    }

    private static func records(around message: ArraySlice<UInt8>, version: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = message
        while !rest.isEmpty {
            let fragment = rest.prefix(1 << 14)
            result += [handshake] + version + length(fragment.count).dropFirst() + fragment
            rest = rest.dropFirst(fragment.count)
        }
        return result
    }

    /// Returns a length in three octets, big-endian.
    private static func length(_ count: Int) -> [UInt8] {
        [16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }
}
