import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// HTTP/2 servers that end streams and connections early (RFC 9113).
@Suite("Pinned sessions: HTTP/2 faults")
struct SessionHTTP2FaultTests {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case none
        /// RST_STREAM with INTERNAL_ERROR.
        case reset
        /// The same in the middle of the content.
        case resetInContent
        /// GOAWAY before the server has processed any stream, on each connection.
        case gone
        /// GOAWAY in the middle of the content, and the end of the connection.
        case goneInContent
        /// The connection ends in the middle of the content.
        case cutInContent
        case garbage

        var testDescription: String { rawValue }
    }

    @Test("A response is complete or an error, whatever the server does", arguments: Fault.allCases)
    func fault(_ fault: Fault) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture, hangsUp: fault == .goneInContent || fault == .cutInContent) { _ in
            switch fault {
            case .none: Frame.head + Frame.data("body", isLast: true)
            case .reset: Frame.reset(code: 2)
            case .resetInContent: Frame.head + Frame.data("bo") + Frame.reset(code: 2)
            case .gone: Frame.goAway(last: 0)
            case .goneInContent: Frame.head + Frame.data("bo") + Frame.goAway(last: 1)
            case .cutInContent: Frame.head + Frame.data("bo")
            case .garbage: Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody".utf8)
            }
        }
        let request = URLRequest(url: try server.address())
        for style in [TaskStyle.dataAsync, .uploadDataCompletion, .downloadDelegate] {
            let session = URLSession.pinned(to: try fixture.policy())
            if fault == .none {
                #expect(try await style.run(on: session, request) == Data("body".utf8), "\(style)")
            } else {
                let error = await #expect(throws: URLError.self) { try await style.run(on: session, request) }
                // libcurl 8 tells that nghttp2 could not read it.
                let isKnown = fault == .garbage && !CurlLibrary.copiesStreams
                #expect(
                    error?.code == (isKnown ? .badServerResponse : .networkConnectionLost), "\(style): \(error as Any)")
                #expect(error?.isAboutTrust == false)
            }
        }
    }

    @Test("A request that the server reports as not processed is sent once more")
    func refused() async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture) { connection in
            // REFUSED_STREAM
            connection > 1 ? Frame.head + Frame.data("body", isLast: true) : Frame.reset(code: 7)
        }
        let session = URLSession.pinned(to: try fixture.policy())
        #expect(try await session.data(from: try server.address()).0 == Data("body".utf8))
        #expect(server.completedHandshakeCount == 2)
    }

    @Test("A request that GOAWAY refuses is sent once more, a POST too", arguments: ["GET", "POST"])
    func gone(method: String) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture) { connection in
            connection > 1 ? Frame.head + Frame.data("body", isLast: true) : Frame.goAway(last: 0)
        }
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address())
        request.httpMethod = method
        #expect(try await session.data(for: request).0 == Data("body".utf8))
        #expect(server.completedHandshakeCount == 2)
    }

    /// Servers that count resets end a connection after too many of them.
    @Test("A session resets no stream of a complete response", arguments: ["GET", "POST"], [false, true])
    func resets(method: String, endComesLate: Bool) async throws {
        let fixture = try SessionFixture()
        let resets = Mutex(0)
        let server = try LoopbackTLSServer(fixture.identity) { configuration in
            configuration.applicationProtocols = ["h2"]
            configuration.application = .stream { stream in
                guard Frame.readRequest(stream) else { return }
                var next: UInt8? = 1
                while let number = next {
                    let head = Frame.head(200, [("content-length", "4")], stream: number).flatMap(\.self)
                    if endComesLate {
                        try? stream.write(head + Frame.data("body", isLast: false, stream: number))
                        usleep(5_000)
                        try? stream.write(Frame.data("", isLast: true, stream: number))
                    } else {
                        try? stream.write(
                            head + Frame.data("body", isLast: false, stream: number)
                                + Frame.data("", isLast: true, stream: number))
                    }
                    next = Frame.readNextRequest(stream) { resets.withLock { $0 += 1 } }
                }
            }
        }
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address())
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data(repeating: 1, count: 1_000) }
        let clock = ContinuousClock()
        var slowest = Duration.zero
        for _ in 0..<20 {
            let start = clock.now
            #expect(try await session.data(for: request).0 == Data("body".utf8))
            slowest = max(slowest, start.duration(to: clock.now))
        }
        // A POST gets a fresh connection after a pause of 4 seconds, which a busy machine may make.
        if slowest < .seconds(3) { #expect(server.completedHandshakeCount == 1) }
        // Before 8.1, libcurl also resets the streams that it reads to the end.
        let most = endComesLate && CurlLibrary.copiesStreams ? 20 : 0
        #expect(resets.withLock(\.self) <= most)
    }

    @Test(
        "A request that is repeated over HTTP/1.1 gets a response under the rules of HTTP/1.1",
        arguments: [true, false])
    func refusedAndRepeated(isWhole: Bool) async throws {
        let fixture = try SessionFixture()
        let streams = try server(fixture) { _ in Frame.reset(code: 7) }
        let text = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(isWhole ? 4 : 100)\r\n\r\nhalf".utf8))
            // Stay connected: the complete response has to end at its length, not with the connection.
            while isWhole, (try? stream.read(upTo: 4_096).isEmpty) == false {}
        })
        let address = try streams.address()
        let ports = [streams.port, text.port]
        let count = Atomic<Int>(0)
        let proxy = try LoopbackProxy(.httpConnect) { _, _ in ports[min(1, count.add(1, ordering: .relaxed).oldValue)] }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: address)
        request.httpMethod = "PUT"
        request.httpBody = Data(repeating: 1, count: 1_000)
        if isWhole {
            #expect(try await session.data(for: request).0 == Data("half".utf8))
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.isAboutTrust == false)
        }
        #expect(text.completedHandshakeCount == 1)
    }

    /// Ways in which a response ends, and the code of its error.
    static let ends: [(length: UInt8?, isCut: Bool, code: URLError.Code?)] = [
        // libcurl 7.88 accepts the truncated content as complete.
        (nil, true, nil), (nil, false, nil), (4, true, .networkConnectionLost), (4, false, nil),
    ]

    @Test("RST_STREAM truncates a response without a length unnoticed; one with a length fails", arguments: ends)
    func unseenCut(_ end: (length: UInt8?, isCut: Bool, code: URLError.Code?)) async throws {
        let fixture = try SessionFixture()
        let server = try LoopbackTLSServer(fixture.identity) { configuration in
            configuration.applicationProtocols = ["h2"]
            configuration.application = .stream { stream in
                guard Frame.readRequest(stream) else { return }
                var number: UInt8? = 1
                while let current = number {
                    let content = end.isCut ? "bo" : "body"
                    try? stream.write(
                        Frame.response(content, length: end.length, isLast: !end.isCut, stream: current))
                    if end.isCut {
                        // Needed because libcurl 7.88 loses a response that comes together with RST_STREAM.
                        try? stream.write(Frame.ping)
                        guard Frame.readAnswerToPing(stream) else { return }
                        try? stream.write(Frame.reset(code: 0, stream: current))
                    }
                    number = Frame.readNextRequest(stream)
                }
            }
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let url = try server.address()
        for _ in 0..<2 {
            if let code = end.code {
                let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                #expect(error?.code == code && error.flatMap { TrustRejection(underlying: $0) } == nil)
            } else {
                #expect(try await session.data(from: url).0 == Data((end.isCut ? "bo" : "body").utf8))
            }
        }
    }

    /// Returns a server that speaks HTTP/2 and answers the first request of each connection, given its number.
    private func server(
        _ fixture: SessionFixture, hangsUp: Bool = false, answer: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> LoopbackTLSServer {
        let count = Atomic<Int>(0)
        return try LoopbackTLSServer(fixture.identity) { configuration in
            configuration.applicationProtocols = ["h2"]
            configuration.application = .stream { stream in
                let number = count.add(1, ordering: .relaxed).newValue
                guard Frame.readRequest(stream) else { return }
                try? stream.write(answer(number))
                while !hangsUp, (try? stream.read(upTo: 4_096).isEmpty) == false {}
            }
        }
    }
}
