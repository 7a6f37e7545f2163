internal import COpenSSL
internal import Pintle

/// The place where OpenSSL's verification callback finds the caller's judgement, for one handshake.
///
/// Used on the thread that runs the handshake, inside `SSL_do_handshake`; hung on the `SSL` by
/// ``attach(to:)`` and taken off again by ``detach(from:)``. A callback that finds no slot refuses.
final class VerdictSlot {
    enum State {
        case notAsked
        case accepted
        case rejected(TLSAlert)
        /// The guard refused the Certificate message, and OpenSSL did not parse it.
        case refusedUnread(PathFailure)
        /// The chain could not be handed over, or a second one came on the same connection.
        case failed
    }

    private(set) var state = State.notAsked
    /// Certificates whose keys OpenSSL was kept from decoding: their DER as it was sent.
    private var hidden: [Int: [UInt8]] = [:]
    private let judge: (borrowing PeerChain) -> HandshakeVerdict

    init(_ judge: @escaping (borrowing PeerChain) -> HandshakeVerdict) {
        self.judge = judge
    }

    /// `SSL_get_app_data` is this index.
    private static let index: CInt = 0

    /// The slot must live until ``detach(from:)``.
    func attach(to ssl: OpaquePointer) -> Bool {
        SSL_set_ex_data(ssl, Self.index, Unmanaged.passUnretained(self).toOpaque()) == 1
    }

    static func detach(from ssl: OpaquePointer) {
        SSL_set_ex_data(ssl, index, nil)
    }

    /// For `SSL_CTX_set_cert_verify_callback`: 1 lets the handshake go on, 0 ends it with the alert that
    /// the error in `context` stands for.
    static func answer(_ context: OpaquePointer?) -> CInt {
        guard let context else { return 0 }
        let sslIndex = SSL_get_ex_data_X509_STORE_CTX_idx()
        guard let ssl = X509_STORE_CTX_get_ex_data(context, sslIndex),
            let slot = attached(to: OpaquePointer(ssl))
        else {
            X509_STORE_CTX_set_error(context, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        return slot.judgeOnce(context)
    }

    static func attached(to ssl: OpaquePointer) -> VerdictSlot? {
        SSL_get_ex_data(ssl, index).map { Unmanaged<VerdictSlot>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes note of what ``CertificateMessageGuard`` did before OpenSSL parsed the certificates.
    func take(_ action: CertificateMessageGuard.Action) {
        guard case .notAsked = state else { return }
        switch action {
        case .refused(let failure): state = .refusedUnread(failure)
        case .hidden(let certificates): hidden = certificates
        }
    }

    private func judgeOnce(_ context: OpaquePointer) -> CInt {
        guard case .notAsked = state, let chain = PeerChain(borrowing: context, restoring: hidden) else {
            state = .failed
            X509_STORE_CTX_set_error(context, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        switch judge(chain) {
        case .accept:
            state = .accepted
            X509_STORE_CTX_set_error(context, X509_V_OK)
            return 1
        case .reject(let alert):
            state = .rejected(alert)
            X509_STORE_CTX_set_error(context, alert.verificationError)
            return 0
        }
    }
}
