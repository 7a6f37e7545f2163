/// The server's side of an HTTP/2 connection (RFC 9113) without input and output: bytes go in, requests and bytes come
/// out.
///
/// It has what real clients need and no more: no server push, no priorities, no CONNECT tunnels. Everything is bounded
/// by ``HTTP2Limits``. Malformed input ends the connection with GOAWAY.
struct HTTP2ServerConnection {
    /// A request, and the number of bytes of its frames.
    struct Request: Sendable, Hashable {
        let stream: UInt32
        let request: HTTPRequest
        let byteCount: Int
    }

    /// A stream from its first HEADERS frame to the end of its response.
    struct Stream {
        var request: HTTPRequest
        /// The number of bytes of its frames so far.
        var byteCount: Int
        /// A Boolean value that indicates whether the client has sent END_STREAM.
        var hasEnded = false
        /// A Boolean value that indicates whether ``HTTP2ServerConnection/next()`` has returned the request.
        var isComplete = false
        /// The number of bytes that the client lets the server send.
        var window: Int
        /// The rest of the response's content, once the response has begun.
        var rest: ArraySlice<UInt8>?
    }

    /// A header block without its end (RFC 9113 section 4.3).
    struct HeaderBlock {
        let stream: UInt32
        let endsStream: Bool
        /// A Boolean value that indicates whether the block opens its stream.
        let isNew: Bool
        var bytes: [UInt8]
        var byteCount: Int
    }

    static let largestWindow = 0x7FFF_FFFF

    let limits: HTTP2Limits
    private var reader = HTTP2FrameReader()
    var decoder: HPACKDecoder
    var streams: [UInt32: Stream] = [:]
    var block: HeaderBlock?
    /// The highest number of a stream that the client has opened.
    var lastStream: UInt32 = 0
    /// The highest number of a stream whose request was returned.
    var lastAnswered: UInt32 = 0
    var requestCount = 0
    /// The bytes of content that the open streams hold.
    var heldContent = 0
    private var hasSettings = false
    private var controlFrameCount = 0
    /// The window of the connection, and the one with which streams begin (RFC 9113 section 6.9.2).
    var (window, initialWindow) = (65_535, 65_535)
    /// A Boolean value that indicates whether a response has begun, so that the decoder of the client knows the table's
    /// size.
    var hasResponded = false
    /// A Boolean value that indicates whether the server has answered every request so far.
    var isIdle: Bool { requestCount > 0 && streams.isEmpty && block == nil }
    /// A Boolean value that indicates whether the server accepts no further requests.
    var isGoingAway = false
    /// A Boolean value that indicates whether GOAWAY was written and the connection must end.
    private(set) var isOver = false
    /// The reason of the end; `nil` if it is not the client's fault.
    private(set) var failure: HTTP2Error?
    /// The bytes to send.
    private(set) var output: [UInt8] = []

    init(_ limits: HTTP2Limits = HTTP2Limits()) {
        self.limits = limits
        decoder = HPACKDecoder(listLimit: limits.headerList)
        // MAX_CONCURRENT_STREAMS and MAX_HEADER_LIST_SIZE (RFC 9113 section 6.5.2).
        let settings =
            [[0, 3], HTTP2Frame.octets(UInt32(clamping: limits.openStreams))]
            + [[0, 6], HTTP2Frame.octets(UInt32(clamping: limits.headerList))]
        write(.settings, payload: settings.flatMap(\.self))
    }

    /// Takes the bytes to send.
    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Adds bytes of the client.
    mutating func append(_ bytes: [UInt8]) { reader.append(bytes) }

    /// Returns the next request that is complete, or `nil` if it needs more bytes or the connection is over.
    mutating func next() -> Request? {
        do {
            while !isOver, let frame = try reader.next() {
                if let request = try handle(frame) { return request }
            }
        } catch {
            fail(error)
        }
        return nil
    }

    /// Ends the connection with GOAWAY because of an error.
    private mutating func fail(_ error: HTTP2Error) {
        failure = error
        end(last: lastAnswered, error.code, error.reason)
    }

    /// Writes GOAWAY, which names the last stream that the server has processed.
    mutating func end(last: UInt32, _ code: HTTP2Error.Code, _ reason: String = "") {
        guard !isOver else { return }
        isOver = true
        streams = [:]
        write(.goAway, payload: HTTP2Frame.octets(last) + HTTP2Frame.octets(code.rawValue) + Array(reason.utf8))
    }

    mutating func write(_ kind: HTTP2Frame.Kind, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) {
        output += HTTP2Frame(kind, flags: flags, stream: stream, payload: payload).bytes
    }

    /// Writes bytes that need not be frames, and ends the connection.
    mutating func endWithRawBytes(_ bytes: [UInt8]) {
        output += bytes
        isOver = true
    }

    private mutating func handle(_ frame: HTTP2Frame) throws(HTTP2Error) -> Request? {
        guard block == nil || frame.kind == .continuation else {
            throw HTTP2Error(.protocolError, "a frame within a header block")
        }
        guard hasSettings || frame.kind == .settings && !frame.has(HTTP2Frame.Flag.ack) else {
            throw HTTP2Error(.protocolError, "no SETTINGS at the beginning")
        }
        hasSettings = true
        if frame.kind != .headers, frame.kind != .data || frame.payload.isEmpty {
            controlFrameCount += 1
            guard controlFrameCount <= limits.controlFrames else {
                throw HTTP2Error(.enhanceYourCalm, "too many frames without a request")
            }
        }
        switch frame.kind {
        case .headers: return try beginBlock(frame)
        case .continuation: return try continueBlock(frame)
        case .data: return try receiveContent(frame)
        case .priority: try check(frame, length: 5, isOfConnection: false)
        case .resetStream:
            try check(frame, length: 4, isOfConnection: false)
            guard frame.stream <= lastStream else { throw HTTP2Error(.protocolError, "RST_STREAM of an idle stream") }
            forget(frame.stream)
        case .settings: try receiveSettings(frame)
        case .pushPromise: throw HTTP2Error(.protocolError, "PUSH_PROMISE of a client")
        case .ping:
            try check(frame, length: 8, isOfConnection: true)
            if !frame.has(HTTP2Frame.Flag.ack) { write(.ping, flags: HTTP2Frame.Flag.ack, payload: frame.payload) }
        case .goAway:
            guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "GOAWAY of a stream") }
            guard frame.payload.count >= 8 else { throw HTTP2Error(.frameSizeError, "a short GOAWAY") }
        case .windowUpdate: try receiveWindowUpdate(frame)
        case nil: break
        }
        return nil
    }

    /// Checks a frame of a fixed length.
    func check(_ frame: HTTP2Frame, length: Int, isOfConnection: Bool) throws(HTTP2Error) {
        guard (frame.stream == 0) == isOfConnection else {
            throw HTTP2Error(.protocolError, "a frame of type \(frame.type) on stream \(frame.stream)")
        }
        guard frame.payload.count == length else {
            throw HTTP2Error(.frameSizeError, "a frame of type \(frame.type) with \(frame.payload.count) bytes")
        }
    }

    /// Drops a stream without a response, or after it.
    mutating func forget(_ stream: UInt32) {
        guard let old = streams.removeValue(forKey: stream), !old.isComplete else { return }
        heldContent -= old.request.body.count
    }
}
