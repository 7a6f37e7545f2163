import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Servers whose encoded content expands a few bytes to very many (RFC 9110 section 8.4).
    @Suite("Content codings")
    struct ContentCodings {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        private func load(_ content: [UInt8], fields: String, method: String = "GET") async throws -> (
            Data, URLResponse
        ) {
            let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.count)\r\n\r\n"
            let server = try fixture.server(stream: { stream in
                let request = (try? stream.read(upTo: 4_096)) ?? []
                try? stream.write(Array(head.utf8) + (request.starts(with: "HEAD".utf8) ? [] : content))
            })
            var request = URLRequest(url: try server.address())
            request.httpMethod = method
            return try await URLSession.pinned(to: try fixture.policy()).data(for: request)
        }

        @Test("A session offers gzip and deflate")
        func offer() async throws {
            let server = try fixture.server()
            _ = try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
            #expect(server.requests.first?["accept-encoding"] == "gzip, deflate")
        }

        @Test(
            "Content in another coding is refused at its head, because a decoder for zstd may keep 128 MiB",
            arguments: ["zstd", "ZSTD", "zstd,", " zstd ", "zstd\u{B}", "br", "compress"])
        func notOffered(coding: String) async throws {
            let error = await #expect(throws: URLError.self) {
                try await load(Zstandard.zeros(blocks: 1_024), fields: "Content-Encoding: \(coding)\r\n")
            }
            #expect(error?.code == .cannotDecodeContentData)
            let text = "the content of the response has a coding that sessions do not decode; "
            #expect(error?.localizedDescription.hasPrefix(text) == true)
            #expect(error?.isAboutTrust == false)
        }

        /// The place of the app's `Accept-Encoding`.
        enum Choice: CaseIterable {
            case none, request, session
        }

        @Test(
            "Content in an unknown coding is handed over as it came if the app has set Accept-Encoding",
            arguments: ["aws-chunked", "aws-chunked,zstd", "UTF-8", "binary", "zstd", "deflate"], Choice.allCases)
        func ownChoice(coding: String, choice: Choice) async throws {
            let content = Deflate.block(0x61, isLast: true)
            let server = try fixture.server { _ in
                HTTPResponse(
                    status: 200, reason: "OK", fields: [HTTPField("Content-Encoding", coding)], body: content)
            }
            let configuration = URLSessionConfiguration.ephemeral
            if choice == .session { configuration.httpAdditionalHeaders = ["accept-ENCODING": "identity"] }
            var request = URLRequest(url: try server.address())
            if choice == .request { request.setValue("identity", forHTTPHeaderField: "accept-encoding") }
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            let delegate = RecordingDelegate()
            let task = URLSession.pinned(to: try fixture.policy(), configuration: configuration, delegate: delegate)
                .dataTask(with: request)
            await delegate.run(task)
            if coding == "deflate" {
                #expect(try await session.data(for: request).0 == Data("a".utf8))
                #expect(task.countOfBytesExpectedToReceive == -1)
            } else if choice == .none {
                let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
                let isOne = !coding.contains(",")
                #expect(error?.code == (isOne ? .cannotDecodeContentData : .badServerResponse))
                #expect(error?.localizedDescription.contains(isOne ? "Accept-Encoding" : "more than one") == true)
            } else {
                let (data, response) = try await session.data(for: request)
                #expect(data == Data(content) && server.requests.first?["accept-encoding"] == "identity")
                let head = response as? HTTPURLResponse
                #expect(head?.value(forHTTPHeaderField: "Content-Encoding") == coding)
                #expect(task.countOfBytesExpectedToReceive == Int64(content.count))
            }
        }

        @Test(
            "zstd in a list of codings is refused",
            arguments: ["Content-Encoding: identity, zstd\r\n", "Content-Encoding: gzip\r\nContent-Encoding: zstd\r\n"])
        func list(fields: String) async throws {
            let error = await #expect(throws: URLError.self) {
                try await load(Zstandard.zeros(blocks: 1_024), fields: fields)
            }
            #expect(error?.code == .badServerResponse)
            #expect(error?.localizedDescription == "the response has more than one content coding")
        }

        @Test("Content in an offered coding is decoded", arguments: ["deflate", "DEFLATE", "deflate,", " deflate "])
        func offered(coding: String) async throws {
            let (data, _) = try await load(Deflate.letters(4), fields: "Content-Encoding: \(coding)\r\n")
            #expect(data == Data(repeating: 0x61, count: 4 * 258 + 1))
        }

        @Test("A response without content may name any coding")
        func withoutContent() async throws {
            let fields = "Content-Encoding: zstd\r\n"
            let (data, response) = try await load(Zstandard.zeros(blocks: 1), fields: fields, method: "HEAD")
            #expect(data.isEmpty)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") == "zstd")
        }

        /// Returns an nginx whose `/content` has 488 kB that expand to 77 MB.
        private func expandingServer() throws -> NginxServer {
            let files = try TemporaryDirectory()
            try files.write(Deflate.letters(300_000), to: "content")
            return try NginxServer(
                fixture.identity, listening: "http2", directives: "add_header Content-Encoding deflate;", in: files)
        }

        private static let expandedSize = 258 * 300_000 + 1

        @Test("Content that a task does not take is not decoded, and other servers are served meanwhile")
        func held() async throws {
            let (hostile, good) = (try expandingServer(), try fixture.server { _ in .text("good") })
            let session = URLSession.pinned(to: try fixture.policy())
            let address = try hostile.address("content")
            let delegates = (0..<12).map { _ in SessionFlowTests.BlockingDelegate() }
            let tasks = delegates.map { delegate in
                let task = session.dataTask(with: address)
                task.delegate = delegate
                return task
            }
            let runs = zip(tasks, delegates).map { task, delegate in Task { await delegate.run(task) } }
            // The delegates share a queue, so the first one that blocks stops all of them.
            var received: [Int64] { tasks.map(\.countOfBytesReceived) }
            for _ in 0..<1_000 where received.allSatisfy({ $0 == 0 }) { try await Task.sleep(for: .milliseconds(10)) }
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await session.data(from: try good.address()).0 == Data("good".utf8))
            #expect(received.contains { $0 > 0 } && received.allSatisfy { $0 <= 2 << 20 })
            for delegate in delegates { delegate.gate.signal() }
            for run in runs { await run.value }
            for (task, delegate) in zip(tasks, delegates) {
                #expect(task.error == nil && delegate.count.withLock { $0 } == Self.expandedSize)
            }
        }

        @Test("Encoded responses that were suspended arrive whole when they are resumed together", arguments: [1, 12])
        func resumed(count: Int) async throws {
            let server = try expandingServer()
            let session = URLSession.pinned(to: try fixture.policy())
            let address = try server.address("content")
            let delegates = (0..<count).map { _ in DelayedDelegate(.nothing, isLate: true) }
            let tasks = delegates.map { delegate in
                let task = session.dataTask(with: address)
                task.delegate = delegate
                return task
            }
            for task in tasks { task.resume() }
            for task in tasks { task.suspend() }
            try await Task.sleep(for: .seconds(1))
            for task in tasks { task.resume() }
            for delegate in delegates {
                #expect(await delegate.has("response 200"))
                delegate.giveAnswers()
            }
            for delegate in delegates { while await !delegate.has("complete") { delegate.giveAnswers() } }
            for delegate in delegates { #expect(delegate.error == nil) }
            for task in tasks { #expect(task.countOfBytesReceived == Self.expandedSize) }
        }

        @Test("Encoded content of a redirect that never ends does not delay the next request", arguments: [100, 5_000])
        func endlessRedirect(letters: Int) async throws {
            let content = Deflate.letters(letters)
            let server = try fixture.server(stream: { stream in
                let request = (try? stream.read(upTo: 4_096)) ?? []
                guard request.starts(with: "GET /next".utf8) else {
                    let end = letters == 100 ? content.count : content.count + 1
                    let head =
                        "HTTP/1.1 301 -\r\nLocation: /next\r\nContent-Encoding: deflate\r\nContent-Length: \(end)\r\n\r\n"
                    try? stream.write(Array(head.utf8) + content)
                    while let next = try? stream.read(upTo: 4_096), !next.isEmpty {
                        try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
                    }
                    return
                }
                try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
            })
            let delegate = DelayedDelegate(.credential, isLate: true)
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            var request = URLRequest(url: try server.address())
            request.timeoutInterval = 60
            let start = ProcessInfo.processInfo.systemUptime
            let task = session.dataTask(with: request)
            task.resume()
            #expect(await delegate.has("redirect"))
            try await Task.sleep(for: .milliseconds(300))
            delegate.giveAnswers()
            #expect(await delegate.has("response 200"))
            delegate.giveAnswers()
            #expect(await delegate.has("complete"))
            #expect(delegate.error == nil)
            #expect(ProcessInfo.processInfo.systemUptime - start < 30)
        }

        @Test(
            "Encoded content that ends before its announced length is an error over HTTP/2 too",
            arguments: [("deflate", true), ("deflate", false), ("identity", true), ("identity", false)])
        func truncated(coding: String, isCut: Bool) async throws {
            let content = coding == "identity" ? [UInt8](repeating: 0x61, count: 8_000) : Deflate.letters(16_000)
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    let head = Frame.head(
                        200, [("content-encoding", coding), ("content-length", "\(content.count)")], stream: 1)
                    let half = Array(content.prefix(content.count / 2))
                    var bytes = head.flatMap(\.self) + Frame.frame(0, stream: 1, half)
                    bytes +=
                        isCut
                        ? Frame.reset(code: 0)
                        : stride(from: half.count, to: content.count, by: 16_384).flatMap { start in
                            let end = min(start + 16_384, content.count)
                            return Frame.frame(
                                0, flags: end == content.count ? 1 : 0, stream: 1, Array(content[start..<end]))
                        }
                    try? stream.write(bytes)
                    while (try? stream.read(upTo: 4_096).isEmpty) == false {}
                }
            }
            // With content of more than a frame, libcurl 7.88 is told to read to the end of the stream.
            for size in [0, 20_000] {
                var request = URLRequest(url: try server.address())
                if size > 0 {
                    request.httpMethod = "POST"
                    request.httpBody = Data(repeating: 0x61, count: size)
                }
                let session = URLSession.pinned(to: try fixture.policy())
                if isCut {
                    let cut = request
                    await #expect(throws: URLError.self) { try await session.data(for: cut) }
                } else {
                    let expected = coding == "identity" ? 8_000 : 258 * 16_000 + 1
                    #expect(try await session.data(for: request).0.count == expected)
                }
            }
        }

        @Test(
            "Encoded content that a delegate takes late arrives whole, and a cancelled task gets none of the rest",
            arguments: [false, true])
        func late(isCancelled: Bool) async throws {
            let content = Deflate.letters(100_000)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(content.count)\r\n\r\n"
            let server = try fixture.server(stream: { stream in
                _ = try? stream.read(upTo: 4_096)
                try? stream.write(Array(head.utf8) + content)
                while (try? stream.read(upTo: 4_096).isEmpty) == false {}
            })
            let delegate = SessionFlowTests.BlockingDelegate()
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            let task = session.dataTask(with: try server.address())
            async let run: Void = delegate.run(task)
            for _ in 0..<1_000 where task.countOfBytesReceived == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect((1...2 << 20).contains(task.countOfBytesReceived))
            if isCancelled { task.cancel() }
            delegate.gate.signal()
            await run
            if isCancelled {
                #expect((task.error as? URLError)?.code == .cancelled)
                #expect(delegate.count.withLock { $0 } < 4 << 20)
            } else {
                #expect(task.error == nil && delegate.count.withLock { $0 } == 258 * 100_000 + 1)
            }
        }
    }
}
