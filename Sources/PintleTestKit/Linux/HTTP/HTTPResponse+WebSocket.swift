internal import COpenSSL

extension HTTPResponse {
    /// Returns a response that opens a web socket and closes it again, or `nil` if the request is not such a handshake.
    ///
    /// The response is the 101 of RFC 6455 section 4.2.2, followed by a close frame with status 1000 (sections 5.5.1, 7.4.1).
    package static func closedWebSocket(_ request: HTTPRequest) -> HTTPResponse? {
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
