import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Heads of HTTP/2 responses that are longer than a buffer of libcurl or than its limit. An attacker may choose a
    /// value in the head of an honest server, for example a `Location` that repeats a part of the request.
    @Suite("Heads over HTTP/2")
    struct LongHeads {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        /// Returns a server that answers the first request of its first connection with an empty response, so that the
        /// client knows that the connection multiplexes. It answers the next `count` requests together.
        private func server(
            answering count: Int, with answer: @escaping @Sendable ([UInt8], Int) -> [[UInt8]]
        ) throws -> LoopbackTLSServer {
            let connections = Atomic<Int>(0)
            return try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    let connection = connections.add(1, ordering: .relaxed).newValue
                    guard Frame.readRequest(stream) else { return }
                    if connection == 1 {
                        try? stream.write(Frame.empty(stream: 1))
                        let streams = (0..<count).compactMap { _ in Frame.readNextRequest(stream) }
                        for piece in answer(streams, connection) { try? stream.write(piece) }
                    } else {
                        for piece in answer([1], connection) { try? stream.write(piece) }
                    }
                    while let number = Frame.readNextRequest(stream) {
                        for piece in answer([number], connection) { try? stream.write(piece) }
                    }
                }
            }
        }

        /// Makes the first request, and then `count` requests together.
        private func load(
            _ count: Int, from server: LoopbackTLSServer, in session: PinnedURLSession
        ) async throws -> [Result<(Data, HTTPURLResponse), URLError>] {
            var request = URLRequest(url: try server.address())
            request.timeoutInterval = 10
            _ = try await session.data(for: request)
            let repeated = request
            return await withTaskGroup(of: Result<(Data, HTTPURLResponse), URLError>?.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        do {
                            let (data, response) = try await session.data(for: repeated)
                            return (response as? HTTPURLResponse).map { .success((data, $0)) }
                        } catch {
                            return (error as? URLError).map { .failure($0) }
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
        }

        /// Returns fields with which a head has `size` bytes as libcurl writes it, in HTTP/1.1's form.
        private static func fields(filling size: Int, after first: [(name: String, value: String)] = [])
            -> [(name: String, value: String)]
        {
            var fields = first
            var left = size - "HTTP/2 200 \r\n\r\n".utf8.count
            for (name, value) in first { left -= name.utf8.count + value.utf8.count + 4 }
            while left > 5 {
                // No rest of one to five bytes, which would be too short for a field.
                let count = left < 16_000 ? left : left < 16_006 ? 15_000 : 16_000
                fields.append(("f", String(repeating: "f", count: count - 5)))
                left -= count
            }
            return fields
        }

        @Test("A status line inside a value does not become the head of a response", arguments: [true, false], [1, 6])
        func statusLine(isForged: Bool, count: Int) async throws {
            let start = "HTTP/2 200 \r\nlocation: ".utf8.count
            let location =
                String(repeating: "a", count: 16_384 - start) + (isForged ? "HTTP/2 200 OK" : "HTTP/2 is nice")
            let fields = Self.fields(
                filling: 20_000, after: [("location", location), ("set-cookie", "secret=of-the-house")])
            let server = try server(answering: count) { streams, _ in
                streams.flatMap { Frame.head(403, fields, isLast: true, stream: $0) }
            }
            let results = try await load(count, from: server, in: URLSession.pinned(to: try fixture.policy()))
            #expect(results.count == count)
            for result in results {
                let (data, response) = try result.get()
                #expect(response.statusCode == 403 && data.isEmpty)
                #expect(response.value(forHTTPHeaderField: "Location") == location)
                #expect(response.allHeaderFields.count == 3)
            }
        }

        @Test(
            "A head of up to 128 kB arrives whole, singly and among others, with and without content",
            arguments: [16_383, 16_384, 16_385, 17_200, 32_768, 65_536, 102_400, 131_070, 131_071], [1, 6])
        func size(size: Int, count: Int) async throws {
            for content in ["", "body", String(repeating: "x", count: 20_000)] {
                let fields = Self.fields(filling: size)
                let server = try server(answering: count) { streams, _ in
                    streams.flatMap { number -> [[UInt8]] in
                        let head = Frame.head(200, fields, isLast: content.isEmpty, stream: number)
                        guard !content.isEmpty else { return head }
                        return head + [
                            Frame.data(
                                String(content.prefix(16_384)), isLast: content.utf8.count <= 16_384, stream: number)
                        ]
                            + (content.utf8.count <= 16_384
                                ? [] : [Frame.data(String(content.dropFirst(16_384)), isLast: true, stream: number)])
                    }
                }
                let results = try await load(count, from: server, in: URLSession.pinned(to: try fixture.policy()))
                #expect(results.count == count)
                let value = fields.map(\.value).joined(separator: ", ")
                for result in results {
                    let (data, response) = try result.get()
                    #expect(response.statusCode == 200 && data == Data(content.utf8))
                    #expect(response.value(forHTTPHeaderField: "f") == value)
                }
            }
        }

        @Test(
            "A longer head is refused, and the next request succeeds",
            arguments: [131_072, 131_073, 140_000, 150_000, 310_000], [1, 6])
        func tooLong(size: Int, count: Int) async throws {
            let fields = Self.fields(filling: size)
            let isOver = Mutex(false)
            let server = try server(answering: count) { streams, _ in
                streams.flatMap {
                    isOver.withLock(\.self)
                        ? [Frame.empty(stream: $0)] : Frame.head(200, fields, isLast: true, stream: $0)
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            let results = try await load(count, from: server, in: session)
            #expect(results.count == count)
            for result in results {
                let error = #expect(throws: URLError.self) { try result.get() }
                #expect(error?.code == .badServerResponse)
                #expect(error?.localizedDescription.contains("longer than 128 kB") == true)
                #expect(error?.isAboutTrust == false)
            }
            isOver.withLock { $0 = true }
            #expect(try await session.data(from: try server.address()).0.isEmpty)
        }

        @Test("A POST that an overlong head answers reaches the server once", arguments: [131_071, 131_072])
        func post(size: Int) async throws {
            let count = Atomic(0)
            let fields = Self.fields(filling: size)
            let server = try server(answering: 1) { streams, _ in
                count.add(streams.count, ordering: .relaxed)
                return streams.flatMap { Frame.head(200, fields, isLast: true, stream: $0) }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            var request = URLRequest(url: try server.address())
            _ = try await session.data(for: request)
            request.httpMethod = "POST"
            request.httpBody = Data("pay 100".utf8)
            let post = request
            if size < 131_072 {
                _ = try await session.data(for: post)
            } else {
                let error = await #expect(throws: URLError.self) { try await session.data(for: post) }
                #expect(error?.localizedDescription.contains("longer than 128 kB") == true)
                #expect(error?.localizedDescription.contains("may have performed the POST") == true)
            }
            #expect(count.load(ordering: .relaxed) == 1)
        }

        @Test(
            "An overlong head that libcurl cannot read ends the other requests of its connection at once",
            arguments: [131_071, 131_072, 150_000])
        func others(size: Int) async throws {
            // libcurl before 8.1 reads no head that is too long. Later versions leave the limit to nghttp2, which reads
            // HEADERS and eight CONTINUATION, here of 16 kB each.
            let isRead = size < (CurlLibrary.copiesStreams ? 131_072 : 150_000)
            let fields = Self.fields(filling: size)
            let server = try server(answering: 6) { streams, connection in
                guard connection == 1 else { return streams.map { Frame.empty(stream: $0) } }
                return Frame.head(200, fields, isLast: true, stream: streams[0])
                    + (isRead ? streams.dropFirst().map { Frame.empty(stream: $0) } : [])
            }
            let session = URLSession.pinned(to: try fixture.policy())
            let start = ProcessInfo.processInfo.systemUptime
            let results = try await load(6, from: server, in: session)
            // The time-out is 10 s.
            #expect(ProcessInfo.processInfo.systemUptime - start < 8)
            let codes = results.compactMap { result -> URLError.Code? in
                guard case .failure(let error) = result else { return nil }
                return error.code
            }
            let failed = size < 131_072 ? 0 : isRead ? 1 : 6
            #expect(results.count == 6 && codes == Array(repeating: .badServerResponse, count: failed))
        }

        /// Returns a server that sends PINGs over its idle connection, more than nghttp2 takes.
        private func floodingServer(_ count: Int) throws -> LoopbackTLSServer {
            try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    var number: UInt8? = 1
                    while let answered = number {
                        try? stream.write(Frame.empty(stream: answered))
                        try? stream.write(Array(repeatElement(Frame.ping, count: count).joined()))
                        number = Frame.readNextRequest(stream)
                    }
                }
            }
        }

        @Test(
            "What a server sends over an idle connection does not end requests to another server",
            arguments: [1, 4_000])
        func otherServer(pings: Int) async throws {
            let (hostile, good) = (
                try floodingServer(pings),
                try server(answering: 6) { streams, _ in
                    // Late, so that all of them are open when the client examines its idle connections.
                    usleep(200_000)
                    return streams.map { Frame.empty(stream: $0) }
                }
            )
            let session = URLSession.pinned(to: try fixture.policy(["localhost", "127.0.0.1"]))
            for _ in 0..<3 {
                _ = try await session.data(from: try hostile.address(host: "127.0.0.1"))
                // libcurl examines its idle connections at most once a second.
                try await Task.sleep(for: .milliseconds(1_200))
                for result in try await load(6, from: good, in: session) { _ = try result.get() }
            }
        }

        /// The end of a head that exceeds libcurl's limit. libcurl 7.88 hands these bytes to nghttp2 twice: the second
        /// time the frame's header is read as a part of the head, and its last nine bytes as another frame's header.
        private static func overlap(_ last: [UInt8], stream: UInt8) -> [UInt8] {
            func text(_ count: Int) -> [UInt8] { Array(repeating: 0x6E, count: count) }
            // Each field is written twice: as it is, and as the second reading finds it.
            // A value of 143 bytes, in which a name of 40 bytes and values of 96 and 71 bytes begin.
            let first = [0, 1, 0x61, 0x7F, 0x90, 0, 40] + text(40) + [96] + text(96) + [0x58, 71] + text(3)
            // A value of 120 bytes, in which the last of those ends and a value of 56 bytes begins.
            let second = [0, 1, 0x63, 120] + text(64) + [0x58, 56] + text(54)
            let third: [UInt8] = [0x58, 0x89] + last
            return Frame.continuation(first + second + third, stream: stream)
        }

        @Test("A value in an overlong head does not become a frame of another response", arguments: [true, false])
        func overlap(isForged: Bool) async throws {
            let server = try server(answering: 6) { streams, connection in
                guard connection == 1, streams.count == 6 else {
                    return streams.flatMap { [Frame.head, Frame.data("halfrest", isLast: true, stream: $0)] }
                }
                let begun = streams.dropLast().flatMap {
                    Frame.head(200, [], stream: $0) + [Frame.data("half", isLast: false, stream: $0)]
                }
                // The first part of the head, without its end.
                var head = Frame.head(200, Self.fields(filling: 131_000), stream: streams[5])
                head[head.count - 1][4] = 0
                // DATA without content, which ends the third response.
                let end = isForged ? Self.overlap([0, 0, 0, 0, 1, 0, 0, 0, streams[2]], stream: streams[5]) : []
                return begun + head + [end.isEmpty ? Frame.continuation([], stream: streams[5]) : end] + [
                    streams.dropLast().flatMap { Frame.data("rest", isLast: true, stream: $0) }
                        + Frame.data("halfrest", isLast: true, stream: streams[5])
                ]
            }
            let results = try await load(6, from: server, in: URLSession.pinned(to: try fixture.policy()))
            #expect(results.count == 6)
            for result in results {
                switch result {
                case .success(let (data, _)): #expect(data == Data("halfrest".utf8))
                case .failure(let error):
                    #expect(isForged && error.code == .badServerResponse, "\(error)")
                    #expect(error.isAboutTrust == false)
                }
            }
        }
    }
}
