internal import CCurl
internal import Foundation
internal import Pintle

/// One request on its way: an easy handle and what its callbacks need.
///
/// `@unchecked`: what is `let` is Sendable; all that changes is touched on the transport's thread alone, from
/// ``CurlLoop`` and from libcurl's callbacks, which run there.
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
    let fields: StringList
    let addresses: StringList
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    var attempt = Attempt()
    /// What is known to be the end, while a hold keeps it back.
    private var end: Result<Void, TransferFailure>?

    /// As newer and patched versions of libcurl have it too; others read on for ever.
    private static let headLimit = 300 << 10
    /// Each costs more than its bytes.
    private static let headLineLimit = 1_000

    /// What one easy handle has seen: a second one, where there is one, starts anew.
    struct Attempt {
        var bodyReader: BodyReader?
        var judge: HandshakeJudge?
        /// Of the connection that carries the request, which another transfer may have made.
        var connectionJudge: HandshakeJudge?
        var head = ResponseHead()
        var hasHead = false
        /// Whether the next line of a head is its first.
        var isHeadNew = true
        /// Of all heads, those of responses in between too.
        var headSize = 0
        var headLines = 0
        var isPaused = false
        /// Part of the content could not be kept: the rest must not pass for the whole.
        var hasLostContent = false
        var gateFailure: GateFailure?
    }

    enum GateFailure {
        case noReceipt, receiptOver, superseded
    }

    init(
        _ request: TransferRequest, in generation: PolicyGeneration, options: CurlTransport.Options,
        events: any TransferEvents
    ) {
        self.request = request
        self.generation = generation
        self.options = options
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

// MARK: The two gates

extension Transfer {
    /// For each connection that is made for this transfer.
    func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, writesReceipt: options.writesReceipts)
        attempt.judge = judge
        return judge.install(on: context)
    }

    /// Before each request, on new connections and on those that were kept.
    func passesGate() -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
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
        guard receipt.allows(request.url.endpoint, in: generation, at: options.now()) else {
            attempt.gateFailure = .receiptOver
            return false
        }
        attempt.head.receipt = receipt.receipt
        attempt.connectionJudge = HandshakeJudge.installed(on: OpaquePointer(ssl))
        return true
    }
}

// MARK: Bytes

extension Transfer {
    func takeField(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        // What comes after the content are trailers, which Foundation does not show.
        guard !attempt.hasHead else { return count }
        attempt.headSize += count
        attempt.headLines += 1
        guard attempt.headSize <= Self.headLimit, attempt.headLines <= Self.headLineLimit else { return 0 }
        switch HeadLine(UnsafeRawBufferPointer(start: bytes, count: count)) {
        case .status(let version, let status) where attempt.isHeadNew:
            // Of a response in between (100, 103) nothing stays.
            attempt.head = ResponseHead(status: status, version: version, receipt: attempt.head.receipt)
        case .field(let name, let value):
            attempt.head.fields.append((name, value))
        case .end where attempt.head.status >= 200:
            attempt.hasHead = true
            if let events { holds.formUnion(events.transfer(self, didReceive: attempt.head)) }
        case .end:
            attempt.isHeadNew = true
            return count
        case .status, nil: break
        }
        attempt.isHeadNew = false
        return count
    }

    func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard holds.isEmpty else {
            attempt.isPaused = true
            return pintle_CURL_WRITEFUNC_PAUSE
        }
        guard !attempt.hasLostContent, let bytes, count > 0, let events else { return 0 }
        guard let more = events.transfer(self, didReceive: Data(bytes: bytes, count: count)) else {
            attempt.hasLostContent = true
            return 0
        }
        holds.formUnion(more)
        return count
    }

    func give(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard let reader = attempt.bodyReader else { return 0 }
        switch reader.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count)) {
        case .bytes(let given):
            if given > 0 { events?.transfer(self, didSend: given) }
            return given
        case .later:
            attempt.isPaused = true
            return pintle_CURL_READFUNC_PAUSE
        case .failed: return pintle_CURL_READFUNC_ABORT
        }
    }

    func seek(to offset: curl_off_t, _ origin: CInt) -> CInt {
        origin == SEEK_SET && attempt.bodyReader?.seek(to: Int64(offset)) ?? (offset == 0)
            ? CInt(CURL_SEEKFUNC_OK) : CInt(CURL_SEEKFUNC_FAIL)
    }

    /// Lets go of one reason to wait, or of none: then it is the content to send that there is more of.
    func release(_ hold: TransferHold) {
        holds.subtract(hold)
        guard holds.isEmpty else { return }
        lastActivity = ProcessInfo.processInfo.systemUptime
        if end != nil { return tellEnd() }
        guard attempt.isPaused, let handle else { return }
        attempt.isPaused = false
        // What libcurl held back comes through `take` inside this call; it keeps nothing that is not taken.
        if curl_easy_pause(handle, CInt(CURLPAUSE_CONT)) != CURLE_OK { attempt.hasLostContent = true }
    }
}

// MARK: The end

extension Transfer {
    /// Whether the transfer may be made once more, on another connection: nothing was sent, because the
    /// verdict on the one that was kept had run out.
    var mayBeRepeated: Bool { attempt.gateFailure == .receiptOver && !wantsFreshConnection }

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
        var result = result
        if result == CURLE_OK {
            if attempt.hasLostContent {
                result = CURLE_WRITE_ERROR
            } else if !attempt.hasHead {
                // libcurl takes a connection that ends within a head for the end of a response.
                result = CURLE_GOT_NOTHING
            } else if request.url.scheme == .https, isEndedByConnection, attempt.connectionJudge?.sawEnd != true {
                // And one that somebody cut for the end of content without a length (RFC 9112 section 9.8).
                result = CURLE_PARTIAL_FILE
            }
        }
        end = result == CURLE_OK ? .success(()) : .failure(failure(result))
        // Nothing to wait for: an error may overtake the delegate's answer.
        if holds.isEmpty || result != CURLE_OK { tellEnd() }
    }

    func end(_ failure: TransferFailure) {
        end = .failure(failure)
        tellEnd()
    }

    private func tellEnd() {
        guard let end, let events else { return }
        self.events = nil
        if case .failure(let failure) = end {
            events.transfer(self, didComplete: failure)
        } else {
            events.transfer(self, didComplete: nil)
        }
    }

    private func failure(_ result: CURLcode) -> TransferFailure {
        if attempt.gateFailure == .superseded || attempt.judge?.isSuperseded == true { return .superseded }
        if let rejection = attempt.judge?.rejection { return .rejected(rejection) }
        if attempt.gateFailure != nil {
            return .refused(
                SessionRefusal(
                    .notJudged, "the connection to \(request.url.endpoint) has no live verdict; nothing was sent",
                    hint: "please report this, with the versions of pintle, libcurl and OpenSSL"))
        }
        if result == CURLE_OPERATION_TIMEDOUT { return .timedOut }
        if attempt.headSize > Self.headLimit || attempt.headLines > Self.headLineLimit {
            let excess = attempt.headSize > Self.headLimit ? "is longer than 300 kB" : "has more than 1000 lines"
            return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "the head of the response \(excess)")
        }
        // So libcurl calls a line of more than 100 kB.
        if result == CURLE_OUT_OF_MEMORY, !attempt.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response has no end")
        }
        let text = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        if let judge = attempt.judge, judge.hasUnreadableCertificates {
            return .rejected(.invalidPath(PathFailure(.malformedCertificate, text: text)))
        }
        return .library(code: result.rawValue, text: text)
    }
}
