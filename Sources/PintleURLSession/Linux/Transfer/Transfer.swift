internal import CCurl
internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// A running request: an easy handle and the state that its callbacks need.
///
/// `@unchecked`: other threads read only `request`, `generation` and `options`, which are `let` and Sendable. `init`
/// and `deinit` use the rest, and between them only the transport's thread, through ``CurlLoop`` and libcurl's
/// callbacks. ``CurlLoop/send(_:)`` ends a transfer on another thread only when the loop has ended; then only the
/// thread that starts the transfer has a reference to it.
final class Transfer: @unchecked Sendable {
    let request: TransferRequest
    let generation: PolicyGeneration
    /// The receiver of events; `nil` after the last event.
    private(set) var events: (any TransferEvents)?
    var handle: UnsafeMutableRawPointer?
    var holds: TransferHold = []
    var lastActivity = ProcessInfo.processInfo.systemUptime
    /// A Boolean value that indicates whether this is the second attempt, which needs a new connection. There is no
    /// third.
    var wantsFreshConnection = false
    /// The bytes of content that were reported as sent. A repetition reports only those behind them.
    var reportedBytes: Int64 = 0

    let options: CurlTransport.Options
    /// The counter of the loop that the transfer runs in.
    let counter: TurnCounter
    let addresses: StringList
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    var handleState = HandleState()
    /// The list in which the loop finds transfers that have gathered content, or found out that they share a
    /// connection.
    var gathering: Gathering?
    /// The result, once there is one. A hold may delay its report.
    private(set) var end: Result<Void, TransferFailure>?
    /// The bytes that this transfer has counted in ``TurnCounter/decodingMemory``.
    var memory = 0

    /// The limit in bytes for all heads of a transfer. Newer and patched versions of libcurl have the same limit;
    /// others have none.
    static let headLimit = 300 << 10
    /// The limit in bytes for all heads of a transfer over HTTP/2. libcurl before 8.1 has the same limit.
    static let streamHeadLimit = (128 << 10) - 1
    /// The limit in bytes for a proxy's responses to CONNECT. libcurl reads them byte by byte, with a system call for
    /// each.
    static let tunnelHeadLimit = 32 << 10
    /// The limit on the lines of all heads. A line costs more than its bytes.
    static let headLineLimit = 1_000

    /// The state of one easy handle. If a transfer is repeated on another connection, the second handle starts with a
    /// new state.
    struct HandleState {
        var bodyReader: BodyReader?
        var judge: HandshakeJudge?
        /// The judge of the connection that carries the request. Another transfer may have made that connection.
        var connectionJudge: HandshakeJudge?
        var head = ResponseHead()
        var hasHead = false
        /// A Boolean value that indicates whether a 1xx response came with `Content-Length: 0`.
        var hasInterimLength = false
        /// A Boolean value that indicates whether the next line is the first of a head.
        var isHeadNew = true
        /// The bytes of all heads, interim responses included.
        var headSize = 0
        var headLines = 0
        /// A Boolean value that indicates whether a connection is being made. Until it is made, head lines come from a
        /// proxy.
        var isConnecting = false
        /// A Boolean value that indicates whether libcurl decodes the content.
        var isCoded = false
        var hasDecoded = false
        /// The encoded bytes that had come when libcurl last delivered decoded content.
        var codedBefore: Int64 = 0
        /// The turn of the loop in which libcurl last delivered decoded content, and the bytes of it in this turn.
        var decodingTurn = -1
        var decodedInTurn = 0
        /// The largest window in bytes that the decoder may have.
        var window = 0
        /// The decoding budget of the connection.
        var decoding: DecodingBudget?
        var decodingFault: String?
        var tunnelHeadSize = 0
        /// The reason why the proxy opened no tunnel.
        var tunnelFault: String?
        /// The bytes of decoded content, handed over or gathered.
        var received: Int64 = 0
        /// Content that waits until libcurl has no more in this turn, and is then handed over.
        var gathered = Data()
        /// A Boolean value that indicates whether the last line belongs to a field, so that a folded line may follow.
        var isInField = false
        /// The reason why the head or the trailers are refused.
        var headFault: String?
        /// A Boolean value that indicates whether libcurl was asked to pause receiving.
        var isReceivePaused = false
        var isSendPaused = false
        /// The uptime of the last check by ``checkStream(at:)``.
        var lastCheck = 0.0
        /// The reason why a part of the content was lost. The transfer must not report the rest as the complete
        /// content.
        var contentLoss: CURLcode?
        /// A Boolean value that indicates whether the connection carries other transfers too (HTTP/2).
        var isStream = false
        /// A Boolean value that indicates whether the gate has let the request pass.
        var hasPassedGate = false
        var gateFailure: GateFailure?
        /// A Boolean value that indicates whether libcurl does not check the server's name. The verdict then has to be
        /// based on an approval.
        var acceptsOtherNames = false
    }

    enum GateFailure {
        case noReceipt, receiptOver, superseded
        /// The connection has no TLS yet, because another transfer is still making it. libcurl 7.88 uses such a
        /// connection if an older one to the same server speaks HTTP/2.
        case unfinished
        /// The kept connection is unfit for this request, which was not sent over it.
        case unfit
        /// libcurl wanted to send the request again, although the server may have received it.
        case repeated
    }

    init(
        _ request: TransferRequest, in generation: PolicyGeneration, options: CurlTransport.Options,
        addresses: StringList, countedBy counter: TurnCounter, events: any TransferEvents
    ) {
        self.request = request
        self.generation = generation
        self.options = options
        self.counter = counter
        self.events = events
        self.addresses = addresses
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        counter.countDecodingMemory(-memory)
        errorText.deallocate()
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: The gates

extension Transfer {
    /// Checks the host before libcurl makes a connection.
    ///
    /// If the policy rejects hosts that no rule covers, such a host gets no connection, and the client does not
    /// send its name in SNI. Requests without TLS were refused before.
    func refuseForbiddenHost() throws(TransferFailure) {
        let (policy, endpoint) = (generation.policy, request.url.endpoint)
        guard policy.unpinnedHosts == .reject, policy.rule(for: endpoint) == nil else { return }
        let evaluation = TrustEvaluation(notAllowed: endpoint)
        generation.report(evaluation, at: Date())
        throw .rejected(.hostNotAllowed(endpoint))
    }

    /// Installs a judge on the `SSL_CTX` of a connection that libcurl makes for this transfer.
    ///
    /// - Returns: `false` if the connection must not be made.
    func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, receipts: options.receipts,
            reading: ReadBudget(options.readLimits, countedBy: counter))
        handleState.judge = judge
        return judge.install(on: context)
    }

    /// Returns `true` if the request may go over the connection, new or kept. libcurl calls this before each attempt to
    /// send it.
    func passesGate() -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
        let isKept = !handleState.isConnecting
        handleState.isConnecting = false
        guard beginsAttempt() else { return false }
        guard generation.isCurrent else {
            handleState.gateFailure = .superseded
            return false
        }
        handleState.hasPassedGate = hasVerdict() && isFit(isKept)
        // Otherwise another request would meet the same connection. An unfinished one belongs to another transfer.
        if !handleState.hasPassedGate, handleState.gateFailure != .unfinished {
            pintle_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
        }
        return handleState.hasPassedGate
    }

    /// Returns `true` if the connection has a verdict that allows the request.
    private func hasVerdict() -> Bool {
        let ssl = pintle_curl_get_ssl(handle)
        guard request.url.scheme == .https else { return ssl == nil }
        guard let ssl, HandshakeJudge.hasEndedHandshake(OpaquePointer(ssl)) else {
            handleState.gateFailure = .unfinished
            return false
        }
        guard let receipt = ConnectionReceipt.attached(to: OpaquePointer(ssl)) else {
            handleState.gateFailure = .noReceipt
            return false
        }
        if handleState.acceptsOtherNames {
            guard case .userApproved = receipt.trust.basis else {
                handleState.gateFailure = .noReceipt
                return false
            }
        }
        let judge = HandshakeJudge.installed(on: OpaquePointer(ssl))
        guard judge?.isBroken != true, receipt.allows(request.url.endpoint, in: generation, at: options.now()) else {
            handleState.gateFailure = .receiptOver
            return false
        }
        var trust = receipt.trust
        // The receipt is older than the group: in TLS 1.2 the certificates come first.
        trust.keyExchangeGroup = KeyExchangeGroup(negotiatedOn: OpaquePointer(ssl))
        handleState.head.receipt = trust
        handleState.connectionJudge = judge
        handleState.isStream = HandshakeJudge.speaksHTTP2(OpaquePointer(ssl))
        if handleState.isStream { gathering?.addStream(self) }
        chooseEndOfContent()
        if handleState.isStream { watchProgress() }
        return true
    }
}

// MARK: HTTP/2

extension Transfer {
    /// The seconds after which a silent stream is checked for the first time.
    static let shortestSilence = 0.05

    static let brokenFault =
        "the server broke the rules of HTTP/2, or sent a response whose head is longer than 128 kB"

    /// A Boolean value that indicates whether libcurl could not read what came over the connection.
    var isBroken: Bool { handleState.connectionJudge?.isBroken == true }

    /// Notes that libcurl could not read what came over the connection.
    ///
    /// libcurl then ends only the transfer that it was reading for. For the next one it hands the same bytes to nghttp2
    /// again, in the middle of a frame. So a value in an overlong head could become a frame of another response.
    /// libcurl calls this function before the next transfer, and the connection's other transfers end in
    /// ``readHeadLine(_:_:)``, ``receive(_:_:)`` and ``end(_:)``.
    func checkFrames() {
        guard errorText.pointee != 0, handleState.isStream, String(cString: errorText).contains("nghttp2") else {
            return
        }
        handleState.connectionJudge?.isBroken = true
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Makes libcurl look at an HTTP/2 stream on which nothing has happened for a while.
    ///
    /// libcurl 7.88 can wait for a socket that stays silent in three cases. It has read data of several streams and
    /// delivered it to only some of them: then the next turn of the loop delivers the rest. A stream ends while libcurl is
    /// sending, or the server's window for more content opens: then libcurl has to be told.
    ///
    /// - Returns: the uptime of the next check.
    func checkStream(at now: Double) -> Double {
        guard handleState.isStream, end == nil, holds.isEmpty, !handleState.isSendPaused, let handle else {
            return .infinity
        }
        // Exponential back-off.
        let interval = min(max(handleState.lastCheck - lastActivity, Self.shortestSilence), 2)
        let next = max(handleState.lastCheck, lastActivity) + interval
        guard now >= next else { return next }
        handleState.lastCheck = now
        if request.hasContent, handleState.hasHead {
            // libcurl checks a stream when it is resumed after a pause.
            curl_easy_pause(handle, pauses | CInt(CURLPAUSE_SEND))
            recordLoss(curl_easy_pause(handle, pauses))
        }
        return now + min(max(now - lastActivity, Self.shortestSilence), 2)
    }
}

// MARK: The end

extension Transfer {
    /// A Boolean value that indicates whether the connection carries several transfers at a time.
    var isMultiplexed: Bool { handleState.head.version.hasPrefix("HTTP/2") }

    /// A Boolean value that indicates whether only the end of the connection ends the content (RFC 9112 section 6.3).
    private var isEndedByConnection: Bool {
        let head = handleState.head
        return head.version.hasPrefix("HTTP/1") && request.method != "HEAD" && ![204, 304].contains(head.status)
            && !head.hasFraming
    }

    /// A Boolean value that indicates whether the last event was sent.
    var isOver: Bool { events == nil }

    /// Records libcurl's result. It is reported at once, or once no hold delays it.
    func end(_ result: CURLcode) {
        handOver()
        var result = judged(result)
        if result == CURLE_OK {
            if let loss = handleState.contentLoss {
                result = loss
            } else if isBroken {
                result = CURLE_RECV_ERROR
            } else if !handleState.hasHead {
                // libcurl treats a connection that ends within a head as a complete response.
                result = CURLE_GOT_NOTHING
            } else if request.url.scheme == .https, isEndedByConnection, handleState.connectionJudge?.sawEnd != true {
                // libcurl treats a truncated connection as the end of content without a length (RFC 9112 section 9.8).
                result = CURLE_PARTIAL_FILE
            }
        }
        end = result == CURLE_OK ? .success(()) : .failure(failure(result))
        if mayReportEnd { reportEnd() }
    }

    /// A Boolean value that indicates whether the end may be reported now. A hold delays success. It delays an error
    /// only while a delegate chooses the next request, because the content may then not matter.
    var mayReportEnd: Bool {
        switch end {
        case .success: holds.isEmpty && handleState.gathered.isEmpty
        case .failure: !holds.contains(.choice)
        case nil: false
        }
    }

    func end(_ failure: TransferFailure) {
        end = .failure(failure)
        reportEnd()
    }

    func reportEnd() {
        guard var end, let events else { return }
        // The last content may be handed over after libcurl's result.
        if case .success = end, let loss = handleState.contentLoss { end = .failure(failure(loss)) }
        self.events = nil
        if case .failure(let failure) = end {
            events.transfer(self, didComplete: failure)
        } else {
            events.transfer(self, didComplete: nil)
        }
    }
}

/// Responses that come during an upload.
extension Transfer {
    /// A Boolean value that indicates whether the response is as long as announced. `false` for encoded content, whose
    /// decoded length is not announced.
    private var hasWholeContent: Bool {
        guard handleState.hasHead, handleState.contentLoss == nil else { return false }
        return isWithoutContent || announcedLength == handleState.received
    }

    var isWithoutContent: Bool { request.method == "HEAD" || [204, 304].contains(handleState.head.status) }

    private var announcedLength: Int64? {
        guard !handleState.head.has("content-encoding") else { return nil }
        return handleState.head.values(of: "content-length").first.flatMap { Int64($0) }
    }

    /// Returns success for a complete response, even if the rest of the request could not be sent: a server may refuse
    /// the rest (RFC 9113 section 8.1), or hang up. Returns an error for an incomplete response.
    func judged(_ result: CURLcode) -> CURLcode {
        guard handleState.hasHead else { return result }
        switch result {
        case CURLE_OK where isMultiplexed && announcedLength != nil:
            return hasWholeContent ? result : CURLE_PARTIAL_FILE
        case CURLE_HTTP2_STREAM where request.hasContent, CURLE_SEND_ERROR where request.hasContent:
            return hasWholeContent ? CURLE_OK : result
        default: return result
        }
    }
}

extension Transfer {
    /// Translates a result of libcurl into a failure.
    func failure(_ result: CURLcode) -> TransferFailure {
        if let failure = failureWithoutResponse(result) { return failure }
        if handleState.gateFailure == .superseded || handleState.judge?.isSuperseded == true { return .superseded }
        if let rejection = handleState.judge?.rejection { return .rejected(rejection) }
        if handleState.gateFailure != nil || handleState.judge?.lacksVerdict == true {
            return .refused(
                SessionRefusal(
                    .notJudged, "the connection to \(request.url.endpoint) has no live verdict; nothing was sent",
                    hint: "please report this, with the versions of pintle, libcurl and OpenSSL"))
        }
        if result == CURLE_OPERATION_TIMEDOUT { return .timedOut }
        if let fault = handleState.tunnelFault { return .library(code: CURLE_RECV_ERROR.rawValue, text: fault) }
        if handleState.judge?.lacksBudget == true {
            return .library(
                code: CURLE_SSL_CONNECT_ERROR.rawValue,
                text: "out of memory: OpenSSL could not set up what judges the server and limits what it reads")
        }
        if handleState.judge?.hasExceededBudget == true {
            return .library(
                code: CURLE_SSL_CONNECT_ERROR.rawValue,
                text:
                    "the server sent more than \(options.readLimits.handshake >> 10) KiB without ending the TLS handshake"
            )
        }
        if isBroken { return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: Self.brokenFault) }
        if let fault = handleState.headFault { return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: fault) }
        if let fault = handleState.decodingFault {
            return .library(code: CURLE_BAD_CONTENT_ENCODING.rawValue, text: fault)
        }
        // libcurl reports a folded line that follows no field as CURLE_BAD_FUNCTION_ARGUMENT.
        if result == CURLE_BAD_FUNCTION_ARGUMENT, handleState.headLines > 0, !handleState.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response is no field")
        }
        // libcurl reports a line of more than 100 kB as CURLE_OUT_OF_MEMORY, since 8.6 as CURLE_TOO_LARGE (100).
        if result == CURLE_OUT_OF_MEMORY || result.rawValue == 100, !handleState.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response has no end")
        }
        if result == CURLE_SSL_CONNECT_ERROR, let name = handleState.judge?.foreignProtocol {
            return .library(
                code: result.rawValue, text: "\(request.url.endpoint) answered in \(name) instead of TLS")
        }
        let text = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        if let judge = handleState.judge, judge.hasUnreadableCertificates {
            let failure = PathFailure(.malformedCertificate, text: text)
            generation.report(TrustEvaluation(of: request.url.endpoint, unreadable: failure), at: Date())
            return .rejected(.invalidPath(failure))
        }
        // libcurl 8 checks transfer codings itself, and reports a wrong one as CURLE_BAD_CONTENT_ENCODING.
        if result == CURLE_BAD_CONTENT_ENCODING, !handleState.hasHead, text.contains("Transfer-Encoding") {
            return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: text)
        }
        return .library(code: result.rawValue, text: text)
    }
}
