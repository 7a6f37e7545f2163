internal import COpenSSL
internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// Checks the server of one connection inside its handshake.
///
/// Everything happens on the transport's thread. libcurl makes an `SSL_CTX` for each connection. The `SSL_CTX` owns a
/// reference to the judge. The `SSL` owns the ``VerificationHook``, which also keeps the judge alive.
final class HandshakeJudge: HandshakeObserver {
    /// The kinds of receipt that an accepted connection gets. Only tests use another one than `written`.
    enum Receipts: Sendable {
        case written
        case missing
        /// A receipt that does not mention the user's approval of the server.
        case withoutApproval
    }

    /// The reasons why a handshake failed, as far as the judge knows them.
    enum Cause: Equatable {
        /// A newer policy was in force when the server sent its certificates. This judge's policy then decides nothing.
        case superseded
        case rejected(TrustRejection)
        /// OpenSSL asked for a verdict twice, or about a server other than the transfer's.
        case notJudged
        /// OpenSSL had no memory for the hook or for the filter that limits reading.
        case outOfMemory
        /// The server sent more than ``ReadLimits/handshake``.
        case tooLong
        /// The server speaks another protocol than TLS, with this name.
        case foreignProtocol(String)
        /// OpenSSL could not parse the server's certificates. Otherwise it asks for a verdict as soon as it has parsed
        /// them.
        case unreadableCertificates
        /// The server ended the connection because of the client's certificate, or for the lack of one.
        case client(SessionError)
    }

    let endpoint: ServerEndpoint
    private let generation: PolicyGeneration
    private let receipts: Receipts
    private let budget: ReadBudget
    private var hasBegun = false
    private var hasBudget = false
    private var sawCertificates = false
    /// The state of the connection's ``VerificationHook``.
    private(set) var state = VerificationHook.State.notAsked
    /// A Boolean value that indicates whether the server sent close_notify, after which it sends no more data. An
    /// answer to the client's own close_notify does not count.
    private(set) var sawEnd = false
    /// A Boolean value that indicates whether libcurl could not read what came over the connection (HTTP/2). Responses
    /// that come later are not to be believed.
    var isBroken = false
    private var hasFatalAlert = false
    /// The value of ``isIntact`` when libcurl ended the connection; `nil` before.
    private var wasIntact: Bool?
    /// A Boolean value that indicates whether the connection has neither failed nor ended without close_notify, which
    /// is all that an attacker on the network can do to it.
    var isIntact: Bool { wasIntact ?? (!hasFatalAlert && !budget.hasFailed) }
    /// A Boolean value that indicates whether a request was not sent, because the server was not silent before it.
    var hasWithheldRequest: Bool { budget.hasWithheldBytes }
    /// The number of transfers that the connection carries.
    private var transferCount = 0
    private var lastUse = ProcessInfo.processInfo.systemUptime
    /// The seconds since the last transfer has left the connection; 0 while it carries one.
    var idleTime: Double { transferCount > 0 ? 0 : ProcessInfo.processInfo.systemUptime - lastUse }
    private var rejection: TrustRejection?
    /// The verdict that accepted the server.
    private var acceptance: TrustEvaluation?
    private lazy var authentication = ClientAuthentication(
        generation.identity, objection: { [unowned self] in objectionToIdentity },
        didShow: { [unowned self] in generation.reportDates(of: $0, for: endpoint, at: Date()) })
    /// A Boolean value that indicates whether the server refused the client with an alert.
    private var hasRefusedClient = false
    /// A Boolean value that indicates whether a response has come over the connection.
    var hasAnswered = false
    /// The smallest last stream that the server has announced with GOAWAY (RFC 9113 section 6.8). Streams above it were
    /// not processed.
    var lastStream = UInt32.max
    /// A Boolean value that indicates whether the server seems to have refused a stream of the connection.
    var hasRefused = false
    /// A Boolean value that indicates whether the transfers of the connection watch for refused requests.
    var watchesRefusals = false

    /// The number of handles that libcurl may still refer to because of the connection. See ``AbandonedHandle``.
    var abandonedHandles = 0
    /// A Boolean value that indicates whether libcurl has freed the connection.
    private(set) var isClosed = false

    /// - Parameters:
    ///   - endpoint: the host and port of the transfer, never a name from SNI or from a certificate.
    ///   - receipts: `written`, except in tests of the second gate.
    ///   - budget: the read limit of this connection only.
    init(
        of endpoint: ServerEndpoint, in generation: PolicyGeneration, receipts: Receipts,
        reading budget: ReadBudget
    ) {
        self.endpoint = endpoint
        self.generation = generation
        self.receipts = receipts
        self.budget = budget
    }

    /// The index of the judge on an `SSL_CTX`, which owns a reference to the judge after ``install(on:)``.
    ///
    /// OpenSSL calls this function once, when it frees the `SSL_CTX`. By then it has freed every `SSL` made from it, so
    /// no callback can follow.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, pointer, _, _, _, _ in
        guard let pointer else { return }
        let judge = Unmanaged<HandshakeJudge>.fromOpaque(pointer)
        judge.takeUnretainedValue().isClosed = true
        judge.release()
    }

    /// Makes a connection depend on the judge's verdict.
    ///
    /// - Returns: `false` if the connection must not be made.
    func install(on context: OpaquePointer) -> Bool {
        let reference = Unmanaged.passRetained(self)
        guard Self.index >= 0, SSL_CTX_set_ex_data(context, Self.index, reference.toOpaque()) == 1 else {
            reference.release()
            return false
        }
        SSL_CTX_set_info_callback(context) { ssl, place, value in
            guard let ssl else { return }
            if place & SSL_CB_ALERT != 0 {
                HandshakeJudge.installed(on: ssl)?.note(value, isSent: place & SSL_CB_WRITE != 0)
            }
            if place & SSL_CB_HANDSHAKE_START != 0 { HandshakeJudge.installed(on: ssl)?.begin(ssl) }
            if place & SSL_CB_HANDSHAKE_DONE != 0 {
                HandshakeJudge.installed(on: ssl)?.budget.endHandshake(isMultiplexed: HandshakeJudge.speaksHTTP2(ssl))
            }
        }
        return VerificationHook.install(on: context)
    }

    /// Installs the read limit and the hook before OpenSSL reads the first byte of the handshake. If the read limit
    /// cannot be installed, no hook is attached, and OpenSSL's callback then refuses the server.
    private func begin(_ ssl: OpaquePointer) {
        guard !hasBegun else { return }
        hasBegun = true
        // libcurl 8.15 and newer let OpenSSL read 64 KiB ahead. OpenSSL would then handle thousands of messages in one
        // turn, because ``ReadBudget`` charges a message only after it was read.
        SSL_set_read_ahead(ssl, 0)
        hasBudget =
            budget.install(on: ssl)
            && VerificationHook(for: endpoint, observer: self, authentication: authentication, judge: verdict)
                .attach(to: ssl)
    }

    /// - Parameter alert: The level in the higher byte, the description in the lower one.
    private func note(_ alert: CInt, isSent: Bool) {
        if alert >> 8 == SSL3_AL_FATAL { hasFatalAlert = true }
        // In TLS 1.3 the CertificateRequest is encrypted, so an attacker on the network cannot forge it. In TLS 1.2 an
        // attacker can forge it and the alert, and so choose the text of the error.
        if !isSent, alert >> 8 == SSL3_AL_FATAL, authentication.answer != .notAsked,
            ClientCertificateFailure.alerts.contains(UInt8(truncatingIfNeeded: alert))
        {
            hasRefusedClient = true
        }
        if isSent, alert & 0xFF == SSL3_AD_CLOSE_NOTIFY { wasIntact = isIntact }
    }

    /// The reason why the handshake failed; `nil` if it has not failed, or if the judge does not know.
    var cause: Cause? {
        switch state {
        case .failed(.superseded): return .superseded
        case .failed(.otherName), .failed(.askedTwice): return .notJudged
        case .notAsked, .accepted, .rejected, .refusedUnread, .failed(.noChain), .failed(.outOfMemory): break
        }
        if let rejection { return .rejected(rejection) }
        if hasBegun, !hasBudget { return .outOfMemory }
        if budget.isExceeded { return .tooLong }
        if let name = ForeignProtocol.name(budget.firstBytes) { return .foreignProtocol(name) }
        let isUnread = state == .notAsked || state == .failed(.noChain)
        return sawCertificates && isUnread ? .unreadableCertificates : nil
    }

    /// The reason why the server does not get the client's identity; `nil` if it may have it.
    private var objectionToIdentity: ClientAuthentication.Objection? {
        ClientAuthentication.Objection(of: generation.policy, after: acceptance, to: generation.identity)
            ?? (generation.isCurrent ? nil : .superseded)
    }

    /// The part of the client's identity that the server got. It is final when the handshake has ended.
    var clientCertificate: ClientCertificateUse {
        switch authentication.answer {
        case .notAsked: .notRequested
        case .withheld: .withheld
        case .shown(let identity, _, _): .shown(identity.fingerprint)
        }
    }

    /// Returns the reason why a transfer got no response, if the server ended the connection because of the client's
    /// certificate.
    ///
    /// - Parameter hasEnded: `true` if the connection ended without an alert before the request was sent. Servers that
    ///   require a certificate may end it so.
    func clientCause(hasEnded: Bool) -> Cause? {
        guard !hasAnswered, hasRefusedClient || hasEnded else { return nil }
        if case .withheld(.superseded, _, _) = authentication.answer { return .superseded }
        let failure = ClientCertificateFailure(
            authentication.answer, of: endpoint, hasRefused: hasRefusedClient,
            remedy: "give the session one with URLSession.pinned(to:identity:)")
        return failure.map { failure in
            var error = SessionError(
                failure.wasShown ? .clientCertificateRefused : .clientCertificateRequired, failure.message,
                hint: failure.hint)
            error.clientCertificateRequest = failure.request
            return .client(error)
        }
    }

    /// - Returns: `true` if the connection carries no other transfer.
    func addTransfer() -> Bool {
        transferCount += 1
        return transferCount == 1
    }

    /// - Parameter hasAnswered: `true` if the transfer has got a response.
    /// - Returns: `true` if the connection carries no transfer any more.
    func removeTransfer(hasAnswered: Bool) -> Bool {
        transferCount -= 1
        self.hasAnswered = self.hasAnswered || hasAnswered
        lastUse = ProcessInfo.processInfo.systemUptime
        return transferCount == 0
    }

    /// Makes the next write over the connection fail if the server has sent anything that was not read yet, or has
    /// ended the connection. See ``hasWithheldRequest``.
    ///
    /// A ticket or a KeyUpdate counts too, because OpenSSL cannot decrypt it within a write. The cost is a new
    /// connection.
    func withholdRequestUnlessSilent() { budget.expectsSilence = true }

    /// Returns `true` if the server has sent content by now, which is kept for the next read. Tickets and KeyUpdate
    /// messages are no content. If they use up the allowance of this turn, content may follow, so that counts too.
    func hasEarlyContent(on ssl: OpaquePointer, from socket: CInt) -> Bool {
        budget.beginPeek()
        budget.socket = socket
        defer { budget.socket = nil }
        var byte: UInt8 = 0
        let count = SSL_peek(ssl, &byte, 1)
        ERR_clear_error()
        return count > 0 || budget.isUsedUp
    }

    /// Returns the judge of a connection.
    static func installed(on ssl: OpaquePointer) -> HandshakeJudge? {
        judge(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index))
    }

    /// Returns `true` once the handshake is complete.
    static func hasEndedHandshake(_ ssl: OpaquePointer) -> Bool { SSL_is_init_finished(ssl) == 1 }

    /// Returns `true` if client and server have agreed on HTTP/2 (RFC 7301).
    static func speaksHTTP2(_ ssl: OpaquePointer) -> Bool {
        NegotiatedTLS.applicationProtocol(on: ssl) == "h2"
    }

    private static func judge(_ pointer: UnsafeMutableRawPointer?) -> HandshakeJudge? {
        // Unretained is safe: the `SSL_CTX` holds a reference (see `index`), and the caller's `SSL` keeps its `SSL_CTX`
        // alive.
        pointer.map { Unmanaged<HandshakeJudge>.fromOpaque($0).takeUnretainedValue() }
    }

    func received(_ message: UnsafeRawBufferPointer, _ contentType: CInt) {
        if contentType == SSL3_RT_ALERT, message.last == UInt8(SSL3_AD_CLOSE_NOTIFY), wasIntact == nil { sawEnd = true }
        guard contentType == SSL3_RT_HANDSHAKE else { return }
        budget.chargeMessage()
        if message.first == UInt8(SSL3_MT_CERTIFICATE) { sawCertificates = true }
    }

    func changed(to state: VerificationHook.State) {
        self.state = state
        guard case .refusedUnread(let failure) = state else { return }
        rejection = .invalidPath(failure)
        generation.report(TrustEvaluation(of: endpoint, unreadable: failure), at: Date())
    }

    private func verdict(on chain: borrowing PeerChain) -> HandshakeVerdict {
        guard let inForce = generation.inForce else { return .abort(.superseded) }
        let now = Date()
        let evaluation = generation.policy.evaluate(
            endpoint, chain, approvals: generation.snapshot.approvals, at: now,
            newestKnownTime: inForce.newestKnownTime, validator: generation.validator)
        if case .rejected(let rejection) = evaluation.decision { self.rejection = rejection }
        generation.report(evaluation, at: now)
        let verdict = evaluation.decision.handshakeVerdict
        guard verdict == .accept else { return verdict }
        acceptance = evaluation
        guard
            let receipt = ConnectionReceipt(
                evaluation, in: generation, at: now, isApproval: receipts != .withoutApproval),
            receipts == .missing || receipt.attach(to: chain.connection)
        else { return .abort(.outOfMemory) }
        return .accept
    }
}
