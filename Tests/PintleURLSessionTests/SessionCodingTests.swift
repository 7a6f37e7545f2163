import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Content codings (RFC 9110 section 8.4), which can expand a few bytes to very many.
@Suite("Pinned sessions: content codings")
struct SessionCodingTests {
    private let fixture: SessionFixture

    init() throws { fixture = try SessionFixture() }

    /// Makes a request to a server that answers with these bytes, over TLS or plain HTTP.
    private func load(_ answer: [UInt8], isPlain: Bool) async throws -> Data {
        let session = URLSession.pinned(to: try fixture.policy())
        let serve: @Sendable (any ByteStream) -> Void = { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(answer)
        }
        if isPlain {
            let server = try LoopbackTCPServer { serve($0) }
            return try await session.data(from: try #require(URL(string: "http://127.0.0.1:\(server.port)/"))).0
        }
        let server = try fixture.server(stream: serve)
        return try await session.data(from: try server.address()).0
    }

    @Test(
        "More than one content coding is an error before anything is decoded",
        arguments: [
            "Content-Encoding: gzip, gzip, gzip\r\n", "Content-Encoding: deflate\r\nContent-Encoding: deflate\r\n",
            "content-encoding: identity,deflate\r\n", "Content-Encoding: deflate, deflate\r\n",
        ], [false, true])
    func several(fields: String, isPlain: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 6\r\n\r\n"
        let error = await #expect(throws: URLError.self) {
            try await load(Array(head.utf8) + Deflate.block(0x61, isLast: true), isPlain: isPlain)
        }
        #expect(error?.code == .badServerResponse)
        #expect(error?.isAboutTrust == false)
        #expect(error?.localizedDescription == "the response has more than one content coding")
    }

    @Test(
        "Content with one coding is decoded, and content without a coding stays unchanged",
        arguments: ["deflate", "deflate,", "identity", ""])
    func one(coding: String) async throws {
        let isCoded = coding.hasPrefix("deflate")
        let content = isCoded ? Deflate.block(0x61, isLast: true) : [0x61]
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(content.count)\r\n\r\n"
        #expect(try await load(Array(head.utf8) + content, isPlain: false) == Data("a".utf8))
    }

    @Test("An interim response adds no content coding to the final one", arguments: [true, false])
    func interim(isCoded: Bool) async throws {
        let head =
            "HTTP/1.1 103 Early Hints\r\n\(isCoded ? "Content-Encoding: deflate" : "X-Field: a")\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 6\r\n\r\n"
        let answer = Array(head.utf8) + Deflate.block(0x61, isLast: true)
        if isCoded {
            let error = await #expect(throws: URLError.self) { try await load(answer, isPlain: false) }
            #expect(error?.localizedDescription == "an interim response has a field about content")
        } else {
            #expect(try await load(answer, isPlain: false) == Data("a".utf8))
        }
    }

    @Test("A decoder that reads input but produces no output ends the request", arguments: [false, true])
    func silent(isPlain: Bool) async throws {
        let written = Mutex(0)
        let piece = Array(repeatElement(Deflate.emptyBlock, count: 3_000).joined())
        let serve: @Sendable (any ByteStream) -> Void = { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n".utf8))
            while (try? stream.write(piece)) != nil { written.withLock { $0 += piece.count } }
        }
        let session = URLSession.pinned(to: try fixture.policy())
        let counter = try session.resources.transports.transport().counter
        let plain = try LoopbackTCPServer { serve($0) }
        let secure = try fixture.server(stream: serve)
        let url = isPlain ? URL(string: "http://127.0.0.1:\(plain.port)/") : try secure.address()
        let error = await #expect(throws: URLError.self) { try await session.data(from: try #require(url)) }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.isAboutTrust == false)
        #expect(error?.localizedDescription == "more than 256 KiB of coded content decode to nothing")
        print("a silent decoder: \(counter.turn) turns, \(counter.byteCount) bytes over TLS")
        if isPlain {
            // The bytes that libcurl reads in one turn, and those in the sockets' buffers.
            #expect(written.withLock { $0 } < 32 << 20)
        } else {
            // The limit, the bytes that one turn may add to it, and the handshake.
            #expect(counter.byteCount < ContentDecoder.silentLimit + ReadLimits().perTurn + 64 << 10)
        }
    }

    @Test("A decoder that produces little output for much input is not stopped")
    func slow() async throws {
        let blocks = (0..<100_000).flatMap { Deflate.block(UInt8($0 % 251), isLast: $0 == 99_999) }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(blocks.count)\r\n\r\n"
        let data = try await load(Array(head.utf8) + blocks, isPlain: false)
        #expect(data == Data((0..<100_000).map { UInt8($0 % 251) }))
    }

    /// "ab" in each coding, with the number of bytes that produce "a".
    static let endings: [(coding: String, content: [UInt8], cut: Int)] = [
        (
            "gzip",
            [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + Deflate.block(0x61) + Deflate.block(0x62, isLast: true)
                // The CRC-32 and the size (RFC 1952 section 2.3.1).
                + [0x6D, 0x48, 0x83, 0x9E, 2, 0, 0, 0], 16
        ),
        ("deflate", Deflate.block(0x61) + Deflate.block(0x62, isLast: true), 6),
    ]

    /// Browsers accept encoded content that stops before the end of its coding: many servers omit the trailer of gzip.
    @Test(
        "Encoded content ends where its framing says so, even without the end of its coding",
        arguments: endings, [false, true])
    func unfinished(_ ending: (coding: String, content: [UInt8], cut: Int), isChunked: Bool) async throws {
        func answer(_ content: [UInt8], announced: Int) -> [UInt8] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(ending.coding)\r\n"
            guard isChunked else { return Array("\(head)Content-Length: \(announced)\r\n\r\n".utf8) + content }
            let size = String(content.count, radix: 16)
            let last = announced == content.count ? "0\r\n\r\n" : ""
            return Array("\(head)Transfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8) + content
                + Array("\r\n\(last)".utf8)
        }
        let (whole, cut) = (ending.content, Array(ending.content.prefix(ending.cut)))
        #expect(try await load(answer(whole, announced: whole.count), isPlain: false) == Data("ab".utf8))
        #expect(try await load(answer(cut, announced: cut.count), isPlain: false) == Data("a".utf8))
        // The framing decides: the same bytes are an error if the length announces more.
        let error = await #expect(throws: URLError.self) {
            try await load(answer(cut, announced: whole.count), isPlain: false)
        }
        #expect(error?.code == .networkConnectionLost && error.flatMap { TrustRejection(underlying: $0) } == nil)
    }

    @Test(
        "Content in bare deflate, in the zlib format and in gzip with several members is decoded, in pieces of any size",
        arguments: [1, 2, 3, 5, 1_000])
    func formats(size: Int) throws {
        let content = Deflate.block(0x61) + Deflate.block(0x62, isLast: true)
        // The Adler-32 (RFC 1950), the CRC-32 and the size (RFC 1952).
        let zlib = [0x78, 0x9C] + content + [0x01, 0x26, 0x00, 0xC4]
        let member = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + content + [0x6D, 0x48, 0x83, 0x9E, 2, 0, 0, 0]
        for (bytes, isGzip, expected) in [
            (content, false, "ab"), (zlib, false, "ab"), (zlib + [1, 2, 3], false, "ab"), (member, true, "ab"),
            (member + member, true, "abab"), (member + [0, 0, 0], true, "ab"), ([], true, ""), ([0x1F], true, ""),
            ([0], false, ""),
        ] {
            let decoder = ContentDecoder(isGzip: isGzip)
            var decoded = Data()
            for start in stride(from: 0, to: bytes.count, by: size) {
                decoder.feed(Data(bytes[start..<min(start + size, bytes.count)]))
                while !decoder.needsInput { decoded += try decoder.decode() }
            }
            #expect(decoded == Data(expected.utf8))
        }
    }

    @Test("Encoded content whose first byte comes before the others is decoded", arguments: endings)
    func firstByte(_ ending: (coding: String, content: [UInt8], cut: Int)) async throws {
        let (coding, content) = (ending.coding, ending.content)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(content.count)\r\n\r\n"
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array(head.utf8) + content.prefix(1))
            // The session reads the first byte in a turn of its own.
            Thread.sleep(forTimeInterval: 0.2)
            try? stream.write(Array(content.dropFirst()))
        })
        let session = URLSession.pinned(to: try fixture.policy())
        #expect(try await session.data(from: try server.address()).0 == Data("ab".utf8))
    }

    @Test(
        "Content that is not in the coding that its head names is an error", arguments: ["gzip", "deflate", "x-gzip"])
    func wrong(coding: String) async throws {
        let content = "<html>not encoded</html>"
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(content.count)\r\n\r\n"
        let error = await #expect(throws: URLError.self) {
            try await load(Array((head + content).utf8), isPlain: false)
        }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.localizedDescription == "the content of the response is not in the coding that its head names")
        #expect(error?.isAboutTrust == false)
    }

    @Test("Content that expands very much arrives completely, over several turns, while other servers are served")
    func expanding() async throws {
        let (copies, good) = (400_000, try fixture.server { _ in .text("good") })
        let content = Deflate.letters(copies)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(content.count)\r\n\r\n"
        let plain = try LoopbackTCPServer { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array(head.utf8) + content)
        }
        let session = URLSession.pinned(to: try fixture.policy())
        let counter = try session.resources.transports.transport().counter
        let url = try #require(URL(string: "http://127.0.0.1:\(plain.port)/"))
        async let large = session.data(from: url)
        async let small = session.data(from: try good.address())
        #expect(try await small.0 == Data("good".utf8))
        #expect(try await large.0 == Data(repeating: 0x61, count: 258 * copies + 1))
        print("\(258 * copies) bytes decoded in \(counter.turn) turns")
        // A turn takes one piece.
        #expect(counter.turn > 258 * copies / ContentDecoder.pieceSize)
    }
}
