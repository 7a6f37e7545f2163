import Foundation
import FoundationNetworking
import PintleTestKit
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

        @Test("A session offers gzip, deflate and br, and never zstd")
        func offer() async throws {
            let server = try fixture.server()
            _ = try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
            let offered = try #require(server.requests.first?["accept-encoding"]).components(separatedBy: ", ")
            #expect(offered.contains("gzip") && offered.contains("deflate"))
            #expect(Set(offered).isSubset(of: ["gzip", "deflate", "br"]))
        }

        @Test(
            "Content in zstd is refused at its head, because its decoder may keep 128 MiB",
            arguments: ["zstd", "ZSTD", "zstd,", " zstd ", "zstd\u{B}", "compress"])
        func notOffered(coding: String) async throws {
            let error = await #expect(throws: URLError.self) {
                try await load(Zstandard.zeros(blocks: 1_024), fields: "Content-Encoding: \(coding)\r\n")
            }
            #expect(error?.code == .cannotDecodeContentData)
            #expect(error?.localizedDescription == "the content of the response has a coding that was not offered")
            #expect(error?.isAboutTrust == false)
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

        /// Returns an HTTP/2 server that answers `count` requests with content in br that expands to 128 MiB each. A
        /// request before them shows the client that the connection multiplexes.
        ///
        /// - Parameter isSlow: A Boolean value that indicates whether the server waits for an answer to a PING after each
        ///   response, so that the client reads them in several turns.
        private func bombs(_ count: Int, isSlow: Bool = false) throws -> LoopbackTLSServer {
            try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    try? stream.write(Frame.empty(stream: 1))
                    let streams = (0..<count).compactMap { _ in Frame.readNextRequest(stream) }
                    let responses = streams.map {
                        Frame.response(Brotli.zeros(blocks: 8), coding: "br", stream: $0)
                    }
                    for response in responses where isSlow {
                        try? stream.write(response + Frame.ping)
                        guard Frame.readAnswerToPing(stream) else { return }
                    }
                    if !isSlow { try? stream.write(responses.flatMap(\.self)) }
                    while (try? stream.read(upTo: 4_096).isEmpty) == false {}
                }
            }
        }

        /// Returns whether libcurl decodes br, which builds of libcurl 8 may lack.
        private var decodesBrotli: Bool {
            CurlLibrary.contentCodings.contains("br") || !CurlLibrary.version.hasPrefix("8.")
        }

        @Test("Responses that expand very much at once are errors, and other servers are served", arguments: [2, 6])
        func atOnce(count: Int) async throws {
            guard decodesBrotli else { return }
            let (hostile, good) = (try bombs(count), try fixture.server { _ in .text("good") })
            let session = URLSession.pinned(to: try fixture.policy())
            let counter = try session.resources.transports.transport().counter
            let address = try hostile.address()
            _ = try await session.data(from: address)
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        do {
                            return try await session.data(from: address).0.count
                        } catch let error as URLError {
                            #expect(error.code == .cannotDecodeContentData && error.isAboutTrust == false)
                            #expect(
                                error.localizedDescription
                                    == "the content of the response expands to more than 320 MiB at once")
                            return nil
                        }
                    }
                }
                #expect(try await session.data(from: try good.address()).0 == Data("good".utf8))
                let sizes = try await group.reduce(into: [Int?]()) { $0.append($1) }
                #expect(sizes.count == count && sizes.allSatisfy { $0 == nil || $0 == 128 << 20 })
                #expect(sizes.contains(nil) == (count == 6))
            }
            #expect(hostile.connectionCount == 1)
            #expect(
                counter.mostDecodedInTurn <= DecodingBudget.mostPerTurn + count * (DecodingBudget.share + 64 << 10))
            #expect(try await reaches { counter.decodingMemory == 0 })
        }

        /// Waits for a count, because the transport's thread is a moment late.
        private func reaches(_ isReached: () -> Bool) async throws -> Bool {
            for _ in 0..<3_000 where !isReached() { try await Task.sleep(for: .milliseconds(10)) }
            return isReached()
        }

        @Test("Content that tasks do not take needs at most 512 MiB in a session", arguments: [2, 6])
        func memory(count: Int) async throws {
            guard decodesBrotli else { return }
            let hostile = try bombs(count, isSlow: true)
            let session = URLSession.pinned(to: try fixture.policy(), options: CurlTransport.Options())
            let counter = try session.resources.transports.transport().counter
            let address = try hostile.address()
            _ = try await session.data(from: address)
            let delegates = (0..<count).map { _ in SessionFlowTests.BlockingDelegate() }
            let tasks = delegates.map { delegate in
                let task = session.dataTask(with: address)
                task.delegate = delegate
                return task
            }
            let runs = zip(tasks, delegates).map { task, delegate in Task { await delegate.run(task) } }
            #expect(
                try await reaches {
                    counter.decodedByteCount > count * 128 << 20 - 1 || counter.mostDecodingMemory > 400 << 20
                })
            for delegate in delegates { delegate.gate.signal() }
            for run in runs { await run.value }
            let errors = tasks.compactMap { $0.error as? URLError }
            #expect(errors.isEmpty == (count == 2))
            for error in errors {
                #expect(error.code == .cannotDecodeContentData && error.isAboutTrust == false)
                #expect(error.localizedDescription.contains("MiB"))
            }
            let whole = delegates.filter { delegate in delegate.count.withLock { $0 } == 128 << 20 }
            #expect(whole.count == count - errors.count)
            #expect(counter.mostDecodingMemory > 200 << 20)
            #expect(counter.mostDecodingMemory <= DecodingBudget.memory + count * (DecodingBudget.share + 64 << 10))
            #expect(try await reaches { counter.decodingMemory == 0 })
        }

        @Test("Encoded content that a delegate takes late arrives whole, and a cancelled task keeps none of it")
        func late() async throws {
            let content = Deflate.letters(100_000)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(content.count)\r\n\r\n"
            let server = try fixture.server(stream: { stream in
                _ = try? stream.read(upTo: 4_096)
                try? stream.write(Array(head.utf8) + content)
                while (try? stream.read(upTo: 4_096).isEmpty) == false {}
            })
            for isCancelled in [false, true] {
                let delegate = SessionFlowTests.BlockingDelegate()
                let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
                let counter = try session.resources.transports.transport().counter
                let task = session.dataTask(with: try server.address())
                async let run: Void = delegate.run(task)
                #expect(try await reaches { counter.decodingMemory > 1 << 20 })
                #expect(task.countOfBytesReceived < 4 << 20)
                if isCancelled { task.cancel() }
                delegate.gate.signal()
                await run
                if isCancelled {
                    #expect((task.error as? URLError)?.code == .cancelled)
                } else {
                    #expect(task.error == nil && delegate.count.withLock { $0 } == 258 * 100_000 + 1)
                }
                #expect(try await reaches { counter.decodingMemory == 0 })
            }
        }
    }
}
