/// The reason for which a server ends an HTTP/2 connection (RFC 9113 section 5.4.1).
struct HTTP2Error: Error, Sendable, Hashable {
    /// An error code (RFC 9113 section 7).
    enum Code: UInt32, Sendable, Hashable {
        case noError = 0
        case protocolError = 1
        case flowControlError = 3
        case streamClosed = 5
        case frameSizeError = 6
        case refusedStream = 7
        case compressionError = 9
        case enhanceYourCalm = 11
    }

    let code: Code
    /// The cause, in a few words.
    let reason: String

    init(_ code: Code, _ reason: String) {
        (self.code, self.reason) = (code, reason)
    }
}

/// The bounds of an HTTP/2 connection. A client that exceeds one of them gets GOAWAY with ENHANCE_YOUR_CALM, unless the
/// property names another consequence.
struct HTTP2Limits: Sendable, Hashable {
    /// The bytes of a header block before decompression.
    var headerBlock = 64 << 10
    /// The bytes of all fields of a header block, each with 32 more (RFC 9113 section 6.5.2).
    var headerList = 64 << 10
    /// The frames that carry no request: all but HEADERS and non-empty DATA.
    var controlFrames = 65_536
    /// The number of streams open at the same time. The server refuses more of them with REFUSED_STREAM.
    var openStreams = 100
    /// The number of requests. The server answers the last of them and ends the connection without an error.
    var requests = 100_000
    /// The bytes of content that the server holds, of all open streams together.
    var content = 64 << 20
    /// The bytes of content after which a request counts as complete although more may follow. Its content is dropped.
    /// `nil` holds the content until the request ends.
    var droppedContent: Int?
}
