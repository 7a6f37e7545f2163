internal import COpenSSL
package import Pintle

/// Asks for a verdict on the server's certificates before a handshake can complete.
///
/// OpenSSL calls back for each message from the server before it parses the message, and again when it has parsed the
/// certificates. The callbacks are installed on the `SSL_CTX` (``install(on:)``). They find the hook of their
/// connection on its `SSL` (``attach(to:)``), and refuse a connection without a hook. A hook asks for a verdict once,
/// and only about the server that the ClientHello named.
///
/// All calls happen on the thread that runs the handshake.
package final class VerificationHook {
    package enum State: Hashable, Sendable {
        case notAsked
        case accepted
        case rejected(TLSAlert)
        /// The guard refused the Certificate message before OpenSSL parsed it.
        case refusedUnread(PathFailure)
        /// The handshake ended without a valid verdict.
        case failed(HandshakeVerdict.AbortReason)
    }

    package private(set) var state = State.notAsked
    /// The original DER of the certificates whose keys the guard hid from OpenSSL.
    private var hidden: [Int: [UInt8]] = [:]
    private let host: ServerName
    private let observer: (any HandshakeObserver)?
    private let authentication: ClientAuthentication?
    private let judge: (borrowing PeerChain) -> HandshakeVerdict

    /// - Parameters:
    ///   - endpoint: the server that the caller asked for, never a name from SNI or a certificate.
    ///   - observer: receives the events of the handshake and of the connection after it. Retained by the hook.
    ///   - authentication: answers a CertificateRequest, after the judge has accepted the server.
    ///   - judge: called at most once. Retained by the hook.
    package init(
        for endpoint: ServerEndpoint, observer: (any HandshakeObserver)? = nil,
        authentication: ClientAuthentication? = nil,
        judge: @escaping (borrowing PeerChain) -> HandshakeVerdict
    ) {
        host = endpoint.host
        self.observer = observer
        self.authentication = authentication
        self.judge = judge
    }

    // MARK: On a context

    /// Makes every connection of an `SSL_CTX` ask its hook, and turns off everything that could bypass it.
    ///
    /// - Returns: `false` if OpenSSL has no memory, or if a suite without certificates cannot be disabled. The context
    ///   must then not be used.
    package static func install(on context: OpaquePointer) -> Bool {
        guard index >= 0 else { return false }
        // With SSL_VERIFY_NONE, OpenSSL would call back but ignore a refusal.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in VerificationHook.answer(store) }, nil)
        // OpenSSL calls this when it has read the server's part of the handshake, and goes on without a certificate if
        // the connection has none.
        SSL_CTX_set_cert_cb(
            context,
            { ssl, _ in
                guard let ssl, let hook = VerificationHook.attached(to: ssl) else { return 1 }
                hook.authentication?.answer(on: ssl, isAccepted: hook.state == .accepted)
                return 1
            }, nil)
        SSL_CTX_set_msg_callback(context) { isSent, version, contentType, bytes, count, ssl, _ in
            guard contentType == SSL3_RT_ALERT || contentType == SSL3_RT_HANDSHAKE, let ssl else { return }
            let message = UnsafeRawBufferPointer(start: bytes, count: count)
            guard isSent == 0 else {
                guard contentType == SSL3_RT_HANDSHAKE, message.first == UInt8(SSL3_MT_CERTIFICATE_VERIFY) else {
                    return
                }
                VerificationHook.attached(to: ssl)?.authentication?.noteSignature()
                return
            }
            // Inspect even without a hook, so that OpenSSL never parses a dangerous message.
            let action = CertificateMessageGuard.inspect(message, contentType, version)
            VerificationHook.attached(to: ssl)?.received(message, contentType, action)
        }
        // libcurl would write the connection's keys to the file in SSLKEYLOGFILE, if that variable is set.
        SSL_CTX_set_keylog_callback(context, nil)
        return ContextRestriction.apply(to: context)
    }

    // MARK: On a connection

    /// The index of the hook among an `SSL`'s extra data. `SSL_get_app_data` is not used, because libcurl uses it.
    ///
    /// From ``attach(to:)`` on, the `SSL` owns a reference to the hook. OpenSSL calls this function once, when it frees
    /// the `SSL`; ``detach(from:)`` replaces the reference with null. Callbacks run only inside calls on the `SSL`, so
    /// the hook outlives them. A copy of an `SSL` (`SSL_dup`) has null here, so it is refused. Only foreign code that
    /// writes to this index without getting it from OpenSSL could break these rules.
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

    /// Attaches the hook to a connection. Must be called before the first byte of the handshake is read.
    ///
    /// - Returns: `false` if OpenSSL has no memory, or if the connection already has a hook.
    package func attach(to ssl: OpaquePointer) -> Bool {
        guard Self.attached(to: ssl) == nil else { return false }
        let reference = Unmanaged.passRetained(self)
        guard SSL_set_ex_data(ssl, Self.index, reference.toOpaque()) == 1 else {
            reference.release()
            return false
        }
        return true
    }

    /// Detaches the hook from a connection after the handshake. If OpenSSL then asks about another chain, it is
    /// refused.
    package static func detach(from ssl: OpaquePointer) {
        // Needs no memory, because the entry already exists.
        guard let hook = attached(to: ssl), SSL_set_ex_data(ssl, index, nil) == 1 else { return }
        Unmanaged.passUnretained(hook).release()
    }

    private static func attached(to ssl: OpaquePointer) -> VerificationHook? {
        // Unretained: the `SSL` keeps its own reference, see `index`.
        SSL_get_ex_data(ssl, index).map { Unmanaged<VerificationHook>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns whether the connection may be used: the hook accepted it, and nothing has changed since. A resumed
    /// session is refused, because it asks for no verdict.
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

    /// Implements `SSL_CTX_set_cert_verify_callback`: 1 continues the handshake, 0 ends it with the alert for the error
    /// in `store`.
    static func answer(_ store: OpaquePointer?) -> CInt {
        guard let store else { return 0 }
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
        guard let ssl, let hook = attached(to: ssl) else {
            X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        hook.change(to: hook.judged(store, ssl))
        // SSL_get_verify_result returns this error later, and libcurl reads it.
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

    /// Changes the state and notifies the observer once. A second question about a refused server has no effect.
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

    /// Returns whether the name in SNI (RFC 6066 section 3), if one was sent, is the judged name.
    private func namesHost(_ ssl: OpaquePointer) -> Bool {
        guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return true }
        // Fast path without allocation: usually the bytes are equal.
        return isHost(name) || (try? ServerName(String(cString: name))) == host
    }

    /// Compares byte by byte up to the first difference. A host contains no zero byte, so the comparison stops at the
    /// text's end.
    private func isHost(_ text: UnsafePointer<CChar>) -> Bool {
        for (offset, byte) in host.canonical.enumerated() where UInt8(bitPattern: text[offset]) != byte { return false }
        return text[host.canonical.count] == 0
    }
}
