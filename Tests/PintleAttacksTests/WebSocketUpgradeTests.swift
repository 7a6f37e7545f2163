import Testing

@testable import PintleAttacks
@testable import PintleTestKit

@Suite("Web socket handshakes")
struct WebSocketUpgradeTests {
    /// The example of RFC 6455 section 1.2.
    private static let request = HTTPRequest(
        method: "GET", target: "/chat", version: "HTTP/1.1",
        fields: [
            HTTPField("Host", "server.example.com"), HTTPField("Upgrade", "websocket"),
            HTTPField("Connection", "keep-alive, Upgrade"), HTTPField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            HTTPField("Sec-WebSocket-Version", "13"),
        ])

    @Test("The response accepts the key of RFC 6455 and ends with a close frame")
    func example() throws {
        let bytes = try #require(HTTPResponse.closedWebSocket(Self.request)?.rawBytes)
        let head = String(decoding: bytes.dropLast(4), as: UTF8.self)
        #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(head.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(head.hasSuffix("\r\n\r\n") && !head.dropLast(4).contains("\r\n\r\n"))
        #expect(bytes.suffix(4) == [0x88, 2, 0x03, 0xE8])
    }

    @Test("A request that is no web socket handshake has another response", arguments: 0..<6)
    func others(_ fault: Int) {
        var request = Self.request
        switch fault {
        case 0: request.method = "POST"
        case 1: request.version = "HTTP/2"
        default: request.fields[fault - 1].value = "x"
        }
        #expect(HTTPResponse.closedWebSocket(request) == nil)
    }
}
