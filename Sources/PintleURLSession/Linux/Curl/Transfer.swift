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

    private let options: CurlTransport.Options
    private let fields: StringList
    private let addresses: StringList
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var bodyReader: BodyReader?
    private var judge: HandshakeJudge?
    private var head = ResponseHead()
    private var hasHead = false
    /// Whether the next line of a head is its first.
    private var isHeadNew = true
    /// Of all heads, those of responses in between too.
    private var (headSize, headLines) = (0, 0)
    private var isPaused = false
    /// Part of the content could not be kept: the rest must not pass for the whole.
    private var hasLostContent = false
    private var gateFailure: GateFailure?
    /// What is known to be the end, while a hold keeps it back.
    private var end: Result<Void, TransferFailure>?

    /// As newer and patched versions of libcurl have it too; others read on for ever.
    private static let headLimit = 300 << 10
    /// Each costs more than its bytes.
    private static let headLineLimit = 1_000

    private enum GateFailure {
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

    private static func at(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: Setting up

extension Transfer {
    /// Makes the easy handle. It borrows this object, which the loop keeps for longer.
    func makeHandle() throws(TransferFailure) -> UnsafeMutableRawPointer {
        guard let handle = curl_easy_init() else { throw .library(code: CURLE_OUT_OF_MEMORY.rawValue, text: "") }
        do throws(TransferFailure) {
            if let body = request.body { bodyReader = try BodyReader(body) }
        } catch {
            curl_easy_cleanup(handle)
            throw error
        }
        self.handle = handle
        head = ResponseHead()
        (hasHead, isPaused, hasLostContent, gateFailure, judge) = (false, false, false, nil, nil)
        (isHeadNew, headSize, headLines) = (true, 0, 0)
        let this = Unmanaged.passUnretained(self).toOpaque()

        set(CURLOPT_NOSIGNAL, 1)
        // Whoever cancels a look-up does not wait for the resolver: its thread ends by itself.
        pintle_curl_set_quick_exit(handle)
        pintle_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        pintle_curl_set_url(handle, request.url.handle)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        // Whatever this libcurl can undo: gzip, deflate, br, zstd.
        pintle_curl_set_pointer(handle, CURLOPT_ACCEPT_ENCODING, "")
        set(CURLOPT_BUFFERSIZE, 64 * 1024)
        set(CURLOPT_FRESH_CONNECT, wantsFreshConnection ? 1 : 0)
        pintle_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields.pointer)
        // They are the server's; a proxy that makes a tunnel gets none of them.
        set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        if addresses.pointer != nil { pintle_curl_set_pointer(handle, CURLOPT_RESOLVE, addresses.pointer) }
        try setTrust(this)
        setMethod(this)
        request.proxy?.set(on: handle, tunnels: request.url.scheme == .https)
        pintle_curl_set_write(
            handle, { bytes, size, count, at in Transfer.at(at)?.take(bytes, size * count) ?? 0 }, this)
        pintle_curl_set_header(
            handle, { bytes, size, count, at in Transfer.at(at)?.takeField(bytes, size * count) ?? 0 }, this)
        return handle
    }

    /// What makes the verdict, and every connection without one useless.
    ///
    /// - Throws: where libcurl does not take an option that the verdict rests on.
    private func setTrust(_ this: UnsafeMutableRawPointer) throws(TransferFailure) {
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // With 0 libcurl would go on where the verifier says no.
        try require(pintle_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1))
        try require(pintle_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2))
        // The roots are the validator's; libcurl would load its own for each connection, in 20 ms.
        pintle_curl_set_pointer(handle, CURLOPT_CAINFO, nil)
        pintle_curl_set_pointer(handle, CURLOPT_CAPATH, nil)
        // A resumed session never calls the verifier.
        try require(pintle_curl_set_long(handle, CURLOPT_SSL_SESSIONID_CACHE, 0))
        let asksJudge = pintle_curl_set_ssl_context(
            handle,
            { _, context, at in
                guard let context, Transfer.at(at)?.install(on: OpaquePointer(context)) == true else {
                    return CURLE_ABORTED_BY_CALLBACK
                }
                return CURLE_OK
            }, this)
        try require(asksJudge)
        let asksGate = pintle_curl_set_prereq(
            handle,
            { at, _, _, _, _ in
                Transfer.at(at)?.passesGate() == true ? CInt(CURL_PREREQFUNC_OK) : CInt(CURL_PREREQFUNC_ABORT)
            }, this)
        try require(asksGate)
    }

    private func require(_ code: CURLcode) throws(TransferFailure) {
        guard code != CURLE_OK else { return }
        throw .refused(
            SessionRefusal(
                .unsuitableLibrary,
                "libcurl does not take an option that pinning rests on: "
                    + String(cString: curl_easy_strerror(code)), hint: "install a libcurl built on OpenSSL"))
    }

    private func setMethod(_ this: UnsafeMutableRawPointer) {
        if request.hasContent {
            set(CURLOPT_UPLOAD, 1)
            pintle_curl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(request.announcedLength ?? -1))
            pintle_curl_set_read(
                handle,
                { bytes, size, count, at in
                    Transfer.at(at)?.give(bytes, size * count) ?? pintle_CURL_READFUNC_ABORT
                }, this)
            pintle_curl_set_seek(
                handle, { at, offset, origin in Transfer.at(at)?.seek(to: offset, origin) ?? CInt(CURL_SEEKFUNC_FAIL) },
                this)
        } else if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        }
        pintle_curl_set_pointer(handle, CURLOPT_CUSTOMREQUEST, request.method)
        // Only HTTP/2 makes anything of it; 16 is what a stream has by itself, which is 0.5 here.
        set(CURLOPT_STREAM_WEIGHT, min(max(Int(request.priority * 32), 1), 256))
    }

    private func set(_ option: CURLoption, _ value: Int) {
        pintle_curl_set_long(handle, option, value)
    }
}

// MARK: The two gates

extension Transfer {
    /// For each connection that is made for this transfer.
    private func install(on context: OpaquePointer) -> Bool {
        guard request.url.scheme == .https else { return false }
        let judge = HandshakeJudge(
            of: request.url.endpoint, in: generation, writesReceipt: options.writesReceipts)
        self.judge = judge
        return judge.install(on: context)
    }

    /// Before each request, on new connections and on those that were kept.
    private func passesGate() -> Bool {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard generation.isCurrent else {
            gateFailure = .superseded
            return false
        }
        let ssl = pintle_curl_get_ssl(handle)
        guard request.url.scheme == .https else { return ssl == nil }
        guard let ssl, let receipt = HandshakeReceipt.attached(to: OpaquePointer(ssl)) else {
            gateFailure = .noReceipt
            return false
        }
        guard receipt.allows(request.url.endpoint, in: generation, at: options.now()) else {
            gateFailure = .receiptOver
            return false
        }
        head.receipt = receipt.receipt
        return true
    }
}

// MARK: Bytes

extension Transfer {
    private func takeField(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        // What comes after the content are trailers, which Foundation does not show.
        guard !hasHead else { return count }
        headSize += count
        headLines += 1
        guard headSize <= Self.headLimit, headLines <= Self.headLineLimit else { return 0 }
        switch HeadLine(UnsafeRawBufferPointer(start: bytes, count: count)) {
        case .status(let version, let status) where isHeadNew:
            // Of a response in between (100, 103) nothing stays.
            head = ResponseHead(status: status, version: version, receipt: head.receipt)
        case .field(let name, let value):
            head.fields.append((name, value))
        case .end where head.status >= 200:
            hasHead = true
            if let events { holds.formUnion(events.transfer(self, didReceive: head)) }
        case .end:
            isHeadNew = true
            return count
        case .status, nil: break
        }
        isHeadNew = false
        return count
    }

    private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard holds.isEmpty else {
            isPaused = true
            return pintle_CURL_WRITEFUNC_PAUSE
        }
        guard !hasLostContent, let bytes, count > 0, let events else { return 0 }
        guard let more = events.transfer(self, didReceive: Data(bytes: bytes, count: count)) else {
            hasLostContent = true
            return 0
        }
        holds.formUnion(more)
        return count
    }

    private func give(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        lastActivity = ProcessInfo.processInfo.systemUptime
        guard let bodyReader else { return 0 }
        switch bodyReader.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count)) {
        case .bytes(let given):
            if given > 0 { events?.transfer(self, didSend: given) }
            return given
        case .later:
            isPaused = true
            return pintle_CURL_READFUNC_PAUSE
        case .failed: return pintle_CURL_READFUNC_ABORT
        }
    }

    private func seek(to offset: curl_off_t, _ origin: CInt) -> CInt {
        origin == SEEK_SET && bodyReader?.seek(to: Int64(offset)) ?? (offset == 0)
            ? CInt(CURL_SEEKFUNC_OK) : CInt(CURL_SEEKFUNC_FAIL)
    }

    /// Lets go of one reason to wait, or of none: then it is the content to send that there is more of.
    func release(_ hold: TransferHold) {
        holds.subtract(hold)
        guard holds.isEmpty else { return }
        lastActivity = ProcessInfo.processInfo.systemUptime
        if end != nil { return tellEnd() }
        guard isPaused, let handle else { return }
        isPaused = false
        // What libcurl held back comes through `take` inside this call; it keeps nothing that is not taken.
        if curl_easy_pause(handle, CInt(CURLPAUSE_CONT)) != CURLE_OK { hasLostContent = true }
    }
}

// MARK: The end

extension Transfer {
    /// Whether the transfer may be made once more, on another connection: nothing was sent, because the
    /// verdict on the one that was kept had run out.
    var mayBeRepeated: Bool { gateFailure == .receiptOver && !wantsFreshConnection }

    /// Whether its connection carries many at a time.
    var isMultiplexed: Bool { head.version.hasPrefix("HTTP/2") }

    /// Whether the last event is out.
    var isOver: Bool { events == nil }

    /// Has come to its end, which is told once nothing is held back.
    func end(_ result: CURLcode) {
        let result = hasLostContent && result == CURLE_OK ? CURLE_WRITE_ERROR : result
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
        if gateFailure == .superseded || judge?.isSuperseded == true { return .superseded }
        if let rejection = judge?.rejection { return .rejected(rejection) }
        if gateFailure != nil {
            return .refused(
                SessionRefusal(
                    .notJudged, "the connection to \(request.url.endpoint) has no live verdict; nothing was sent",
                    hint: "please report this, with the versions of pintle, libcurl and OpenSSL"))
        }
        if result == CURLE_OPERATION_TIMEDOUT { return .timedOut }
        if headSize > Self.headLimit || headLines > Self.headLineLimit {
            let excess = headSize > Self.headLimit ? "is longer than 300 kB" : "has more than 1000 lines"
            return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "the head of the response \(excess)")
        }
        let text = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        if let judge, judge.hasUnreadableCertificates {
            return .rejected(.invalidPath(PathFailure(.malformedCertificate, text: text)))
        }
        return .library(code: result.rawValue, text: text)
    }
}
