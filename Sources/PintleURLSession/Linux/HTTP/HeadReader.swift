/// A reader of the lines that libcurl delivers for one request: the heads of interim responses (100, 103), the head of
/// the final response, and trailers.
struct HeadReader {
    enum Step: Equatable {
        /// More lines follow.
        case more
        /// The head of the final response is complete.
        case complete
        /// The head or the trailers are refused.
        case fault(String)
    }

    private enum Position {
        /// The next line is the first of a head.
        case start
        /// The last line belongs to a field, so a folded line may follow.
        case field
        /// The last line was a status line or no field.
        case other
        /// The head of the final response is complete. Trailers may follow.
        case end
    }

    /// The limit in bytes for all heads of a response. Newer and patched versions of libcurl have the same limit;
    /// others have none.
    static let limit = 300 << 10
    /// The limit in bytes for all heads of a response over HTTP/2. libcurl before 8.1 has the same limit.
    static let streamLimit = (128 << 10) - 1
    /// The limit on the lines of all heads. A line costs more than its bytes.
    static let lineLimit = 1_000

    /// The last head: without its last fields until it is complete.
    private(set) var head = ResponseHead()
    private var position = Position.start
    /// The bytes of all heads, interim responses included.
    private var size = 0
    private var lineCount = 0
    /// A Boolean value that indicates whether an interim response came with `Content-Length: 0`.
    private var hasInterimLength = false

    /// A Boolean value that indicates whether a line was read.
    var hasBegun: Bool { lineCount > 0 }
    /// A Boolean value that indicates whether the head of the final response is complete.
    var isComplete: Bool { position == .end }

    /// Reads a line with its line end.
    ///
    /// - Parameter isStream: `true` if the connection speaks HTTP/2.
    mutating func read(_ line: UnsafeRawBufferPointer, isStream: Bool) -> Step {
        size += line.count
        lineCount += 1
        if let excess = excess(isStream: isStream) { return .fault(excess) }
        // Foundation does not pass trailers to the app.
        guard position != .end else { return .more }
        var next = Position.other
        switch HeadLine(line) {
        case .status(let version, let status) where position == .start:
            // The fields of an interim response are dropped.
            head = ResponseHead(status: status, version: version)
            head.fields.reserveCapacity(16)
        case .field(let name, let value):
            head.fields.append((name, value))
            next = .field
        case .continuation(let value) where position == .field:
            guard head.unfold(value) else {
                return .fault("\(head.fields.last?.name ?? "") goes on in another line of the head")
            }
            next = .field
        case .end: return end(isStream: isStream)
        case .status, .continuation, nil: break
        }
        position = next
        return .more
    }

    private mutating func end(isStream: Bool) -> Step {
        if let fault = head.checkFraming(isStream: isStream) { return .fault(fault) }
        guard head.status >= 200 else {
            if head.hasFraming { hasInterimLength = true }
            position = .start
            return .more
        }
        // libcurl would use the interim response's length of 0 for this response and drop its content.
        if hasInterimLength, !head.hasFraming {
            return .fault("an interim response has a length, and the final response has none")
        }
        position = .end
        return .complete
    }

    private func excess(isStream: Bool) -> String? {
        let limit = isStream ? Self.streamLimit : Self.limit
        let what = isComplete ? "what follows the content" : "the head of the response"
        if size > limit { return "\(what) is longer than \((limit + 1) >> 10) kB" }
        return lineCount > Self.lineLimit ? "\(what) has more than \(Self.lineLimit) lines" : nil
    }
}

/// A reader of the head of a proxy's response to CONNECT.
struct TunnelReader {
    /// The limit in bytes for all responses of a proxy. libcurl reads them byte by byte, with a system call for each.
    static let limit = 32 << 10

    private var size = 0

    /// Reads a line. The status line of a response that opens no tunnel is a fault.
    ///
    /// libcurl 7.88 would read the content of a 407 byte by byte inside one call, for as long as the socket has more of
    /// it. Another attempt would be pointless: the only scheme is Basic, whose credentials go with the first CONNECT.
    ///
    /// - Returns: A description of the fault for an error's text; `nil` if there is none.
    mutating func read(_ line: UnsafeRawBufferPointer) -> String? {
        size += line.count
        guard size <= Self.limit else {
            return "the proxy's answer to CONNECT is longer than \(Self.limit >> 10) KiB"
        }
        switch HeadLine(line) {
        case .status(_, 407): return "the proxy answered CONNECT with status 407: it wants other credentials"
        case .status(_, let status) where status >= 300: return "the proxy answered CONNECT with status \(status)"
        case .status: return nil
        // libcurl accepts more spellings of a status than the standard, such as `HTTP/1.1 0407`.
        case _ where line.starts(with: "HTTP/".utf8):
            return "the proxy answered CONNECT with a status line that is not valid"
        default: return nil
        }
    }
}
