import Testing

@testable import PintleTestKit

/// Windows, limits and the ends of streams.
@Suite("HTTP/2 flow and limits")
struct HTTP2FlowTests {
    private typealias Fixture = HTTP2Fixture

    private static func setting(_ id: UInt8, _ value: UInt32) -> [UInt8] {
        HTTP2Frame(.settings, payload: [0, id] + HTTP2Frame.octets(value)).bytes
    }

    private static func update(_ value: UInt32, stream: UInt32 = 0) -> [UInt8] {
        HTTP2Frame(.windowUpdate, stream: stream, payload: HTTP2Frame.octets(value)).bytes
    }

    private static func contentCount(_ exchange: Fixture.Exchange) -> Int {
        exchange.sent(.data).reduce(0) { $0 + $1.payload.count }
    }

    @Test("Content waits for the windows of the stream and the connection")
    func windows() throws {
        var exchange = Fixture.Exchange()
        exchange.response.body = [UInt8](repeating: 0x78, count: 100_000)
        try exchange.receive(HTTP2Frame.preface + Self.setting(4, 1_000) + Fixture.headers())
        #expect(Self.contentCount(exchange) == 1_000)
        try exchange.receive(Self.setting(4, 500) + Self.update(400, stream: 1))
        #expect(Self.contentCount(exchange) == 1_000, "the window is -100")
        try exchange.receive(Self.update(101, stream: 1))
        #expect(Self.contentCount(exchange) == 1_001)
        try exchange.receive(Self.update(1_000_000, stream: 1))
        #expect(Self.contentCount(exchange) == 65_535)
        #expect(exchange.sent(.data).last?.flags == 0)
        try exchange.receive(Self.update(1_000_000))
        #expect(Self.contentCount(exchange) == 100_000)
        #expect(exchange.sent(.data).last?.flags == HTTP2Frame.Flag.endStream)
        #expect(exchange.sent(.data).allSatisfy { $0.payload.count <= 16_384 })
        #expect(exchange.connection.streams.isEmpty && exchange.endCode == nil)
    }

    @Test("A client that resets a stream gets no more of its content, and the next request is answered")
    func reset() throws {
        var exchange = Fixture.Exchange()
        exchange.response.body = [UInt8](repeating: 0x78, count: 100)
        let reset = HTTP2Frame(.resetStream, stream: 1, payload: [0, 0, 0, 8]).bytes
        try exchange.receive(HTTP2Frame.preface + Self.setting(4, 10) + Fixture.headers() + reset)
        try exchange.receive(Self.update(1_000, stream: 1) + Self.setting(4, 1_000) + Fixture.headers(stream: 3))
        #expect(exchange.sent(.data).filter { $0.stream == 1 }.map(\.payload.count) == [10])
        #expect(exchange.sent(.data).filter { $0.stream == 3 }.map(\.payload.count) == [100])
    }

    @Test("More streams than the limit are refused, and the decoder still reads their fields")
    func openStreams() throws {
        var limits = HTTP2Limits()
        limits.openStreams = 2
        // The block adds a field to the dynamic table, which the last request names after it has added its authority.
        let indexed: [UInt8] = [0x40, 1, 0x78, 1, 0x79]
        let exchange = try Fixture.exchange(
            Fixture.headers(stream: 1, flags: 4) + Fixture.headers(stream: 3, flags: 4)
                + Fixture.headers(Fixture.head + indexed, stream: 5) + Fixture.data(0, stream: 1, flags: 1)
                + Fixture.headers(Fixture.head + [0xBF], stream: 7), limits: limits)
        #expect(exchange.sent(.resetStream).map(\.stream) == [5])
        #expect(exchange.sent(.resetStream).first?.payload == [0, 0, 0, 7])
        #expect(exchange.requests.map(\.stream) == [1, 7])
        #expect(exchange.requests.last?.request["x"] == "y")
    }

    @Test(
        "A connection ends with ENHANCE_YOUR_CALM above a limit, and not at it",
        arguments: ["header block", "header list", "control frames", "content"])
    func limits(_ kind: String) throws {
        for excess in [0, 1] {
            var limits = HTTP2Limits()
            var frames: [UInt8]
            switch kind {
            case "header block":
                let block = Fixture.head + Fixture.literal("x", String(repeating: "y", count: 40_000))
                limits.headerBlock = block.count - excess
                let pieces = stride(from: 0, to: block.count, by: 16_384).map {
                    Array(block[$0..<min($0 + 16_384, block.count)])
                }
                frames = Fixture.headers(pieces[0], flags: 1)
                for (index, piece) in pieces.enumerated().dropFirst() {
                    frames +=
                        HTTP2Frame(
                            .continuation, flags: index == pieces.count - 1 ? 4 : 0, stream: 1, payload: piece
                        ).bytes
                }
            case "header list":
                // :method GET, :scheme https, :path /, :authority a
                limits.headerList = 42 + 44 + 38 + 43 - excess
                frames = Fixture.headers()
            case "control frames":
                limits.controlFrames = 11 - excess
                frames = Array(repeatElement(HTTP2Frame(.settings, flags: 1).bytes, count: 10).joined())
                frames += Fixture.headers()
            default:
                limits.content = 20 - excess
                frames = Fixture.headers(flags: 4) + Fixture.headers(stream: 3, flags: 4)
                frames += Fixture.data(10) + Fixture.data(10, stream: 3, flags: 1)
            }
            let exchange = try Fixture.exchange(frames, limits: limits)
            #expect(exchange.requests.count == 1 - excess, "\(exchange.connection.failure as Any)")
            #expect(exchange.endCode == (excess == 0 ? nil : 11))
        }
    }

    @Test("A server that ignores content answers after the header and ends the connection in order")
    func once() throws {
        var limits = HTTP2Limits()
        (limits.requests, limits.droppedContent) = (1, 0)
        let exchange = try Fixture.exchange(
            Fixture.headers(flags: 4) + Fixture.data(10_000) + Fixture.headers(stream: 3), limits: limits)
        #expect(exchange.requests.map(\.stream) == [1])
        #expect(exchange.requests.first?.request.body == [])
        #expect(exchange.endCode == 0)
        #expect(exchange.sent.suffix(3).map(\.kind) == [.headers, .resetStream, .goAway])
        #expect(exchange.sent.last?.payload.prefix(4) == [0, 0, 0, 1])
    }

    @Test("A server that drops content waits for the end of short content, and not for that of long content")
    func droppedContent() throws {
        var limits = HTTP2Limits()
        (limits.requests, limits.droppedContent) = (1, 15_000)
        let short = Fixture.headers(flags: 4) + Fixture.data(10_000)
        #expect(try Fixture.exchange(short, limits: limits).requests.isEmpty)
        let whole = try Fixture.exchange(short + Fixture.data(0, flags: 1), limits: limits)
        #expect(whole.requests.map(\.request.body) == [[]])
        // The client needs no RST_STREAM, because it has sent everything.
        #expect(whole.sent.suffix(2).map(\.kind) == [.headers, .goAway])
        let long = try Fixture.exchange(short + Fixture.data(10_000), limits: limits)
        #expect(long.requests.count == 1)
        #expect(long.sent.suffix(3).map(\.kind) == [.headers, .resetStream, .goAway])
    }

    @Test("A server that moves requests refuses the streams and says that it processed none")
    func move() throws {
        var connection = HTTP2ServerConnection()
        connection.append(HTTP2Frame.preface + Fixture.settings + Fixture.headers())
        #expect(connection.next()?.stream == 1)
        _ = connection.takeOutput()
        connection.refuseRequests()
        connection.end(last: 0, .noError)
        #expect(
            connection.takeOutput()
                == HTTP2Frame(.resetStream, stream: 1, payload: [0, 0, 0, 7]).bytes
                + HTTP2Frame(.goAway, payload: [0, 0, 0, 0, 0, 0, 0, 0]).bytes)
    }

    @Test(
        "A response without content has none: HEAD, 204 and 304",
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func noContent(method: String, status: Int) throws {
        var exchange = Fixture.Exchange()
        exchange.response = HTTPResponse(status: status, body: Array("body".utf8))
        let head = Fixture.literal(":method", method) + Fixture.head.dropFirst()
        try exchange.receive(HTTP2Frame.preface + Fixture.settings + Fixture.headers(head))
        #expect(exchange.sent(.data).isEmpty)
        #expect(exchange.sent(.headers).map(\.flags) == [HTTP2Frame.Flag.endStream | HTTP2Frame.Flag.endHeaders])
    }

    @Test("Only the frames of requests count, in pieces of any length", arguments: [Int.max, 1, 5, 10])
    func meter(pieces: Int) {
        func count(_ bytes: [UInt8]) -> Int {
            var meter = HTTP2RequestMeter()
            return stride(from: 0, to: bytes.count, by: min(pieces, bytes.count)).reduce(0) { sum, start in
                sum + meter.count(Array(bytes[start..<min(start + min(pieces, bytes.count), bytes.count)]))
            }
        }
        let silent = HTTP2Frame.preface + Fixture.settings + Self.update(1_000)
        #expect(count(silent) == 0)
        #expect(count(Array(HTTP2Frame.preface.prefix(20))) == 0)
        let request = Fixture.headers(flags: 0) + HTTP2Frame(.continuation, flags: 4, stream: 1).bytes + Fixture.data(7)
        #expect(count(silent + request) == request.count)
        #expect(count(silent + request + Self.update(5) + request) == 2 * request.count)
        #expect(count(silent + Fixture.headers().prefix(12)) == 12)
        // These are not HTTP/2, so that they may be anything.
        let text = Array("PRI * HTTP/2.0\r\n\r\nPOST / HTTP/1.1\r\n\r\n".utf8)
        #expect(count(text) == text.count)
        #expect(count(silent + [0x16, 3, 1, 1, 0, 1, 0, 0, 0xFC, 3, 3]) == 11)
    }
}
