internal import PintleSystem

/// Answers HTTP/2 requests on a stream until one side ends the connection.
package struct HTTP2Service {
    /// The server's reaction to a request.
    package enum Reaction {
        case respond(HTTPResponse)
        /// The server processed no request and ends the connection, so the client may send them again on another one.
        case moveRequests(Signal)
    }

    /// The signals that a request was not processed (RFC 9113 section 8.7).
    package enum Signal: Sendable {
        /// GOAWAY with 0 as the last stream.
        case goAway
        /// RST_STREAM with REFUSED_STREAM, and GOAWAY a moment later.
        case refusedStream
    }

    /// The microseconds between RST_STREAM and GOAWAY. libcurl 7.88 sends a refused request again, but not if GOAWAY
    /// comes in the same read.
    private static let pause: UInt32 = 100_000
    /// The seconds after GOAWAY in which the client can end the connection.
    private static let farewell = 10.0

    private var limits = HTTP2Limits()

    /// The bytes of content after which a request counts as complete although more may follow. Its content is dropped.
    /// `nil` holds the content until the request ends.
    package var droppedContent: Int? {
        get { limits.droppedContent }
        set { limits.droppedContent = newValue }
    }

    /// Reacts to a request, on the connection's thread, given the number of bytes of its frames.
    let react: (HTTPRequest, Int) -> Reaction

    package init(react: @escaping (HTTPRequest, Int) -> Reaction) {
        self.react = react
    }

    /// Makes a service that answers each request.
    package init(
        handler: @escaping (HTTPRequest) -> HTTPResponse, didReceive: @escaping (HTTPRequest) -> Void = { _ in }
    ) {
        self.init { request, _ in
            didReceive(request)
            return .respond(handler(request))
        }
    }

    /// Serves a connection until the client has ended it or its time is over.
    ///
    /// After its last response the server sends GOAWAY and waits for the client to end the connection (RFC 9113 section
    /// 9.1). A slow client still writes while the response waits to be read. If the server ended first, such a client
    /// would take the connection for a broken one.
    package func serve(_ stream: any ByteStream) {
        let kept = stream as? any KeptStream
        var connection = HTTP2ServerConnection(limits)
        /// Records the state before the client can react to the bytes.
        func send() throws {
            kept?.setAnswered(connection.isIdle)
            try stream.write(connection.takeOutput())
        }
        do {
            while true {
                try send()
                guard !connection.isOver else { break }
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
                            try send()
                            usleep(HTTP2Service.pause)
                        }
                        connection.end(last: 0, .noError)
                    }
                    try send()
                }
            }
            guard connection.isGoingAway, connection.failure == nil, kept?.isCrowded == false else { return }
            kept?.limitReading(seconds: HTTP2Service.farewell)
            while !(try stream.read(upTo: HTTP2Frame.payloadLimit)).isEmpty {}
        } catch {
            // The stream is broken or the server was closed, so the client cannot read an error.
        }
    }
}
