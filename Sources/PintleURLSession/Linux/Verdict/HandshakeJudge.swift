internal import COpenSSL
internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// Judges the server of one connection, inside its handshake.
///
/// Everything happens on the transport's thread. The connection's `SSL_CTX`, which libcurl makes anew for
/// each connection, owns a reference: a judge outlives every callback that can reach it.
final class HandshakeJudge {
    private let endpoint: ServerEndpoint
    private let generation: PolicyGeneration
    private let receipts: CurlTransport.Receipts
    private let budget: ReadBudget
    private var hasBegun = false
    private var hasBudget = false
    private var wasAsked = false
    private var sawCertificates = false
    /// Certificates whose keys OpenSSL was kept from decoding: their DER as it was sent.
    private var hidden: [Int: [UInt8]] = [:]
    /// Whether OpenSSL stopped at certificates that it cannot parse: it asks as soon as it has.
    var hasUnreadableCertificates: Bool { sawCertificates && !wasAsked }
    /// Whether the server has said that it sends no more (close_notify), which nobody else can say.
    private(set) var sawEnd = false
    /// A Boolean value that indicates whether OpenSSL had no memory for the filter that limits what it reads.
    var lacksBudget: Bool { hasBegun && !hasBudget }
    /// A Boolean value that indicates whether the server sent more than ``ReadLimits/handshake``.
    var hasExceededBudget: Bool { budget.isExceeded }
    /// The limit of decoded content on the connection.
    var decoding: DecodingBudget { budget.decoding }
    /// Why the server was refused.
    private(set) var rejection: TrustRejection?
    /// Whether another policy was in force by the time that the server showed itself: this one said nothing.
    private(set) var isSuperseded = false

    /// - Parameters:
    ///   - endpoint: the transfer's, never what SNI or a certificate says.
    ///   - receipts: another value than `written` only in tests of the second gate.
    ///   - budget: of this connection only.
    init(
        of endpoint: ServerEndpoint, in generation: PolicyGeneration, receipts: CurlTransport.Receipts,
        reading budget: ReadBudget
    ) {
        self.endpoint = endpoint
        self.generation = generation
        self.receipts = receipts
        self.budget = budget
    }

    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, pointer, _, _, _, _ in
        guard let pointer else { return }
        Unmanaged<HandshakeJudge>.fromOpaque(pointer).release()
    }

    /// Puts the judge between the handshake and the request; false, and the connection must not be made.
    func install(on context: OpaquePointer) -> Bool {
        let reference = Unmanaged.passRetained(self)
        guard Self.index >= 0, SSL_CTX_set_ex_data(context, Self.index, reference.toOpaque()) == 1 else {
            reference.release()
            return false
        }
        // libcurl writes the connection's keys to the file that SSLKEYLOGFILE names, if it names one.
        SSL_CTX_set_keylog_callback(context, nil)
        SSL_CTX_set_cert_verify_callback(
            context, { store, judge in HandshakeJudge.judge(judge)?.answer(store) ?? 0 }, reference.toOpaque())
        SSL_CTX_set_msg_callback(context) { isSent, version, contentType, bytes, count, ssl, _ in
            guard isSent == 0, contentType == SSL3_RT_ALERT || contentType == SSL3_RT_HANDSHAKE, let ssl else { return }
            let message = UnsafeRawBufferPointer(start: bytes, count: count)
            HandshakeJudge.installed(on: ssl)?.see(message, contentType, version)
        }
        SSL_CTX_set_info_callback(context) { ssl, place, _ in
            guard let ssl else { return }
            if place & SSL_CB_HANDSHAKE_START != 0 { HandshakeJudge.installed(on: ssl)?.begin(ssl) }
            if place & SSL_CB_HANDSHAKE_DONE != 0 { HandshakeJudge.installed(on: ssl)?.budget.endHandshake() }
        }
        return TLSContext.restrict(context)
    }

    /// Before the first byte of the handshake is read.
    private func begin(_ ssl: OpaquePointer) {
        guard !hasBegun else { return }
        hasBegun = true
        hasBudget = budget.install(on: ssl)
    }

    /// The one that has judged a connection.
    static func installed(on ssl: OpaquePointer) -> HandshakeJudge? {
        judge(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index))
    }

    /// Whether client and server have agreed on HTTP/2 (RFC 7301).
    static func speaksHTTP2(_ ssl: OpaquePointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
    }

    private static func judge(_ pointer: UnsafeMutableRawPointer?) -> HandshakeJudge? {
        pointer.map { Unmanaged<HandshakeJudge>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A message from the server, before OpenSSL parses it.
    private func see(_ message: UnsafeRawBufferPointer, _ contentType: CInt, _ version: CInt) {
        if contentType == SSL3_RT_ALERT, message.last == UInt8(SSL3_AD_CLOSE_NOTIFY) { sawEnd = true }
        if contentType == SSL3_RT_HANDSHAKE { budget.chargeMessage() }
        guard contentType == SSL3_RT_HANDSHAKE, message.first == UInt8(SSL3_MT_CERTIFICATE) else { return }
        sawCertificates = true
        guard let action = CertificateMessageGuard.inspect(message, contentType, version), !wasAsked else { return }
        switch action {
        case .hidden(let certificates): hidden = certificates
        case .refused(let failure):
            if rejection == nil { generation.tell(TrustEvaluation(of: endpoint, unreadable: failure), at: Date()) }
            rejection = .invalidPath(failure)
        }
    }

    /// 1 lets the handshake go on, 0 ends it with the alert that the error in `store` stands for.
    private func answer(_ store: OpaquePointer?) -> CInt {
        guard let store else { return 0 }
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
        guard !wasAsked, rejection == nil, hasBudget, let ssl, isAsked(of: ssl),
            let chain = PeerChain(borrowing: store, restoring: hidden)
        else {
            X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        wasAsked = true
        guard let inForce = generation.inForce else {
            isSuperseded = true
            X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        let now = Date()
        let evaluation = generation.policy.evaluate(
            endpoint, chain, approvals: generation.snapshot.approvals, at: now,
            newestKnownTime: inForce.newestKnownTime, validator: generation.validator)
        if case .rejected(let rejection) = evaluation.decision { self.rejection = rejection }
        generation.tell(evaluation, at: now)
        switch evaluation.decision.handshakeVerdict {
        case .accept:
            guard
                let receipt = HandshakeReceipt(
                    evaluation, in: generation, at: now, isApproval: receipts != .withoutApproval),
                receipts == .missing || receipt.attach(to: ssl)
            else {
                X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM)
                return 0
            }
            // libcurl asks SSL_get_verify_result afterwards.
            X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        case .reject(let alert):
            X509_STORE_CTX_set_error(store, alert.verificationError)
            return 0
        }
    }

    /// Whether the name in SNI, if one was sent, is the one that is judged.
    private func isAsked(of ssl: OpaquePointer) -> Bool {
        guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return true }
        let shown = String(cString: name)
        return shown == endpoint.host.description || (try? ServerName(shown)) == endpoint.host
    }
}
