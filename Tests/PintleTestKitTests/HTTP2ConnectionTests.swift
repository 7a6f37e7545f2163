import Testing

@testable import PintleTestKit

/// A client's frames, byte by byte, at a server without a network.
@Suite("HTTP/2 connections")
struct HTTP2ConnectionTests {
    private typealias Client = HTTP2Fixture

    @Test("A request is the same in one piece and byte by byte", arguments: [Int.max, 1, 7])
    func request(pieces: Int) throws {
        let exchange = try Client.exchange(
            Client.headers(Client.head + Client.literal("x-a", "1"), flags: 4) + Client.data(3)
                + Client.data(2, flags: 1),
            pieces: pieces)
        let request = try #require(exchange.requests.first)
        #expect(request.request.method == "GET" && request.request.target == "/")
        #expect(request.request.version == "HTTP/2")
        #expect(request.request.fields == [HTTPField("host", "a"), HTTPField("x-a", "1")])
        #expect(request.request.body == Array("xxxxx".utf8))
        // Three frames with nine bytes of header each.
        #expect(request.byteCount == 27 + Client.head.count + Client.literal("x-a", "1").count + 5)
        #expect(exchange.endCode == nil)
        #expect(
            exchange.sent.map(\.kind) == [
                .settings, .settings, .windowUpdate, .windowUpdate, .windowUpdate, .headers,
            ])
        var decoder = HPACKDecoder(listLimit: 65_536)
        #expect(
            HPACKTests.text(try decoder.fields(of: try #require(exchange.sent(.headers).first).payload)) == [
                ":status: 200", "content-length: 0",
            ])
    }

    struct Fault: CustomTestStringConvertible {
        let testDescription: String
        let code: HTTP2Error.Code
        let frames: [UInt8]

        init(_ name: String, _ code: HTTP2Error.Code, _ frames: [UInt8]) {
            (testDescription, self.code, self.frames) = (name, code, frames)
        }
    }

    static let allFaults: [Fault] = [
        Fault("DATA on an idle stream", .protocolError, Client.data(1)),
        Fault("DATA on the connection", .protocolError, Client.data(1, stream: 0)),
        Fault("HEADERS on an even stream", .protocolError, Client.headers(stream: 2)),
        Fault("HEADERS on the connection", .protocolError, Client.headers(stream: 0)),
        Fault(
            "a frame within a header block", .protocolError,
            Client.headers(flags: 1) + Client.frame(.ping, .init(repeating: 0, count: 8))),
        Fault(
            "CONTINUATION of another stream", .protocolError,
            Client.headers(flags: 1) + Client.frame(.continuation, flags: 4, stream: 3)),
        Fault("CONTINUATION without HEADERS", .protocolError, Client.frame(.continuation, flags: 4, stream: 1)),
        Fault("too much padding", .protocolError, Client.headers([9, 0x82], flags: 0x0D)),
        Fault("no padding", .frameSizeError, Client.headers([], flags: 0x0D)),
        Fault("a truncated priority", .frameSizeError, Client.headers([0, 0, 0, 0], flags: 0x25)),
        Fault("trailers without END_STREAM", .protocolError, Client.headers(flags: 4) + Client.headers([], flags: 4)),
        Fault("a short PRIORITY", .frameSizeError, Client.frame(.priority, stream: 1, [0, 0, 0, 0])),
        Fault("PRIORITY of the connection", .protocolError, Client.frame(.priority, [0, 0, 0, 0, 0])),
        Fault("RST_STREAM of an idle stream", .protocolError, Client.frame(.resetStream, stream: 1, [0, 0, 0, 0])),
        Fault(
            "a long RST_STREAM", .frameSizeError,
            Client.headers() + Client.frame(.resetStream, stream: 1, [0, 0, 0, 0, 0])),
        Fault("SETTINGS of a stream", .protocolError, Client.frame(.settings, stream: 1)),
        Fault("SETTINGS of seven bytes", .frameSizeError, Client.frame(.settings, .init(repeating: 0, count: 7))),
        Fault(
            "SETTINGS ACK with a payload", .frameSizeError,
            Client.frame(.settings, flags: 1, .init(repeating: 0, count: 6))),
        Fault("ENABLE_PUSH of 2", .protocolError, Client.frame(.settings, [0, 2, 0, 0, 0, 2])),
        Fault("MAX_FRAME_SIZE of 16,383", .protocolError, Client.frame(.settings, [0, 5, 0, 0, 0x3F, 0xFF])),
        Fault("INITIAL_WINDOW_SIZE of 2^31", .flowControlError, Client.frame(.settings, [0, 4, 0x80, 0, 0, 0])),
        Fault("PUSH_PROMISE", .protocolError, Client.frame(.pushPromise, stream: 1, [0, 0, 0, 2])),
        Fault("a short PING", .frameSizeError, Client.frame(.ping, [0])),
        Fault("PING of a stream", .protocolError, Client.frame(.ping, stream: 1, .init(repeating: 0, count: 8))),
        Fault("a short GOAWAY", .frameSizeError, Client.frame(.goAway, [0])),
        Fault("WINDOW_UPDATE by 0", .protocolError, Client.frame(.windowUpdate, [0, 0, 0, 0])),
        Fault("WINDOW_UPDATE of an idle stream", .protocolError, Client.frame(.windowUpdate, stream: 1, [0, 0, 0, 1])),
        Fault("a window of 2^31", .flowControlError, Client.frame(.windowUpdate, [0x7F, 0xFF, 0xFF, 0xFF])),
        Fault("a long frame", .frameSizeError, [0, 0x40, 1, 0, 0, 0, 0, 0, 1]),
        Fault("a bad index", .compressionError, Client.headers([0xFF, 0x80, 0x01])),
        Fault("no method", .protocolError, Client.headers([0x87, 0x84])),
        Fault("no path", .protocolError, Client.headers([0x82, 0x87])),
        Fault("two methods", .protocolError, Client.headers([0x82] + Client.head)),
        Fault("a status", .protocolError, Client.headers(Client.head + [0x88])),
        Fault(
            "a late pseudo-header field", .protocolError,
            Client.headers([0x82, 0x87] + Client.literal("a", "b") + [0x84])),
        Fault("upper case", .protocolError, Client.headers(Client.head + Client.literal("X-A", "b"))),
        Fault("a line break", .protocolError, Client.headers(Client.head + Client.literal("a", "b\r\nc: d"))),
        Fault("Connection", .protocolError, Client.headers(Client.head + Client.literal("connection", "close"))),
        Fault(
            "a wrong content length", .protocolError,
            Client.headers(Client.head + Client.literal("content-length", "1"))),
    ]

    @Test("Malformed input ends the connection with GOAWAY and its code", arguments: allFaults)
    func fault(_ fault: Fault) throws {
        let exchange = try Client.exchange(fault.frames + Client.headers(stream: 7))
        #expect(exchange.endCode == fault.code.rawValue, "\(exchange.connection.failure as Any)")
        #expect(exchange.connection.isOver && exchange.sent.last?.kind == .goAway)
        #expect(!exchange.requests.contains { $0.stream == 7 })
    }

    static let rarities: [(name: String, frames: [UInt8])] = [
        ("padding", Client.headers([2] + Client.head + [0, 0], flags: 0x0D)),
        ("priority", Client.headers([0x80, 0, 0, 0, 15] + Client.head, flags: 0x25)),
        (
            "CONTINUATION",
            Client.headers([0x82], flags: 1)
                + HTTP2Frame(.continuation, flags: 4, stream: 1, payload: Array(Client.head.dropFirst())).bytes
        ),
        ("an unknown type", [0, 0, 2, 0xFA, 0xFF, 0, 0, 0, 9, 1, 2] + Client.headers()),
        ("trailers", Client.headers(flags: 4) + Client.headers(Client.literal("a", "b"))),
        ("DATA without content", Client.headers(flags: 4) + Client.data(0, flags: 1)),
        (
            "a content length",
            Client.headers(Client.head + Client.literal("content-length", "3"), flags: 4) + Client.data(3, flags: 1)
        ),
        ("a reserved bit", Array(Client.headers().prefix(5)) + [0x80, 0, 0, 1] + Client.head),
    ]

    @Test("Input that is correct and rare is no error", arguments: rarities)
    func rare(_ rarity: (name: String, frames: [UInt8])) throws {
        let exchange = try Client.exchange(rarity.frames + Client.headers(stream: 7))
        #expect(exchange.requests.map(\.stream) == [1, 7], "\(exchange.connection.failure as Any)")
        #expect(exchange.endCode == nil)
    }

    @Test("A connection without the preface, or without SETTINGS, ends")
    func beginning() throws {
        for (bytes, isGood) in [
            (Array("GET / HTTP/1.1\r\n\r\n".utf8), false), (HTTP2Frame.preface + Client.headers(), false),
            (HTTP2Frame.preface + Client.settings + Client.headers(), true),
        ] {
            var exchange = Client.Exchange()
            try exchange.receive(bytes)
            #expect(exchange.requests.isEmpty != isGood)
            #expect(exchange.endCode == (isGood ? nil : 1))
        }
    }

    @Test("PING and SETTINGS are acknowledged, and acknowledgements are not")
    func acknowledgements() throws {
        let ping = [UInt8](1...8)
        let exchange = try Client.exchange(
            Client.frame(.ping, ping) + Client.frame(.ping, flags: 1, ping) + Client.frame(.settings, flags: 1))
        #expect(exchange.sent(.ping).map(\.payload) == [ping] && exchange.sent(.ping).first?.flags == 1)
        #expect(exchange.sent(.settings).map(\.flags) == [0, 1])
    }
}
