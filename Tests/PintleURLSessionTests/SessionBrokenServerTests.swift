import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Servers that are slow, broken or malicious. Each test has a control that differs only in the fault.
@Suite("Pinned sessions: broken servers")
struct SessionBrokenServerTests {
    /// The pieces that a server writes, and whether it then stays silent instead of closing the connection.
    struct Answer: CustomTestStringConvertible {
        let testDescription: String
        var pieces: [String]
        var stays = false
        /// The expected error; `nil` for a good response, whose content is `body`.
        var error: URLError.Code?
    }

    static let answers: [Answer] = [
        Answer(testDescription: "whole", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"]),
        Answer(
            testDescription: "in single bytes",
            pieces: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody".unicodeScalars.map { String($0) }),
        Answer(
            testDescription: "chunks",
            pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n", "2\r\ndy\r\n0\r\n\r\n"]),
        Answer(testDescription: "up to the end", pieces: ["HTTP/1.1 200 OK\r\n\r\nbo", "dy"]),
        Answer(
            testDescription: "more than announced",
            pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody and more"]),
        Answer(testDescription: "nothing", pieces: [], error: .networkConnectionLost),
        Answer(testDescription: "silence", pieces: [], stays: true, error: .timedOut),
        Answer(testDescription: "half a head", pieces: ["HTTP/1.1 200 OK\r\nContent-"], error: .networkConnectionLost),
        Answer(
            testDescription: "half a head and silence", pieces: ["HTTP/1.1 200 OK\r\nContent-"], stays: true,
            error: .timedOut),
        Answer(
            testDescription: "half the content", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo"],
            error: .networkConnectionLost),
        Answer(
            testDescription: "half the content and silence", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo"],
            stays: true, error: .timedOut),
        Answer(
            testDescription: "chunks without a last",
            pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n"],
            error: .networkConnectionLost),
        Answer(
            testDescription: "a chunk of no size",
            pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nbody\r\n0\r\n\r\n"],
            error: .networkConnectionLost),
        Answer(
            testDescription: "a negative length", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody"],
            error: .badServerResponse),
        Answer(
            testDescription: "a length that is none", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: four\r\n\r\nbody"],
            error: .badServerResponse),
        Answer(
            testDescription: "gzip that is none",
            pieces: ["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody"],
            error: .cannotDecodeContentData),
        Answer(testDescription: "no HTTP", pieces: ["SSH-2.0-OpenSSH_9.2\r\n\r\n"], error: .badServerResponse),
        Answer(
            testDescription: "a field without an end",
            pieces: ["HTTP/1.1 200 OK\r\nX: "] + Array(repeating: String(repeating: "x", count: 16_000), count: 64),
            error: .badServerResponse),
    ]

    @Test("A response is complete or an error, whatever the server does", arguments: answers)
    func answer(_ answer: Answer) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            for piece in answer.pieces { guard (try? stream.write(Array(piece.utf8))) != nil else { return } }
            while answer.stays, (try? stream.read(upTo: 4_096).isEmpty) == false {}
        })
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = answer.error == .timedOut ? 0.3 : 60
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        for style in [TaskStyle.dataAsync, .uploadDataDelegate, .downloadCompletion] {
            let request = URLRequest(url: try server.address())
            if let code = answer.error {
                let error = await #expect(throws: URLError.self) { try await style.run(on: session, request) }
                #expect(error?.code == code, "\(style): \(error as Any)")
                #expect(error.flatMap { TrustRejection(underlying: $0) } == nil)
            } else {
                #expect(try await style.run(on: session, request) == Data("body".utf8), "\(style)")
            }
        }
    }

    @Test("Content without a length is complete only if close_notify ends it", arguments: [true, false])
    func truncation(isCut: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\n\r\nbody".utf8))
            gate.wait()
        })
        defer { gate.signal() }
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let task = session.dataTask(with: try server.address())
        task.delegate = recorder
        async let run: Void = recorder.run(task)
        for _ in 0..<500 where recorder.log.withLock({ $0.data.isEmpty }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        if isCut { proxy.close() } else { gate.signal() }
        await run
        #expect((recorder.log.withLock { $0.error } as? URLError)?.code == (isCut ? .networkConnectionLost : nil))
        #expect(recorder.log.withLock { $0.data } == Data("body".utf8))
    }

    @Test("A stalled handshake times out; one that only pauses does not", arguments: [true, false])
    func stalledHandshake(isMidway: Bool) async throws {
        let fixture = try SessionFixture()
        func server(seconds: Double) throws -> LoopbackTLSServer {
            try LoopbackTLSServer(fixture.identity) {
                $0.stall = isMidway ? .midHandshake(seconds: seconds) : .beforeServerHello(seconds: seconds)
            }
        }
        let (patient, still) = (try server(seconds: 0.1), try server(seconds: 60))
        let configuration = URLSessionConfiguration.ephemeral
        #expect(
            try await URLSession.pinned(to: try fixture.policy(), configuration: configuration)
                .data(from: try patient.address()).0.count == 3)
        configuration.timeoutIntervalForRequest = 0.3
        let hasty = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let error = await #expect(throws: URLError.self) { try await hasty.data(from: try still.address()) }
        #expect(error?.code == .timedOut)
        #expect(error?.isAboutTrust == false)
        #expect(still.requestByteCount == 0)
    }

    @Test(
        "A server without TLS is an error, and gets nothing of the request",
        arguments: ["", "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}", "220 ready\r\n"])
    func noTLS(greeting: String) async throws {
        let heard = Mutex<[UInt8]>([])
        let server = try LoopbackTCPServer { connection in
            let hello = (try? connection.read(upTo: 4_096)) ?? []
            heard.withLock { $0 += hello }
            try? connection.write(greeting.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        }
        let url = try #require(URL(string: "https://localhost:\(server.port)/?secret"))
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try SessionFixture().policy()).data(from: url)
        }
        #expect(error?.code == .secureConnectionFailed)
        #expect(error.flatMap { TrustRejection(underlying: $0) } == nil)
        #expect(heard.withLock { $0.first } == 0x16)
        #expect(!heard.withLock { String(decoding: $0, as: UTF8.self) }.contains("secret"))
    }

    @Test(
        "A connection that the server closes on reuse is replaced by another one, or by another tunnel",
        arguments: [false, true])
    func closedOnReuse(usesProxy: Bool) async throws {
        let fixture = try SessionFixture()
        let count = Atomic<Int>(0)
        let server = try fixture.server(stream: { stream in
            let isFirst = count.add(1, ordering: .relaxed).newValue == 1
            while case let head = (try? stream.read(upTo: 4_096)) ?? [], !head.isEmpty {
                try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody".utf8))
                // Reads the next request and closes the connection without a response.
                if isFirst {
                    _ = try? stream.read(upTo: 4_096)
                    return
                }
            }
        })
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        if usesProxy {
            configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        for _ in 0..<3 { #expect(try await session.data(from: try server.address()).0 == Data("body".utf8)) }
        #expect(server.completedHandshakeCount == 2)
        #expect(proxy.connections.count == (usesProxy ? 2 : 0))
    }

    @Test("A reset in the middle of the content is an error", arguments: [true, false])
    func reset(isReset: Bool) async throws {
        let server = try LoopbackTCPServer { connection in
            _ = try? connection.read(upTo: 4_096)
            try? connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\(isReset ? "bo" : "body")".utf8))
            if isReset { connection.resetOnClose() }
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let session = URLSession.pinned(to: try SessionFixture().policy())
        if isReset {
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.isAboutTrust == false)
        } else {
            #expect(try await session.data(from: url).0 == Data("body".utf8))
        }
    }
}
