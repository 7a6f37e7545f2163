/// Answers HTTP/1.1 requests on a stream until either side is done.
struct HTTPService {
    let handler: @Sendable (HTTPRequest) -> HTTPResponse
    var didReceive: @Sendable (HTTPRequest) -> Void = { _ in }

    func serve(_ stream: any ByteStream) {
        var reader = HTTPReader(stream)
        do throws(StreamError) {
            while let request = try reader.next() {
                didReceive(request)
                guard try answer(request, on: stream) else { return }
            }
        } catch {
            // A client that hangs up is an everyday event; one that writes nonsense is told so.
            if error != .serverClosed { try? stream.write(encode(.badRequest, keepsAlive: false, withBody: true)) }
        }
    }

    /// Answers one request, whose content nobody waits for: nothing that a client sends is kept.
    func serveOnce(_ stream: any ByteStream) {
        var reader = HTTPReader(stream)
        // A client that hangs up has decided.
        guard let request = try? reader.head() else { return }
        let once = HTTPService { request in
            var response = handler(request)
            response.closesConnection = true
            return response
        }
        _ = try? once.answer(request, on: stream)
    }

    /// Whether the connection stays open.
    private func answer(_ request: HTTPRequest, on stream: any ByteStream) throws(StreamError) -> Bool {
        let response = handler(request)
        if let bytes = response.rawBytes {
            try stream.write(bytes)
            return false
        }
        let asksToClose = request["connection"]?.lowercased() == "close" || request.version == "HTTP/1.0"
        let keepsAlive = !response.closesConnection && !asksToClose
        try stream.write(encode(response, keepsAlive: keepsAlive, withBody: request.method != "HEAD"))
        return keepsAlive
    }

    private func encode(_ response: HTTPResponse, keepsAlive: Bool, withBody: Bool) -> [UInt8] {
        var fields = response.fields
        let names = Set(fields.map { $0.name.lowercased() })
        let hasNoContent = response.status < 200 || response.status == 204 || response.status == 304
        if !names.contains("content-length") && !names.contains("transfer-encoding") && !hasNoContent {
            fields.append(HTTPField("Content-Length", "\(response.body.count)"))
        }
        if !keepsAlive && !names.contains("connection") { fields.append(HTTPField("Connection", "close")) }
        var head = "HTTP/1.1 \(response.status) \(response.reason)\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        return Array((head + "\r\n").utf8) + (withBody ? response.body : [])
    }
}

extension HTTPResponse {
    fileprivate static let badRequest = HTTPResponse(status: 400, reason: "Bad Request")
}
