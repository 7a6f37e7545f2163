import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Servers that send without end. All transfers of a session share one thread, so each server gets only a share of
/// every turn.
@Suite("Pinned sessions: floods", .serialized)
struct SessionFloodTests {
    private let fixture: SessionFixture

    init() throws { fixture = try SessionFixture() }

    /// Options with an endless handshake, so that the flood can last.
    private var endless: CurlTransport.Options {
        var options = CurlTransport.Options()
        options.readLimits.handshake = .max
        return options
    }

    /// The turns and bytes of the loop while one request ran.
    private struct Share: CustomStringConvertible {
        var turns = 0
        var bytes = 0
        var seconds = 0.0
        var description: String { "\(turns) turns, \(bytes) bytes over TLS, \(seconds) s" }
    }

    /// The turns that the session's loop has begun.
    private func turns(of session: PinnedURLSession) throws -> Int {
        try session.resources.transports.transport().counter.turn
    }

    private func share(of session: PinnedURLSession, _ work: () async throws -> Void) async throws -> Share {
        let counter = try session.resources.transports.transport().counter
        let (turn, bytes, start) = (counter.turn, counter.byteCount, ProcessInfo.processInfo.systemUptime)
        try await work()
        return Share(
            turns: counter.turn - turn, bytes: counter.byteCount - bytes,
            seconds: ProcessInfo.processInfo.systemUptime - start)
    }

    @Test(
        "A request takes a bounded number of turns and bytes while another server floods the session",
        arguments: Flood.useless + [.content, .chunks])
    func goodServer(_ flood: Flood) async throws {
        let good = try fixture.server { _ in .text("good") }
        let hostile = try FloodServer(flood, at: fixture)
        let session = URLSession.pinned(to: try fixture.policy(), options: endless)
        let counter = ContentCounter()
        let task = session.dataTask(with: hostile.url)
        task.delegate = counter
        async let end: Void = counter.run(task)
        #expect(await hostile.isFlooding() || mayEndEarly(flood))

        let share = try await share(of: session) {
            let (data, response) = try await session.data(from: try good.address())
            #expect(String(decoding: data, as: UTF8.self) == "good" && response.trustReceipt != nil)
        }
        print("\(flood): a good request took \(share)")
        let limits = ReadLimits()
        let perTurn =
            switch flood {
            case .helloRequest: limits.perTurnOfHandshake
            // OpenSSL derives new keys for each message, which takes as long as reading some KiB of content.
            case .keyUpdate: 27 * (limits.perTurn / limits.perMessage + 1)
            default: limits.perTurn
            }
        // The good response with its handshake is less than 64 KiB.
        #expect(share.bytes <= (share.turns + 2) * perTurn + 64 << 10)
        #expect(share.turns < 20_000)
        // libcurl reads up to a hundred times in a turn from a connection without TLS. On a busy machine the task's
        // count is many turns late, but it is never ahead, so it is compared with all turns of the loop.
        let content = task.countOfBytesReceived
        #expect(content <= Int64(try turns(of: session) * 100 * Transfer.clearPieceSize))
        #expect(task.state == .running || mayEndEarly(flood))

        task.cancel()
        await end
        let code = counter.code.withLock { $0 }
        #expect(code == .cancelled || mayEndEarly(flood) && code == .badServerResponse)
    }

    /// Returns whether a connection may end because of the flood: recent versions of nghttp2, which come with libcurl
    /// 8, limit these frames themselves.
    private func mayEndEarly(_ flood: Flood) -> Bool {
        CurlLibrary.version.hasPrefix("8.") && (flood == .priority || flood == .emptyData)
    }

    @Test("A request takes a bounded number of turns and bytes while sixteen servers flood the session")
    func manyFloods() async throws {
        let good = try fixture.server { _ in .text("good") }
        let floods = Flood.useless + [.content, .chunks]
        let hostile = try (floods + floods).map { try FloodServer($0, at: fixture) }
        let session = URLSession.pinned(to: try fixture.policy(), options: endless)
        let counters = hostile.map { _ in ContentCounter() }
        let tasks = zip(hostile, counters).map { server, counter in
            let task = session.dataTask(with: server.url)
            task.delegate = counter
            return task
        }
        let ends = zip(tasks, counters).map { task, counter in Task { await counter.run(task) } }
        for (server, flood) in zip(hostile, floods + floods) {
            #expect(await server.isFlooding() || mayEndEarly(flood))
        }

        let share = try await share(of: session) {
            let (data, _) = try await session.data(from: try good.address())
            #expect(data == Data("good".utf8))
        }
        print("\(hostile.count) floods: a good request took \(share)")
        let limits = ReadLimits()
        // Two servers of each kind; the floods over plain HTTP read nothing through TLS.
        let perTurn =
            2 * (limits.perTurnOfHandshake + 27 * (limits.perTurn / limits.perMessage + 1) + 4 * limits.perTurn)
        #expect(share.bytes <= (share.turns + 2) * perTurn + 64 << 10)
        #expect(share.turns < 20_000)
        let contents = counters.map { counter in counter.total.withLock { $0 } }
        let turns = try turns(of: session)
        for content in contents { #expect(content <= turns * 100 * Transfer.clearPieceSize) }
        let mayEnd = (floods + floods).map(mayEndEarly)
        #expect(zip(tasks, mayEnd).allSatisfy { task, mayEnd in task.state == .running || mayEnd })

        for task in tasks { task.cancel() }
        for end in ends { await end.value }
        #expect(
            zip(counters, mayEnd).allSatisfy { counter, mayEnd in
                let code = counter.code.withLock { $0 }
                return code == .cancelled || mayEnd && code == .badServerResponse
            })
    }

    @Test("Sixteen servers that send much at once are all read to the end, beside another request")
    func manyHonest() async throws {
        let size = 2 << 20
        let good = try fixture.server { _ in .text("good") }
        let text = String(repeating: "x", count: size)
        let servers = try (0..<16).map { _ in try fixture.server { _ in .text(text) } }
        let session = URLSession.pinned(to: try fixture.policy())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for server in servers {
                let address = try server.address()
                group.addTask { try await session.data(from: address).0.count }
            }
            #expect(try await session.data(from: try good.address()).0 == Data("good".utf8))
            for try await count in group { #expect(count == size) }
        }
    }

    @Test("A flood does not delay a request beyond its time-out", arguments: Flood.useless)
    func timeOut(_ flood: Flood) async throws {
        let hostile = try FloodServer(flood, at: fixture)
        let session = URLSession.pinned(to: try fixture.policy(), options: endless)
        var request = URLRequest(url: hostile.url)
        request.timeoutInterval = 0.5
        let share = try await share(of: session) {
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(
                error?.code == .timedOut || mayEndEarly(flood) && error?.code == .badServerResponse,
                "\(error as Any)")
            #expect(error?.isAboutTrust == false)
        }
        print("\(flood): a time-out of 0.5 s took \(share)")
        #expect(hostile.byteCount > 1 << 14)
    }

    @Test("An endless handshake is an error once it exceeds the limit of a handshake")
    func endlessHandshake() async throws {
        let hostile = try FloodServer(.helloRequest, at: fixture)
        let session = URLSession.pinned(to: try fixture.policy())
        let share = try await share(of: session) {
            let error = await #expect(throws: URLError.self) { try await session.data(from: hostile.url) }
            #expect(error?.code == .secureConnectionFailed)
            #expect(error?.isAboutTrust == false)
            #expect(error?.localizedDescription.contains("without ending the TLS handshake") == true)
        }
        print("an endless handshake took \(share)")
        let limits = ReadLimits()
        #expect(share.bytes == limits.handshake)
        #expect(share.turns >= limits.handshake / limits.perTurnOfHandshake)
    }

    @Test("If OpenSSL has no memory for the read limit, the error says so and is not about trust")
    func noMemory() async throws {
        let server = try fixture.server { _ in .text("good") }
        for isAvailable in [false, true] {
            var options = CurlTransport.Options()
            options.readLimits.isAvailable = isAvailable
            let session = URLSession.pinned(to: try fixture.policy(), options: options)
            guard !isAvailable else {
                #expect(try await session.data(from: try server.address()).0 == Data("good".utf8))
                continue
            }
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.code == .secureConnectionFailed)
            #expect(error?.localizedDescription.hasPrefix("out of memory") == true, "\(error as Any)")
            #expect(error.flatMap { TrustRejection(underlying: $0) } == nil)
            #expect(server.requestByteCount == 0)
        }
    }

    @Test("Endless interim responses are an error, also over plain HTTP")
    func interim() async throws {
        let hostile = try FloodServer(.interim, at: fixture)
        let session = URLSession.pinned(to: try fixture.policy())
        let error = await #expect(throws: URLError.self) { try await session.data(from: hostile.url) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.isAboutTrust == false)
        #expect(error?.localizedDescription.contains("1000 lines") == true)
        #expect(hostile.byteCount < 32 << 20)
    }

    @Test("A share of a turn that is smaller than a TLS record loses no data", arguments: [1, 7, 4_096, 256 << 10])
    func smallShares(perTurn: Int) async throws {
        let text = String(repeating: "0123456789abcdef", count: 4_096)
        var options = CurlTransport.Options()
        (options.readLimits.perTurn, options.readLimits.perTurnOfHandshake) = (perTurn, perTurn)
        let server = try fixture.server { _ in .text(text) }
        let http2 = try LoopbackTLSServer(fixture.identity) { configuration in
            configuration.applicationProtocols = ["h2"]
            configuration.application = .stream { stream in
                guard Frame.readRequest(stream) else { return }
                let pieces = (0..<400).flatMap { Frame.data("\($0) ", isLast: $0 == 399) }
                try? stream.write(Frame.head + pieces)
                while (try? stream.read(upTo: 4_096).isEmpty) == false {}
            }
        }
        let session = URLSession.pinned(to: try fixture.policy(), options: options)
        let address = try server.address()
        async let plain = session.data(from: address)
        async let streamed = session.data(from: try http2.address())
        #expect(String(decoding: try await plain.0, as: UTF8.self) == text)
        #expect(
            String(decoding: try await streamed.0, as: UTF8.self) == (0..<400).map { "\($0) " }.joined())
    }

    // MARK: Proxies

    /// Responses of a proxy that open no tunnel, with the text of the error.
    static let refusals = [
        ("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=r\r\nContent-Length: 999999999999\r\n\r\n", "status 407"),
        ("HTTP/1.1 407 No\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n", "status 407"),
        ("HTTP/1.1 502 No\r\nContent-Length: 999999999999\r\n\r\n", "status 502"),
        // libcurl reads each of these as 407.
        ("HTTP/1.1 0407 No\r\nContent-Length: 999999999999\r\n\r\n", "status line"),
        ("HTTP/1.1\t407 No\r\nContent-Length: 999999999999\r\n\r\n", "status line"),
        ("HTTP/1.1+407 No\r\nContent-Length: 999999999999\r\n\r\n", "status line"),
        ("HTTP/1.1 407\tNo\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n", "status line"),
        ("HTTP/1.1 200 OK\r\n", "longer than 32 KiB"), ("HTTP/1.1 100 Continue\r\n", "longer than 32 KiB"),
    ]

    @Test(
        "An endless response of a proxy is refused at its head, and the next tunnel works",
        arguments: refusals)
    func proxy(answer: String, text: String) async throws {
        let good = try fixture.server { _ in .text("good") }
        let written = Mutex(0)
        let port = good.port
        let proxy = try LoopbackProxy(
            .httpConnect, route: { $1 == port ? .port(port) : nil },
            refusal: { client in
                guard (try? client.write(Array(answer.utf8))) != nil else { return }
                let piece = Array(repeatElement("X-Field: 0123456789\r\n", count: 3_000).joined().utf8)
                while (try? client.write(piece)) != nil { written.withLock { $0 += piece.count } }
            })
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let share = try await share(of: session) {
            let error = await #expect(throws: URLError.self) {
                try await session.data(from: try #require(URL(string: "https://localhost:1/")))
            }
            #expect(error?.code == .networkConnectionLost && error?.localizedDescription.contains(text) == true)
            #expect(error?.isAboutTrust == false)
            let (data, _) = try await session.data(from: try good.address())
            #expect(String(decoding: data, as: UTF8.self) == "good")
        }
        print("a proxy that wrote \(written.withLock { $0 }) bytes: the next request took \(share)")
        // The bytes that the sockets' buffers hold, and no more.
        #expect(written.withLock { $0 } < 16 << 20)
    }
}

/// A delegate that counts the content of a task and drops it.
private final class ContentCounter: NSObject, URLSessionDataDelegate, Sendable {
    let total = Mutex(0)
    let code = Mutex<URLError.Code?>(nil)
    private let callbacks = CallbackLog()

    func run(_ task: URLSessionTask) async { await callbacks.run(task) }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        total.withLock { $0 += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        code.withLock { $0 = (error as? URLError)?.code }
        callbacks.noteEnd("complete")
    }
}
