internal import CCurl
internal import Foundation
internal import Pintle

/// A request that runs: an easy handle and the state that its callbacks need.
///
/// `@unchecked`: other threads read `request`, `generation` and `options`, which are `let` and Sendable. All
/// else is used by `init`, then only on the transport's thread, by ``CurlLoop`` and by libcurl's callbacks, and by
/// `deinit`. ``CurlLoop/send(_:)`` ends a transfer on another thread only when the loop is over: then only the thread that
/// starts the transfer has it.
final class Transfer: @unchecked Sendable {
    let request: TransferRequest
    let generation: PolicyGeneration
    /// `nil` after the last event.
    private(set) var events: (any TransferEvents)?
    var handle: UnsafeMutableRawPointer?
    var holds: TransferHold = []
    var lastActivity = ProcessInfo.processInfo.systemUptime
    /// A Boolean value that indicates whether the connection has to be a new one, because the last verdict had expired.
    var wantsFreshConnection = false

    let options: CurlTransport.Options
    /// The counter of the loop that the transfer runs in.
    let counter: TurnCounter
    let fields: StringList
    let addresses: StringList
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    var handleState = HandleState()
    /// The list in which the loop finds transfers that have gathered content.
    var gathering: Gathering?
    /// The result, once there is one. A hold may delay its report.
    private(set) var end: Result<Void, TransferFailure>?

    /// In bytes. Newer and patched versions of libcurl have the same limit; others have none.
    static let headLimit = 300 << 10
    /// The size of a proxy's answers to CONNECT, in bytes. libcurl reads them byte by byte, with a system call for each.
    static let tunnelHeadLimit = 32 << 10
    /// Lines of all heads: each costs more than its bytes.
    static let headLineLimit = 1_000

    /// The state of one easy handle. If a transfer is repeated on another connection, its second handle starts from here.
    struct HandleState {
        var bodyReader: BodyReader?
        var judge: HandshakeJudge?
        /// The judge of the connection that carries the request. Another transfer may have made that connection.
        var connectionJudge: HandshakeJudge?
        var head = ResponseHead()
        var hasHead = false
        /// A Boolean value that indicates whether a 1xx response came with `Content-Length: 0`.
        var hasInterimLength = false
        /// A Boolean value that indicates whether the next line of a head is its first.
        var isHeadNew = true
        /// Bytes of all heads, interim responses included.
        var headSize = 0
        var headLines = 0
        /// A Boolean value that indicates whether a connection is being made: lines of a head are a proxy's until it is.
        var isConnecting = false
        /// A Boolean value that indicates whether libcurl decodes the content.
        var isCoded = false
        var hasDecoded = false
        /// Bytes of coded content that had come when decoded content came last.
        var codedBefore: Int64 = 0
        /// The turn of the loop in which decoded content was taken last.
        var decodingTurn = -1
        /// The budget of the connection.
        var decoding: DecodingBudget?
        var decodingFault: String?
        var tunnelHeadSize = 0
        /// The reason why the proxy opened no tunnel.
        var tunnelFault: String?
        /// Bytes of decoded content, handed over or gathered.
        var received: Int64 = 0
        /// Content that is handed over as soon as libcurl has no more at hand.
        var gathered = Data()
        /// A Boolean value that indicates whether the last line belongs to a field, so that a folded line may follow.
        var isInField = false
        /// The reason why the head or the trailers are refused.
        var headFault: String?
        /// A Boolean value that indicates whether libcurl was asked to pause receiving.
        var isReceivePaused = false
        var isSendPaused = false
        /// Uptime.
        var lastLook = 0.0
        /// The reason why a part of the content was lost. The rest must not pass for the whole.
        var contentLoss: CURLcode?
        /// A Boolean value that indicates whether the connection carries other transfers too (HTTP/2).
        var isStream = false
        var gateFailure: GateFailure?
        /// A Boolean value that indicates whether libcurl leaves the server's name to the verdict, which then has to be
        /// an approval.
        var acceptsOtherNames = false
    }

    enum GateFailure {
        case noReceipt, receiptOver, superseded
    }

    init(
        _ request: TransferRequest, in generation: PolicyGeneration, options: CurlTransport.Options,
        countedBy counter: TurnCounter, events: any TransferEvents
    ) {
        self.request = request
        self.generation = generation
        self.options = options
        self.counter = counter
        self.events = events
        fields = StringList(request.fieldLines)
        addresses = StringList(options.addresses)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        errorText.deallocate()
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: The gates

extension Transfer {
    /// Checks the host before any connection. If the policy rejects hosts that no rule covers, such a host gets no
    /// connection and so does not learn its name from SNI. Without TLS the request was refused before.
    func refuseForbiddenHost() throws(TransferFailure) {
        let (policy, endpoint) = (generation.policy, request.url.endpoint)
        guard policy.unpinnedHosts == .reject, policy.rule(for: endpoint) == nil else { return }
        let evaluation = TrustEvaluation(notAllowed: endpoint)
        generation.report(evaluation, at: Date())
        throw .rejected(.hostNotAllowed(endpoint))
    }

    /// Installs a judge on the context of a connection that is made for this transfer.
    ///
    /// - Returns: `false` where the connection must not be made.
    func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, receipts: options.receipts,
            reading: ReadBudget(options.readLimits, countedBy: counter))
        handleState.judge = judge
        return judge.install(on: context)
    }

    /// Returns `true` if the connection, a new or an idle one, has a verdict that allows the request. Runs before each
    /// request.
    func passesGate() -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
        handleState.isConnecting = false
        guard generation.isCurrent else {
            handleState.gateFailure = .superseded
            return false
        }
        let ssl = pintle_curl_get_ssl(handle)
        guard request.url.scheme == .https else { return ssl == nil }
        guard let ssl, let receipt = ConnectionReceipt.attached(to: OpaquePointer(ssl)) else {
            handleState.gateFailure = .noReceipt
            return false
        }
        if handleState.acceptsOtherNames {
            guard case .userApproved = receipt.trust.basis else {
                handleState.gateFailure = .noReceipt
                return false
            }
        }
        guard receipt.allows(request.url.endpoint, in: generation, at: options.now()) else {
            handleState.gateFailure = .receiptOver
            return false
        }
        handleState.head.receipt = receipt.trust
        handleState.connectionJudge = HandshakeJudge.installed(on: OpaquePointer(ssl))
        handleState.isStream = HandshakeJudge.speaksHTTP2(OpaquePointer(ssl))
        if request.hasContent { readToEndOfStream(handleState.isStream) }
        return true
    }
}

// MARK: The end

extension Transfer {
    /// A Boolean value that indicates whether the transfer may be repeated on another connection. Nothing was sent, because
    /// the verdict on the idle connection had expired.
    var mayBeRepeated: Bool { handleState.gateFailure == .receiptOver && !wantsFreshConnection }

    /// A Boolean value that indicates whether this is a stream that waits only for the network.
    var isReadyStream: Bool { handleState.isStream && holds.isEmpty }

    /// A Boolean value that indicates whether the connection carries several transfers at a time.
    var isMultiplexed: Bool { handleState.head.version.hasPrefix("HTTP/2") }

    /// A Boolean value that indicates whether only the end of the connection ends the content (RFC 9112 section 6.3).
    private var isEndedByConnection: Bool {
        let head = handleState.head
        return head.version.hasPrefix("HTTP/1") && request.method != "HEAD" && ![204, 304].contains(head.status)
            && head.values(of: "content-length").isEmpty && head.values(of: "transfer-encoding").isEmpty
    }

    /// A Boolean value that indicates whether the last event was sent.
    var isOver: Bool { events == nil }

    /// Records the result of libcurl. It is reported at once, or when no hold delays it any more.
    func end(_ result: CURLcode) {
        handOver()
        var result = judged(result)
        if result == CURLE_OK {
            if let loss = handleState.contentLoss {
                result = loss
            } else if !handleState.hasHead {
                // libcurl takes a connection that ends within a head for the end of a response.
                result = CURLE_GOT_NOTHING
            } else if request.url.scheme == .https, isEndedByConnection, handleState.connectionJudge?.sawEnd != true {
                // libcurl also takes a cut connection for the end of content without a length (RFC 9112 section 9.8).
                result = CURLE_PARTIAL_FILE
            }
        }
        end = result == CURLE_OK ? .success(()) : .failure(failure(result))
        if mayReportEnd { reportEnd() }
    }

    /// An error is reported at once, unless a delegate is choosing the next request: then the content may not matter.
    var mayReportEnd: Bool {
        switch end {
        case .success: holds.isEmpty
        case .failure: !holds.contains(.choice)
        case nil: false
        }
    }

    func end(_ failure: TransferFailure) {
        end = .failure(failure)
        reportEnd()
    }

    func reportEnd() {
        guard let end, let events else { return }
        self.events = nil
        if case .failure(let failure) = end {
            events.transfer(self, didComplete: failure)
        } else {
            events.transfer(self, didComplete: nil)
        }
    }
}

/// Answers amid an upload.
extension Transfer {
    /// Has libcurl look at a stream of HTTP/2 that was answered before its content was sent, if nothing has been
    /// heard of it for a while: where a stream ends while libcurl 7.88 itself sends, and where the server makes
    /// room for more, it waits for a socket on which nothing need happen any more.
    ///
    /// - Returns: the uptime of the next look.
    func lookAgain(at now: Double) -> Double {
        guard handleState.hasHead, isMultiplexed, end == nil, holds.isEmpty, !handleState.isSendPaused, let handle
        else {
            return .infinity
        }
        // Twice as long each time.
        let interval = min(max(handleState.lastLook - lastActivity, 0.05), 2)
        let next = max(handleState.lastLook, lastActivity) + interval
        guard now >= next else { return next }
        handleState.lastLook = now
        // Going on after a pause is what makes it look.
        curl_easy_pause(handle, pauses | CInt(CURLPAUSE_SEND))
        recordLoss(curl_easy_pause(handle, pauses))
        return now + min(max(now - lastActivity, 0.05), 2)
    }

    /// A Boolean value that indicates whether the response is as long as announced. `false` for encoded content, whose
    /// decoded length is not announced.
    private var hasWholeContent: Bool {
        guard handleState.hasHead, handleState.contentLoss == nil else { return false }
        return isWithoutContent || announcedLength == handleState.received
    }

    private var isWithoutContent: Bool { request.method == "HEAD" || [204, 304].contains(handleState.head.status) }

    private var announcedLength: Int64? {
        guard handleState.head.values(of: "content-encoding").isEmpty else { return nil }
        return handleState.head.values(of: "content-length").first.flatMap { Int64($0) }
    }

    /// Returns success for a complete response, even if the rest of the request could not be sent: a server may refuse the
    /// rest (RFC 9113 section 8.1), or hang up. Returns an error for an incomplete response.
    func judged(_ result: CURLcode) -> CURLcode {
        guard request.hasContent, handleState.hasHead else { return result }
        switch result {
        case CURLE_OK where isMultiplexed && announcedLength != nil:
            return hasWholeContent ? result : CURLE_PARTIAL_FILE
        case CURLE_HTTP2_STREAM, CURLE_SEND_ERROR: return hasWholeContent ? CURLE_OK : result
        default: return result
        }
    }
}

extension Transfer {
    /// Returns the failure that a result of libcurl stands for.
    func failure(_ result: CURLcode) -> TransferFailure {
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
        if let fault = handleState.headFault { return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: fault) }
        if let fault = handleState.decodingFault {
            return .library(code: CURLE_BAD_CONTENT_ENCODING.rawValue, text: fault)
        }
        // libcurl keeps 64 MiB of a paused transfer. It reports more as 27 (7.88) or 100 (8.6 and newer).
        if handleState.isCoded, [27, 100].contains(result.rawValue) {
            return .library(
                code: CURLE_BAD_CONTENT_ENCODING.rawValue,
                text: "the content of the response expands to more than 64 MiB at once")
        }
        // libcurl reports a folded line that follows no field as CURLE_BAD_FUNCTION_ARGUMENT.
        if result == CURLE_BAD_FUNCTION_ARGUMENT, handleState.headLines > 0, !handleState.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response is no field")
        }
        // libcurl reports a line of more than 100 kB as CURLE_OUT_OF_MEMORY.
        if result == CURLE_OUT_OF_MEMORY, !handleState.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response has no end")
        }
        let text = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        if let judge = handleState.judge, judge.hasUnreadableCertificates {
            let failure = PathFailure(.malformedCertificate, text: text)
            generation.report(TrustEvaluation(of: request.url.endpoint, unreadable: failure), at: Date())
            return .rejected(.invalidPath(failure))
        }
        return .library(code: result.rawValue, text: text)
    }
}
