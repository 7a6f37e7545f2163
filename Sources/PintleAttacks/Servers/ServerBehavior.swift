internal import COpenSSL
internal import PintleTestKit

/// The behavior of a scenario's server after the handshake, over HTTP/1.1 or HTTP/2 as ALPN selected.
enum ServerBehavior: Sendable {
    /// Each request gets the same response.
    case answers(@Sendable (HTTPRequest) -> HTTPResponse)
    /// Over HTTP/2, the server tells the clients of its first certificate that it processed no request. The closure
    /// shows later connections another certificate.
    case moves(HTTP2Service.Signal, @Sendable () -> Void)
    /// Requests for the first host get a redirect to the other, and requests for the other an answer.
    case shares(HostPair, redirect: @Sendable () -> HTTPResponse)

    /// A server that answers with 200, and closes a web socket after its handshake.
    static let ok = ServerBehavior.answers { HTTPResponse.closedWebSocket($0) ?? .ok }

    /// The bytes of content after which an HTTP/2 request is answered, because no answer needs them. A client that can
    /// send all of it before the response does not take the response for an error.
    private static let droppedContent = 1 << 20

    /// - Parameter isReplaced: returns `true` if the client's next connection meets another scenario.
    func serve(_ stream: any ByteStream, isReplaced: @escaping () -> Bool) {
        let negotiated = stream as? TLSServerConnection
        let record = negotiated?.record ?? TLSConnectionRecord()
        guard record.applicationProtocol == "h2" else { return HTTPService(handler: response).serveOnce(stream) }
        var service = HTTP2Service { request, byteCount in
            if case .moves(let signal, let replaceCredential) = self, record.credentialNumber == 0 {
                replaceCredential()
                return .moveRequests(signal)
            }
            if case .shares(let hosts, _) = self, hosts.isOfFirst(record), hosts.isForOther(request) {
                negotiated?.addMisdirectedBytes(byteCount)
            }
            var response = response(to: request)
            // Kept connections must not hide the next attack from the client, or take all places of the server.
            if isReplaced() || negotiated?.isCrowded == true { response.closesConnection = true }
            return .respond(response)
        }
        service.droppedContent = Self.droppedContent
        service.serve(stream)
    }

    @Sendable private func response(to request: HTTPRequest) -> HTTPResponse {
        switch self {
        case .answers(let response): response(request)
        case .moves: HTTPResponse.closedWebSocket(request) ?? .ok
        case .shares(let hosts, let redirect): hosts.isForOther(request) ? .ok : redirect()
        }
    }
}

/// Two hosts at one address and port, each with a certificate of its own. That of the first host also covers the other.
struct HostPair: Sendable {
    let first: String
    let other: String

    /// Returns `true` if the connection showed the first host's certificate. A client that names no host in SNI is
    /// shown it until the server has sent its redirect.
    func isOfFirst(_ record: TLSConnectionRecord) -> Bool {
        guard let name = record.serverName else { return record.credentialNumber == 0 }
        return name.lowercased() != other.lowercased()
    }

    /// Returns `true` if the request is for the other host.
    func isForOther(_ request: HTTPRequest) -> Bool {
        HostPair.host(request["host"] ?? "") == other.lowercased()
    }

    /// Returns the host of an authority without its port, in lower case and without brackets.
    private static func host(_ authority: String) -> String {
        if authority.hasPrefix("[") { return authority.dropFirst().prefix { $0 != "]" }.lowercased() }
        return authority.prefix { $0 != ":" }.lowercased()
    }
}

extension HTTPResponse {
    /// Returns a response that opens a web socket and closes it again, or `nil` if the request is not such a handshake.
    ///
    /// The response is the 101 of RFC 6455 section 4.2.2, followed by a close frame with status 1000 (sections 5.5.1,
    /// 7.4.1).
    static func closedWebSocket(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == "GET", request.version == "HTTP/1.1",
            request["upgrade"]?.lowercased() == "websocket", hasToken("upgrade", in: request["connection"]),
            request["sec-websocket-version"] == "13", let key = request["sec-websocket-key"], key.utf8.count == 24
        else { return nil }
        let head = """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(webSocketAccept(key))\r
            \r

            """
        return .raw(Array(head.utf8) + [0x88, 2, 0x03, 0xE8])
    }

    /// Returns the value that proves to the client that the server has read its key.
    static func webSocketAccept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        SHA1(text, text.count, &digest)
        // Four characters for each three bytes, and a zero byte at the end.
        var encoded = [UInt8](repeating: 0, count: (digest.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&encoded, digest, Int32(digest.count))
        return String(decoding: encoded.prefix(max(0, Int(count))), as: UTF8.self)
    }

    private static func hasToken(_ token: String, in list: String?) -> Bool {
        (list ?? "").split(separator: ",").contains { $0.lowercased().filter { $0 != " " } == token }
    }
}
