internal import COpenSSL
package import Pintle

/// Puts a verdict on the server's certificates between one handshake and everything that follows it.
///
/// OpenSSL calls back for each message from the server, before it parses the message, and once it has parsed the
/// certificates. The callbacks belong to the `SSL_CTX` (``install(on:)``) and find the hook of their connection on its
/// `SSL` (``attach(to:)``). A connection without a hook is refused. A hook asks for a verdict once, and only about the
/// server that the ClientHello named.
///
/// Everything happens on the thread that runs the handshake.
package final class VerificationHook {
    package enum State: Hashable, Sendable {
        case notAsked
        case accepted
        case rejected(TLSAlert)
        /// The guard refused the Certificate message, and OpenSSL did not parse it.
        case refusedUnread(PathFailure)
        /// The handshake ended without a verdict that counts.
        case failed(HandshakeFault)
    }

    package private(set) var state = State.notAsked
    /// Certificates whose keys OpenSSL was kept from decoding: their DER as it was sent.
    private var hidden: [Int: [UInt8]] = [:]
    private let host: ServerName
    private let observer: (any HandshakeObserver)?
    private let judge: (borrowing PeerChain) -> HandshakeVerdict

    /// - Parameters:
    ///   - endpoint: the server that the caller asked for, never the name in SNI or in a certificate.
    ///   - observer: hears what happens in the handshake and after it; kept as long as the hook.
    ///   - judge: called once at most; kept as long as the hook.
    package init(
        for endpoint: ServerEndpoint, observer: (any HandshakeObserver)? = nil,
        judge: @escaping (borrowing PeerChain) -> HandshakeVerdict
    ) {
        host = endpoint.host
        self.observer = observer
        self.judge = judge
    }

    // MARK: On a context

    /// Has every connection of an `SSL_CTX` ask its hook, and leaves it no way past one.
    ///
    /// - Returns: `false` where OpenSSL has no memory, or a suite without certificates cannot be left out. Then the
    ///   context must not be used.
    package static func install(on context: OpaquePointer) -> Bool {
        guard index >= 0 else { return false }
        // With SSL_VERIFY_NONE OpenSSL calls back and ignores a refusal.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in VerificationHook.answer(store) }, nil)
        SSL_CTX_set_msg_callback(context) { isSent, version, contentType, bytes, count, ssl, _ in
            guard isSent == 0, contentType == SSL3_RT_ALERT || contentType == SSL3_RT_HANDSHAKE, let ssl else { return }
            let message = UnsafeRawBufferPointer(start: bytes, count: count)
            // Without a hook too: the message is not parsed as it stands.
            let action = CertificateMessageGuard.inspect(message, contentType, version)
            VerificationHook.attached(to: ssl)?.received(message, contentType, action)
        }
        // libcurl writes the connection's keys to the file that SSLKEYLOGFILE names, if it names one.
        SSL_CTX_set_keylog_callback(context, nil)
        return ContextRestriction.apply(to: context)
    }

    // MARK: On a connection

    /// The hook's place on an `SSL`. Not `SSL_get_app_data`, which libcurl uses.
    ///
    /// The `SSL` owns a reference to the hook from ``attach(to:)`` on. OpenSSL calls this function once, when it frees the
    /// `SSL`; ``detach(from:)`` leaves null in the place. Callbacks come from calls on the `SSL`, so that the hook
    /// outlives them. A copy of an `SSL` (`SSL_dup`) gets null, and so is refused. Code of others that writes to this place
    /// by a number of its own choice would break these rules; OpenSSL hands the numbers out.
    private static let index = CRYPTO_get_ex_new_index(
        CRYPTO_EX_INDEX_SSL, 0, nil, nil,
        { _, _, value, _, _, _ in
            value?.pointee = nil
            return 1
        },
        { _, pointer, _, _, _, _ in
            guard let pointer else { return }
            Unmanaged<VerificationHook>.fromOpaque(pointer).release()
        })

    /// Gives a connection its hook, before the first byte of the handshake is read.
    ///
    /// - Returns: `false` where OpenSSL has no memory, or the connection has a hook already.
    package func attach(to ssl: OpaquePointer) -> Bool {
        guard Self.attached(to: ssl) == nil else { return false }
        let reference = Unmanaged.passRetained(self)
        guard SSL_set_ex_data(ssl, Self.index, reference.toOpaque()) == 1 else {
            reference.release()
            return false
        }
        return true
    }

    /// Takes the hook off a connection whose handshake is over. A later question about a chain is refused.
    static func detach(from ssl: OpaquePointer) {
        // The place exists, so that writing null to it needs no memory.
        guard let hook = attached(to: ssl), SSL_set_ex_data(ssl, index, nil) == 1 else { return }
        Unmanaged.passUnretained(hook).release()
    }

    private static func attached(to ssl: OpaquePointer) -> VerificationHook? {
        // Retained by the `SSL`, see `index`. The caller's reference is a new one.
        SSL_get_ex_data(ssl, index).map { Unmanaged<VerificationHook>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns whether the handshake may lead to a connection that is used: the hook said yes, and nothing has come
    /// between. A resumed session asks for no verdict.
    package static func hasAccepted(_ ssl: OpaquePointer) -> Bool {
        guard case .accepted = attached(to: ssl)?.state else { return false }
        return SSL_session_reused(ssl) == 0 && SSL_get_verify_result(ssl) == Int(X509_V_OK)
    }

    // MARK: The callbacks

    private func received(
        _ message: UnsafeRawBufferPointer, _ contentType: CInt, _ action: CertificateMessageGuard.Action?
    ) {
        observer?.received(message, contentType)
        guard case .notAsked = state else { return }
        switch action {
        case .hidden(let certificates): hidden = certificates
        case .refused(let failure): change(to: .refusedUnread(failure))
        case nil: return
        }
    }

    /// For `SSL_CTX_set_cert_verify_callback`: 1 lets the handshake go on, 0 ends it with the alert that the error in
    /// `store` stands for.
    static func answer(_ store: OpaquePointer?) -> CInt {
        guard let store else { return 0 }
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
        guard let ssl, let hook = attached(to: ssl) else {
            X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        hook.change(to: hook.judged(store, ssl))
        // SSL_get_verify_result returns this error afterwards, and libcurl reads it.
        X509_STORE_CTX_set_error(store, hook.verificationError)
        guard case .accepted = hook.state else { return 0 }
        return 1
    }

    private func judged(_ store: OpaquePointer, _ ssl: OpaquePointer) -> State {
        switch state {
        case .notAsked: break
        case .accepted: return .failed(.askedTwice)
        // The first reason to refuse stays.
        case .rejected, .refusedUnread, .failed: return state
        }
        guard namesHost(ssl) else { return .failed(.otherName) }
        guard let chain = PeerChain(borrowing: store, of: ssl, restoring: hidden) else { return .failed(.noChain) }
        switch judge(chain) {
        case .accept: return .accepted
        case .reject(let alert): return .rejected(alert)
        case .abort(let fault): return .failed(fault)
        }
    }

    /// Tells of a new state once: a second question about a refused server changes nothing.
    private func change(to state: State) {
        guard state != self.state else { return }
        self.state = state
        observer?.changed(to: state)
    }

    private var verificationError: CInt {
        switch state {
        case .accepted: X509_V_OK
        case .rejected(let alert): alert.verificationError
        case .failed(let fault): fault.verificationError
        case .notAsked, .refusedUnread: X509_V_ERR_UNSPECIFIED
        }
    }

    /// Returns whether the name in SNI (RFC 6066 section 3), if one was sent, is the one that is judged.
    private func namesHost(_ ssl: OpaquePointer) -> Bool {
        guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return true }
        // As a rule the bytes are equal, which costs no memory.
        return isHost(name) || (try? ServerName(String(cString: name))) == host
    }

    /// Compares byte by byte, as far as the first difference. No byte of a host is 0, so that this ends with the text.
    private func isHost(_ text: UnsafePointer<CChar>) -> Bool {
        for (offset, byte) in host.canonical.enumerated() where UInt8(bitPattern: text[offset]) != byte { return false }
        return text[host.canonical.count] == 0
    }
}
