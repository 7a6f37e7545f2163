internal import COpenSSL
internal import Pintle
package import PintleOpenSSL
internal import PintleStorage
internal import PintleSystem

/// A single handshake, from the ClientHello to a judged connection or an error.
struct TLSHandshake: ~Copyable {
    /// The time for which the peer can read our alert before the socket is closed, unless it closes first.
    private static let farewell = Duration.milliseconds(50)
    static let allowance = ContextRestriction.handshakeAllowance

    private(set) var pump: TLSPump
    private let target: ServerEndpoint
    private let timeout: Duration
    /// Kept alive during the handshake, because the `SSL` refers to it.
    private let context: TLSContext

    init(
        context: TLSContext, socket: consuming Socket, target: ServerEndpoint, timeout: Duration
    ) throws(HandshakeError) {
        let pump = try TLSPump(context: context.pointer, socket: socket)
        // SNI carries DNS names only (RFC 6066 section 3).
        if !target.isAddress {
            let named = target.name.withCString { name in
                SSL_ctrl(
                    pump.ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: name)
                )
            }
            guard named == 1 else { throw .noResources("OpenSSL cannot be told the host's name") }
        }
        self.context = context
        self.target = target
        self.timeout = timeout
        self.pump = pump
    }

    consuming func intoPump() -> TLSPump { pump }

    /// Runs the handshake, blocking.
    ///
    /// - Parameter hook: asks for the verdict.
    /// - Throws: ``HandshakeError``. OpenSSL's alert about it has been sent to the peer.
    mutating func run(_ hook: VerificationHook) throws(HandshakeError) {
        let deadline = try start(hook)
        while true {
            switch step(hook, until: deadline) {
            case .waiting:
                do throws(PumpError) {
                    try pump.waitForSocket(until: deadline)
                } catch {
                    throw failure(error, certificateArrived: hook.state == .accepted).error
                }
            case .accepted: return
            case .ended(let ending):
                if ending.tellsPeer { pump.socket.finish(within: Self.farewell) }
                throw ending.error
            }
        }
    }

    /// The reason that there is no connection, and whether the peer is being sent an alert about it.
    struct Ending {
        let error: HandshakeError
        let tellsPeer: Bool
    }

    /// - Parameters:
    ///   - hook: has the verdict.
    ///   - outcome: the failure of the exchange; `nil` if it succeeded.
    /// - Returns: `nil` if the verdict accepted the peer.
    private borrowing func ending(_ hook: VerificationHook, _ outcome: PumpError?) -> Ending? {
        // Look at the verdict first, because a refusal causes all failures after it.
        switch hook.state {
        case .rejected(let alert): return Ending(error: rejected(alert), tellsPeer: true)
        case .refusedUnread(let failure): return Ending(error: refusedUnread(failure), tellsPeer: true)
        case .failed(let fault): return Ending(error: notJudged(fault), tellsPeer: true)
        case .accepted:
            if let outcome { return failure(outcome, certificateArrived: true) }
        case .notAsked:
            guard let outcome else { return Ending(error: notAsked, tellsPeer: false) }
            // If OpenSSL could not read the Certificate message, its state stays at that message.
            return failure(outcome, certificateArrived: SSL_get_state(pump.ssl) == TLS_ST_CR_CERT)
        }
        // The context switches resumption off. If a session was resumed all the same, no verdict was asked for: refuse
        // it.
        return VerificationHook.hasAccepted(pump.ssl) ? nil : Ending(error: notAsked, tellsPeer: false)
    }

    // MARK: Non-blocking

    /// The events that `poll` must wait for before the next ``step(_:until:)`` or ``leave()``.
    var events: CInt { pump.turn.events }
    var descriptor: CInt { pump.socket.descriptor }

    /// Starts a handshake that ``step(_:until:)`` continues. The connection keeps the hook.
    ///
    /// - Parameter hook: asks for the verdict.
    /// - Returns: the deadline of the handshake.
    mutating func start(_ hook: VerificationHook) throws(HandshakeError) -> Deadline {
        guard hook.attach(to: pump.ssl) else { throw .noResources("OpenSSL has no memory for a connection") }
        pump.allowance = Self.allowance
        return Deadline(after: timeout)
    }

    enum Step {
        case waiting
        case accepted
        case ended(Ending)
    }

    /// Continues as far as possible without blocking.
    ///
    /// - Parameters:
    ///   - hook: asks for the verdict.
    ///   - deadline: the end of the handshake's time. A piece that has already arrived still counts.
    mutating func step(_ hook: VerificationHook, until deadline: Deadline) -> Step {
        let outcome: PumpError?
        do throws(PumpError) {
            guard try pump.step(until: deadline, { SSL_do_handshake($0) }) != nil else { return .waiting }
            outcome = nil
        } catch {
            outcome = error
        }
        defer { VerificationHook.detach(from: pump.ssl) }
        guard let ending = ending(hook, outcome) else {
            pump.allowance = nil
            return .accepted
        }
        if ending.tellsPeer { pump.socket.sendEnd() }
        return .ended(ending)
    }

    /// The deadline for closing the socket after an alert was sent.
    static var leaveBy: Deadline { Deadline(after: farewell) }

    /// Discards input from the peer. Returns `true` when the socket can be closed: the peer has closed its side, the
    /// socket has failed, or the peer keeps sending.
    borrowing func leave() -> Bool {
        do throws(SocketError) {
            for _ in 0..<16 {
                guard let bytes = try pump.socket.receiveNow(atMost: 16_384) else { return false }
                if bytes.isEmpty { return true }
            }
        } catch {
            return true
        }
        // A peer that keeps sending does not read our alert.
        return true
    }

    // MARK: Errors

    private func rejected(_ alert: TLSAlert) -> HandshakeError {
        HandshakeError(
            .rejectedByVerifier, "the certificate of \(target) was not accepted; the server was told \(alert.name)",
            isBeforeCertificate: false, alert: alert.name
        )
    }

    private func limitsExceeded(_ excess: String) -> HandshakeError {
        HandshakeError(
            .limitsExceeded, "\(target) presents \(excess)",
            hint: "a server should send its leaf and the intermediates only", isBeforeCertificate: false
        )
    }

    private func refusedUnread(_ failure: PathFailure) -> HandshakeError {
        guard failure.code == .malformedCertificate else { return limitsExceeded(failure.primary.text) }
        let position =
            failure.primary.depth.map { $0 == 0 ? "its own certificate" : "certificate \($0)" } ?? "its chain"
        return HandshakeError(
            .malformedCertificate, "\(target) presents, as \(position), \(failure.primary.text)",
            hint: "look at what it sends: openssl s_client -showcerts -connect \(target)", isBeforeCertificate: false)
    }

    private func notJudged(_ fault: HandshakeVerdict.AbortReason) -> HandshakeError {
        switch fault {
        case .outOfMemory: .noResources(fault.text)
        case .noChain:
            HandshakeError(.malformedCertificate, "\(target): \(fault.text)", isBeforeCertificate: false)
        case .otherName, .askedTwice, .superseded:
            HandshakeError(
                .verifierNotCalled, "the handshake with \(target) ended without a verdict: \(fault.text)",
                hint: "please report this, with the versions of pintle and OpenSSL", isBeforeCertificate: false)
        }
    }

    private var notAsked: HandshakeError {
        HandshakeError(
            .verifierNotCalled, "the handshake with \(target) ended without a verdict on a certificate",
            hint: "please report this, with the versions of pintle and OpenSSL", isBeforeCertificate: true)
    }

    private borrowing func failure(_ failure: PumpError, certificateArrived: Bool) -> Ending {
        // Unless the peer's alert ended the handshake, OpenSSL sends one.
        let tellsPeer = if case .library(let errors) = failure { errors.peerAlert == nil } else { false }
        return Ending(error: error(failure, early: !certificateArrived), tellsPeer: tellsPeer)
    }

    private borrowing func error(_ failure: PumpError, early: Bool) -> HandshakeError {
        switch failure {
        case .timedOut:
            return HandshakeError(
                .handshakeTimeout, "\(target) did not finish the TLS handshake within \(timeout.inSeconds)",
                hint: "does the port speak TLS? --handshake-timeout waits longer", isBeforeCertificate: early
            )
        case .endOfStream, .closedByPeer, .broken:
            return closed(failure, early: early)
        case .notTLS(let bytes):
            return HandshakeError(
                .notTLS, "\(target) does not speak TLS: it \(ForeignProtocol.describe(bytes))",
                hint: "check the port; TLS that begins after a command (STARTTLS) is not supported"
            )
        case .tooMuch:
            return HandshakeError(
                .handshakeFailed,
                "\(target) sent more than \(Self.allowance >> 20) MiB without ending the TLS handshake",
                hint: "compare with: openssl s_client -connect \(target)", isBeforeCertificate: early
            )
        case .library(let errors):
            return libraryFailure(errors, early: early)
        }
    }

    private func closed(_ failure: PumpError, early: Bool) -> HandshakeError {
        let how = if case .broken(let error) = failure { ": \(Descriptor.errorText(error))" } else { "" }
        return HandshakeError(
            .closedDuringHandshake, "\(target) closed the connection during the TLS handshake\(how)",
            hint: !target.isAddress
                ? "does the port speak TLS, and does the server know the name \(target.host)?"
                : "does the port speak TLS, and does the server want a name (SNI) that an address cannot give?",
            isBeforeCertificate: early
        )
    }

    private func libraryFailure(_ errors: LibraryErrors, early: Bool) -> HandshakeError {
        if let code = errors.peerAlert {
            let name = TLSAlert.name(of: code)
            return HandshakeError(
                name == "protocol_version" ? .protocolVersion : .tlsAlert,
                "\(target) ended the handshake with the alert \(name)", hint: Self.hint(forAlert: name),
                isBeforeCertificate: early, alert: name
            )
        }
        if errors.contains(SSL_R_UNSUPPORTED_PROTOCOL) || errors.contains(SSL_R_WRONG_SSL_VERSION) {
            return HandshakeError(
                .protocolVersion, "\(target) speaks no version of TLS that is acceptable",
                hint: "older than TLS 1.2 is never used: bring the server up to date", isBeforeCertificate: early
            )
        }
        if !early, errors.contains(SSL_R_EXCESSIVE_MESSAGE_SIZE) {
            return limitsExceeded("more than 4 MiB of certificates")
        }
        if !early, errors.areAboutEncoding {
            return HandshakeError(
                .malformedCertificate, "\(target) presents a certificate that cannot be parsed: \(errors.summary)",
                hint: "look at what it sends: openssl s_client -showcerts -connect \(target)",
                isBeforeCertificate: false
            )
        }
        return HandshakeError(
            .handshakeFailed, "the TLS handshake with \(target) failed: \(errors.summary)",
            hint: "compare with: openssl s_client -connect \(target)", isBeforeCertificate: early
        )
    }

    private static func hint(forAlert name: String) -> String {
        switch name {
        case "protocol_version": "older than TLS 1.2 is never used: bring the server up to date"
        case "unrecognized_name": "the server knows no such name: check the host, or the --connect-to address"
        case "certificate_required", "bad_certificate": "does the server want a client certificate?"
        case "handshake_failure", "insufficient_security": nothingInCommon
        default: "look at the server's log"
        }
    }

    /// The hint for a server that has no algorithm in common with this OpenSSL. A server also sends this alert if the
    /// algorithm of its only key is unknown to this OpenSSL.
    private static var nothingInCommon: String {
        let hint = "the two have no cipher suite, curve or signature algorithm in common"
        guard OpenSSL_version_num() < 0x3050_0000 else { return hint }
        return "\(hint); for a server with an ML-DSA key (FIPS 204) this needs OpenSSL 3.5, and here is "
            + openSSLVersion
    }
}

/// One of many servers for a ``HandshakeLoop``: the target, and the closures that judge it and receive the result.
///
/// Both closures run on the thread of the ``HandshakeLoop``, one at a time.
package struct HandshakeOrder {
    let target: HandshakeTarget
    let proxy: ProxyConfiguration
    let authentication: ClientAuthentication?
    let judge: (borrowing PeerChain) -> HandshakeVerdict
    let ended: (Result<TLSConnection, HandshakeError>) -> Void

    /// - Parameters:
    ///   - target: the server.
    ///   - proxy: the proxy to use, if any.
    ///   - authentication: answers a CertificateRequest.
    ///   - judge: called at most once, and only if a certificate arrives.
    ///   - ended: called once with the result, unless the loop is stopped first. Nothing has been sent over the
    ///     connection.
    package init(
        _ target: HandshakeTarget, via proxy: ProxyConfiguration, authentication: ClientAuthentication? = nil,
        judge: @escaping (borrowing PeerChain) -> HandshakeVerdict,
        ended: @escaping (Result<TLSConnection, HandshakeError>) -> Void
    ) {
        self.target = target
        self.proxy = proxy
        self.authentication = authentication
        self.judge = judge
        self.ended = ended
    }
}
