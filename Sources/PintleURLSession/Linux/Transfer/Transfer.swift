internal import CCurl
internal import Foundation
internal import Pintle

/// One request on its way: an easy handle and what its callbacks need.
///
/// `@unchecked`: other threads read `request`, `generation` and `options`, which are `let` and Sendable. All
/// else, `let` or not, is touched by `init`, before anybody else has it, then on the transport's thread alone, from
/// ``CurlLoop`` and from libcurl's callbacks, which run there, and by `deinit`. Only where the loop is over does
/// ``CurlLoop/send(_:)`` end a transfer elsewhere: then no thread has it but the one that would start it.
final class Transfer: @unchecked Sendable {
    let request: TransferRequest
    let generation: PolicyGeneration
    /// The last event ends the reference.
    private(set) var events: (any TransferEvents)?
    var handle: UnsafeMutableRawPointer?
    var holds: TransferHold = []
    var lastActivity = ProcessInfo.processInfo.systemUptime
    /// The connection is to be a new one: the verdict on the last had run out.
    var wantsFreshConnection = false

    let options: CurlTransport.Options
    /// Of the loop that the transfer runs in.
    let counter: TurnCounter
    let fields: StringList
    let addresses: StringList
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    var handleState = HandleState()
    /// Where the loop looks for transfers that have gathered content.
    var gathering: Gathering?
    /// What is known to be the end, while a hold keeps it back.
    private(set) var end: Result<Void, TransferFailure>?

    /// As newer and patched versions of libcurl have it too; others read on for ever.
    static let headLimit = 300 << 10
    /// Of the answers of a proxy to CONNECT, in bytes. libcurl reads them byte by byte, each with a call of the system.
    static let tunnelHeadLimit = 32 << 10
    /// Each costs more than its bytes.
    static let headLineLimit = 1_000

    /// What one easy handle has seen: a second one, where there is one, starts anew.
    struct HandleState {
        var bodyReader: BodyReader?
        var judge: HandshakeJudge?
        /// Of the connection that carries the request, which another transfer may have made.
        var connectionJudge: HandshakeJudge?
        var head = ResponseHead()
        var hasHead = false
        /// A Boolean value that indicates whether a 1xx response came with `Content-Length: 0`.
        var hasInterimLength = false
        /// Whether the next line of a head is its first.
        var isHeadNew = true
        /// Of all heads, those of responses in between too.
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
        /// Why the proxy makes no tunnel.
        var tunnelFault: String?
        /// Decoded, handed over or gathered.
        var received: Int64 = 0
        /// Content that is handed over as soon as libcurl has no more at hand.
        var gathered = Data()
        /// Whether the last line belongs to a field, which another may go on with.
        var isInField = false
        /// Why the head, or the trailers, cannot be what they look like.
        var headFault: String?
        /// What libcurl has been told to wait with.
        var isReceivePaused = false
        var isSendPaused = false
        /// Uptime.
        var lastLook = 0.0
        /// Why part of the content could not be kept: the rest must not pass for the whole.
        var contentLoss: CURLcode?
        /// Whether it shares its connection with others (HTTP/2).
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
    /// Before any connection: a host that no rule covers, where the policy rejects such hosts, gets no connection and so
    /// does not learn its name from SNI. Without TLS the request has been refused before.
    func refuseForbiddenHost() throws(TransferFailure) {
        let (policy, endpoint) = (generation.policy, request.url.endpoint)
        guard policy.unpinnedHosts == .reject, policy.rule(for: endpoint) == nil else { return }
        let evaluation = TrustEvaluation(notAllowed: endpoint)
        generation.report(evaluation, at: Date())
        throw .rejected(.hostNotAllowed(endpoint))
    }

    /// For each connection that is made for this transfer.
    func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, receipts: options.receipts,
            reading: ReadBudget(options.readLimits, countedBy: counter))
        handleState.judge = judge
        return judge.install(on: context)
    }

    /// Before each request, on new connections and on those that were kept.
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
    /// Whether the transfer may be made once more, on another connection: nothing was sent, because the
    /// verdict on the one that was kept had run out.
    var mayBeRepeated: Bool { handleState.gateFailure == .receiptOver && !wantsFreshConnection }

    /// Whether it is a stream that waits for nobody but the network.
    var isReadyStream: Bool { handleState.isStream && holds.isEmpty }

    /// Whether its connection carries many at a time.
    var isMultiplexed: Bool { handleState.head.version.hasPrefix("HTTP/2") }

    /// Whether nothing but the end of the connection says that the content is over (RFC 9112 section 6.3).
    private var isEndedByConnection: Bool {
        let head = handleState.head
        return head.version.hasPrefix("HTTP/1") && request.method != "HEAD" && ![204, 304].contains(head.status)
            && head.values(of: "content-length").isEmpty && head.values(of: "transfer-encoding").isEmpty
    }

    /// Whether the last event is out.
    var isOver: Bool { events == nil }

    /// Has come to its end, which is told once nothing is held back.
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
                // And one that somebody cut for the end of content without a length (RFC 9112 section 9.8).
                result = CURLE_PARTIAL_FILE
            }
        }
        end = result == CURLE_OK ? .success(()) : .failure(failure(result))
        if mayReportEnd { reportEnd() }
    }

    /// An error waits for nobody but a delegate that chooses what follows: then the content may not matter.
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

    /// Whether as much content has come as the response says that it has; of a compressed one nobody knows.
    private var hasWholeContent: Bool {
        guard handleState.hasHead, handleState.contentLoss == nil else { return false }
        return isWithoutContent || announcedLength == handleState.received
    }

    private var isWithoutContent: Bool { request.method == "HEAD" || [204, 304].contains(handleState.head.status) }

    private var announcedLength: Int64? {
        guard handleState.head.values(of: "content-encoding").isEmpty else { return nil }
        return handleState.head.values(of: "content-length").first.flatMap { Int64($0) }
    }

    /// A response that is complete is one, whatever becomes of the rest of the request: a server may say that it
    /// wants no more of it (RFC 9113 section 8.1), or just hang up. And none that is not complete has ended well.
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
