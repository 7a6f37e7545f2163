/// Answers HTTP/1.1 requests on a stream until one side ends the connection.
package struct HTTPService {
    private let handler: @Sendable (HTTPRequest) -> HTTPResponse
    private let didReceive: @Sendable (HTTPRequest) -> Void

    package init(
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse,
        didReceive: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
    ) {
        (self.handler, self.didReceive) = (handler, didReceive)
    }

    func serve(_ stream: any ByteStream) {
        var reader = HTTPReader(stream)
        do {
            while let request = try reader.next() {
                didReceive(request)
                guard try answer(request, on: stream) else { return }
            }
        } catch {
            // Tell a client that its request is malformed. If it has disconnected, the write fails without consequence.
            if (error as? StreamError) != .serverClosed {
                try? stream.write(encode(.badRequest, keepsAlive: false, withBody: true))
            }
        }
    }

    /// Answers one request without reading its content, and keeps nothing of what the client sends.
    ///
    /// - Parameter firstBytes: the bytes that were read from the stream already.
    package func serveOnce(_ stream: any ByteStream, firstBytes: [UInt8] = []) {
        var reader = HTTPReader(stream, unread: firstBytes)
        // A client that disconnects without a request needs no answer.
        guard let request = try? reader.head() else { return }
        let once = HTTPService { request in
            var response = handler(request)
            response.closesConnection = true
            return response
        }
        _ = try? once.answer(request, on: stream)
    }

    /// Answers a request, and returns `true` if the connection stays open.
    private func answer(_ request: HTTPRequest, on stream: any ByteStream) throws -> Bool {
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

/// Reads HTTP/1.1 requests (RFC 9112) from a stream, within limits.
package struct HTTPReader {
    static let headLimit = 64 << 10
    static let bodyLimit = 64 << 20

    private let stream: any ByteStream
    private var buffer: [UInt8] = []

    /// - Parameter unread: Bytes that were read from the stream already.
    package init(_ stream: any ByteStream, unread: [UInt8] = []) {
        self.stream = stream
        buffer = unread
    }

    /// Bytes that were read and belong to no request yet.
    package var unread: [UInt8] { buffer }

    /// Returns the next request, or `nil` when the client has ended its side.
    mutating func next() throws -> HTTPRequest? {
        guard var request = try head() else { return nil }
        if request["expect"]?.lowercased() == "100-continue" {
            try stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        if request["transfer-encoding"]?.lowercased() == "chunked" {
            request.body = try chunks()
        } else if let length = request["content-length"] {
            guard let count = Int(length), (0...HTTPReader.bodyLimit).contains(count) else {
                throw StreamError(reason: "a content length of \(length)")
            }
            request.body = try readContent(count)
        }
        return request
    }

    /// Returns the next request line and fields without the content, or `nil` when the client has ended its side.
    package mutating func head() throws -> HTTPRequest? {
        let end = Array("\r\n\r\n".utf8)
        var searched = 0
        while true {
            let start = max(0, searched - end.count)
            if let found = (start..<max(start, buffer.count - end.count + 1)).first(where: {
                buffer[$0..<$0 + end.count].elementsEqual(end)
            }) {
                let text = String(decoding: buffer[..<found], as: UTF8.self)
                let request = try parse(text)
                // The bytes of a head that cannot be parsed stay in `unread`.
                buffer.removeFirst(found + end.count)
                return request
            }
            guard buffer.count <= HTTPReader.headLimit else { throw StreamError(reason: "a request head over 64 KiB") }
            searched = buffer.count
            guard try fill() else {
                guard buffer.isEmpty else { throw StreamError(reason: "the client ended within a request") }
                return nil
            }
        }
    }

    private func parse(_ head: String) throws -> HTTPRequest {
        // Split bytes, because in Swift a carriage return and a line feed together are one character.
        let lines = head.utf8.split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { throw StreamError(reason: "a malformed request line") }
        var fields: [HTTPField] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw StreamError(reason: "a field without a colon") }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append(HTTPField(String(line[..<colon]), String(value)))
        }
        return HTTPRequest(
            method: String(words[0]), target: String(words[1]), version: String(words[2]), fields: fields)
    }

    private mutating func chunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let size = try line().prefix { $0 != ";" }
            guard let count = Int(size, radix: 16), count >= 0, count <= HTTPReader.bodyLimit - body.count else {
                throw StreamError(reason: "a chunk size of \(size)")
            }
            if count == 0 { break }
            body += try readContent(count)
            guard try line().isEmpty else { throw StreamError(reason: "a chunk longer than its size") }
        }
        // Trailers.
        while try !line().isEmpty {}
        return body
    }

    private mutating func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let text = String(decoding: buffer[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
                buffer.removeFirst(end + 1)
                return text
            }
            guard buffer.count <= HTTPReader.headLimit, try fill() else {
                throw StreamError(reason: "a line without an end")
            }
        }
    }

    private mutating func readContent(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw StreamError(reason: "the client ended within a request's content") }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    private mutating func fill() throws -> Bool {
        let bytes = try stream.read(upTo: 65_536)
        buffer += bytes
        return !bytes.isEmpty
    }
}
