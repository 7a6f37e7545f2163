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
    var attempt = Attempt()
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
    struct Attempt {
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
        generation.tell(evaluation, at: Date())
        throw .rejected(.hostNotAllowed(endpoint))
    }

    /// For each connection that is made for this transfer.
    func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, receipts: options.receipts,
            reading: ReadBudget(options.readLimits, countedBy: counter))
        attempt.judge = judge
        return judge.install(on: context)
    }

    /// Before each request, on new connections and on those that were kept.
    func passesGate() -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
        attempt.isConnecting = false
        guard generation.isCurrent else {
            attempt.gateFailure = .superseded
            return false
        }
        let ssl = pintle_curl_get_ssl(handle)
        guard request.url.scheme == .https else { return ssl == nil }
        guard let ssl, let receipt = HandshakeReceipt.attached(to: OpaquePointer(ssl)) else {
            attempt.gateFailure = .noReceipt
            return false
        }
        if attempt.acceptsOtherNames {
            guard case .userApproved = receipt.receipt.basis else {
                attempt.gateFailure = .noReceipt
                return false
            }
        }
        guard receipt.allows(request.url.endpoint, in: generation, at: options.now()) else {
            attempt.gateFailure = .receiptOver
            return false
        }
        attempt.head.receipt = receipt.receipt
        attempt.connectionJudge = HandshakeJudge.installed(on: OpaquePointer(ssl))
        attempt.isStream = HandshakeJudge.speaksHTTP2(OpaquePointer(ssl))
        if request.hasContent { readToEndOfStream(attempt.isStream) }
        return true
    }
}

// MARK: The end

extension Transfer {
    /// Whether the transfer may be made once more, on another connection: nothing was sent, because the
    /// verdict on the one that was kept had run out.
    var mayBeRepeated: Bool { attempt.gateFailure == .receiptOver && !wantsFreshConnection }

    /// Whether it is a stream that waits for nobody but the network.
    var isReadyStream: Bool { attempt.isStream && holds.isEmpty }

    /// Whether its connection carries many at a time.
    var isMultiplexed: Bool { attempt.head.version.hasPrefix("HTTP/2") }

    /// Whether nothing but the end of the connection says that the content is over (RFC 9112 section 6.3).
    private var isEndedByConnection: Bool {
        let head = attempt.head
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
            if let loss = attempt.contentLoss {
                result = loss
            } else if !attempt.hasHead {
                // libcurl takes a connection that ends within a head for the end of a response.
                result = CURLE_GOT_NOTHING
            } else if request.url.scheme == .https, isEndedByConnection, attempt.connectionJudge?.sawEnd != true {
                // And one that somebody cut for the end of content without a length (RFC 9112 section 9.8).
                result = CURLE_PARTIAL_FILE
            }
        }
        end = result == CURLE_OK ? .success(()) : .failure(failure(result))
        if mayTellEnd { tellEnd() }
    }

    /// An error waits for nobody but a delegate that chooses what follows: then the content may not matter.
    var mayTellEnd: Bool {
        switch end {
        case .success: holds.isEmpty
        case .failure: !holds.contains(.choice)
        case nil: false
        }
    }

    func end(_ failure: TransferFailure) {
        end = .failure(failure)
        tellEnd()
    }

    func tellEnd() {
        guard let end, let events else { return }
        self.events = nil
        if case .failure(let failure) = end {
            events.transfer(self, didComplete: failure)
        } else {
            events.transfer(self, didComplete: nil)
        }
    }
}
