internal import PintleSystem

/// Answers HTTP/2 requests on a stream until one side ends the connection.
struct HTTP2Service {
    /// The server's reaction to a request.
    enum Reaction {
        case respond(HTTPResponse)
        /// The server processed no request and ends the connection, so the client may send them again on another one.
        case moveRequests(Signal)
    }

    /// The signals that a request was not processed (RFC 9113 section 8.7).
    enum Signal: Sendable {
        /// GOAWAY with 0 as the last stream.
        case goAway
        /// RST_STREAM with REFUSED_STREAM, and GOAWAY a moment later.
        case refusedStream
    }

    /// The microseconds between RST_STREAM and GOAWAY. libcurl 7.88 sends a refused request again, but not if GOAWAY comes in
    /// the same read.
    private static let pause: UInt32 = 100_000

    var limits = HTTP2Limits()
    /// Reacts to a request, on the connection's thread, given the number of bytes of its frames.
    let react: (HTTPRequest, Int) -> Reaction

    init(react: @escaping (HTTPRequest, Int) -> Reaction) {
        self.react = react
    }

    /// Makes a service that answers each request.
    init(
        handler: @escaping (HTTPRequest) -> HTTPResponse, didReceive: @escaping (HTTPRequest) -> Void = { _ in }
    ) {
        self.init { request, _ in
            didReceive(request)
            return .respond(handler(request))
        }
    }

    func serve(_ stream: any ByteStream) {
        var connection = HTTP2ServerConnection(limits)
        do {
            while true {
                try stream.write(connection.takeOutput())
                guard !connection.isOver else { return }
                let bytes = try stream.read(upTo: HTTP2Frame.payloadLimit)
                // The client has ended its side. No request of it can become complete.
                guard !bytes.isEmpty else { return }
                connection.append(bytes)
                while let request = connection.next() {
                    switch react(request.request, request.byteCount) {
                    case .respond(let response): connection.respond(to: request.stream, response)
                    case .moveRequests(let signal):
                        if signal == .refusedStream {
                            connection.refuseRequests()
                            try stream.write(connection.takeOutput())
                            usleep(HTTP2Service.pause)
                        }
                        connection.end(last: 0, .noError)
                    }
                    try stream.write(connection.takeOutput())
                }
            }
        } catch {
            // The stream is broken or the server was closed, so the client cannot read an error.
        }
    }

    /// Answers one request without keeping its content. Content over 1 MiB is not awaited.
    func serveOnce(_ stream: any ByteStream) {
        var once = self
        once.limits.requests = 1
        once.limits.droppedContent = HTTP2Limits.dropped
        once.serve(stream)
    }
}
