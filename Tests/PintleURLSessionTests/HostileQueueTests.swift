import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Responses that do not end, and so keep the places that a session has for their server.
    @Suite("Long responses")
    struct LongResponses {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        /// A server whose first responses begin and do not end, as server-sent events. Later ones are complete.
        private final class EventServer: Sendable {
            private final class Count: Sendable {
                let requests = Atomic(0)
            }

            private let count: Count
            let server: LoopbackTLSServer
            var requestCount: Int { count.requests.load(ordering: .relaxed) }

            /// - Parameters:
            ///   - endless: The numbers of the requests whose responses do not end. The first request is 1.
            ///   - streams: The number of streams that the server allows on an HTTP/2 connection.
            init(_ fixture: SessionFixture, http2: Bool, endless: ClosedRange<Int>, streams: UInt8 = 128) throws {
                let count = Count()
                self.count = count
                server = try LoopbackTLSServer(fixture.identity) {
                    $0.applicationProtocols = http2 ? ["h2"] : []
                    $0.application = .stream { stream in
                        let next = { endless.contains(count.requests.add(1, ordering: .relaxed).newValue) }
                        if http2 { Self.serveStreams(stream, streams, next) } else { Self.serve(stream, next) }
                    }
                }
            }

            private static func serveStreams(_ stream: any ByteStream, _ limit: UInt8, _ isNextEndless: () -> Bool) {
                guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                try? stream.write(Frame.settings(streams: limit))
                while let id = Frame.readNextRequest(stream) {
                    try? stream.write(isNextEndless() ? Frame.head(stream: id) : Frame.empty(stream: id))
                }
            }

            private static func serve(_ stream: any ByteStream, _ isNextEndless: () -> Bool) {
                while let bytes = try? stream.read(upTo: 4_096), !bytes.isEmpty {
                    let framing = isNextEndless() ? "Transfer-Encoding: chunked" : "Content-Length: 0"
                    try? stream.write(Array("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n".utf8))
                }
            }

            func request(timeout: Double = 300) throws -> URLRequest {
                URLRequest(url: try server.address(), timeoutInterval: timeout)
            }

            /// Starts tasks and waits until the server has all their requests, or 5 seconds.
            func start(_ count: Int, on session: URLSession) async throws -> [URLSessionTask] {
                let (request, before) = (try request(), requestCount)
                let tasks = (0..<count).map { _ in session.dataTask(with: request) { _, _, _ in } }
                for task in tasks { task.resume() }
                for _ in 0..<500 where requestCount < before + count { try await Task.sleep(for: .milliseconds(10)) }
                return tasks
            }
        }

        @Test(
            "Long responses over HTTP/2 leave room for other requests, on new connections and on idle ones",
            arguments: [false, true])
        func streams(isIdle: Bool) async throws {
            let first = isIdle ? 2 : 1
            let server = try EventServer(fixture, http2: true, endless: first...(first + 11))
            let session = URLSession.pinned(to: try fixture.policy())
            defer { session.invalidateAndCancel() }
            if isIdle { _ = try await session.data(for: server.request()) }
            _ = try await server.start(12, on: session)
            #expect(server.requestCount == first + 11)
            let (_, response) = try await session.data(for: server.request(timeout: 20))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }

        @Test(
            "Suspended downloads over HTTP/2 leave room for other requests; over HTTP/1.1 six of them do not",
            arguments: [true, false])
        func suspendedDownloads(http2: Bool) async throws {
            // Slow enough that no download ends before it is suspended.
            let nginx = try NginxServer(
                fixture.identity, listening: http2 ? "http2" : "",
                directives: "location /long { limit_rate 200k; } location /short { }")
            try nginx.files.write([UInt8](repeating: 0x78, count: 24 << 20), to: "long")
            try nginx.files.write("ok", to: "short")
            let session = URLSession.pinned(to: try fixture.policy())
            defer { session.invalidateAndCancel() }
            let tasks = try (0..<6).map { _ in session.downloadTask(with: try nginx.address("long")) { _, _, _ in } }
            for task in tasks {
                task.resume()
                for _ in 0..<3_000 where task.countOfBytesReceived == 0 { try await Task.sleep(for: .milliseconds(1)) }
                task.suspend()
            }
            #expect(tasks.allSatisfy { $0.state == .suspended && $0.countOfBytesReceived < 24 << 20 })
            let short = URLRequest(url: try nginx.address("short"), timeoutInterval: http2 ? 20 : 1)
            guard !http2 else {
                #expect(try await session.data(for: short).0 == Data("ok".utf8))
                return
            }
            let error = await #expect(throws: URLError.self) { try await session.data(for: short) }
            #expect(error?.code == .timedOut)
            #expect(error?.isAboutTrust == false)
            tasks[0].cancel()
            #expect(try await session.data(from: try nginx.address("short")).0 == Data("ok".utf8))
        }

        @Test("A request that waits behind six long responses times out, and runs once one of them ends")
        func places() async throws {
            let server = try EventServer(fixture, http2: false, endless: 1...6)
            let session = URLSession.pinned(to: try fixture.policy())
            defer { session.invalidateAndCancel() }
            let tasks = try await server.start(6, on: session)
            let start = ProcessInfo.processInfo.systemUptime
            let error = await #expect(throws: URLError.self) { try await session.data(for: server.request(timeout: 1)) }
            #expect(error?.code == .timedOut)
            #expect(error?.isAboutTrust == false)
            #expect(1..<10 ~= ProcessInfo.processInfo.systemUptime - start)
            #expect(server.requestCount == 6 && server.server.connectionCount == 6)
            async let late = session.data(for: server.request())
            tasks[0].cancel()
            #expect((try await late.1 as? HTTPURLResponse)?.statusCode == 200)
        }

        @Test(
            "A burst outlasts the time-out while its server answers; behind a silent server all of it times out together",
            arguments: [true, false])
        func burst(answers: Bool) async throws {
            let gate = DispatchSemaphore(value: 0)
            let server = try fixture.server { _ in
                _ = gate.wait(timeout: .now() + (answers ? 0.25 : 60))
                return .ok
            }
            defer { for _ in 0..<126 { gate.signal() } }
            let session = URLSession.pinned(to: try fixture.policy())
            defer { session.invalidateAndCancel() }
            let request = URLRequest(url: try server.address(), timeoutInterval: 4)
            let start = ProcessInfo.processInfo.systemUptime
            let codes = await withTaskGroup(of: URLError.Code?.self) { group in
                for _ in 0..<126 {
                    group.addTask {
                        do {
                            _ = try await session.data(for: request)
                            return nil
                        } catch {
                            return (error as? URLError)?.code ?? .unknown
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let seconds = ProcessInfo.processInfo.systemUptime - start
            #expect(codes.allSatisfy { $0 == (answers ? nil : .timedOut) })
            // 21 rounds of a quarter of a second on six connections. A silent server costs the requests that run one
            // time-out, and those that follow them another, not 21.
            #expect(answers ? seconds > 5 : seconds < 20, "\(seconds) s")
            #expect(answers ? server.connectionCount == 6 : server.connectionCount <= 12)
        }

        @Test("Suspension stops the clock of a request that waits for a place", arguments: [true, false])
        func suspended(isSuspended: Bool) async throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 1
            let server = try EventServer(fixture, http2: false, endless: 1...1)
            let recorder = Recorder()
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, delegate: recorder)
            defer { session.invalidateAndCancel() }
            let first = try await server.start(1, on: session)
            let task = session.dataTask(with: try server.request(timeout: 1))
            async let end: Void = recorder.run(task)
            if isSuspended {
                while task.state != .running { try await Task.sleep(for: .milliseconds(1)) }
                task.suspend()
                try await Task.sleep(for: .seconds(3))
                #expect(task.state == .suspended)
                for task in first { task.cancel() }
                task.resume()
            }
            await end
            let error = recorder.log.withLock { $0.error } as? URLError
            #expect(error?.code == (isSuspended ? nil : .timedOut))
            #expect(server.requestCount == (isSuspended ? 2 : 1))
        }

        @Test(
            "Requests that need another HTTP/2 connection do not go out on it before it has a verdict",
            arguments: [2, 128])
        func unfinishedConnection(streams: UInt8) async throws {
            let server = try EventServer(fixture, http2: true, endless: 2...3, streams: streams)
            let port = server.server.port
            let isSlow = Atomic(false)
            let proxy = try LoopbackProxy(
                .httpConnect,
                route: { _, _ in
                    if isSlow.load(ordering: .relaxed) { usleep(1_000_000) }
                    return port
                })
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            defer { session.invalidateAndCancel() }
            let request = try server.request()
            _ = try await session.data(for: request)
            _ = try await server.start(2, on: session)
            isSlow.store(true, ordering: .relaxed)
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<4 {
                    group.addTask { (try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode }
                    // The first of them makes the connection. The others come meanwhile.
                    if number == 0 { try await Task.sleep(for: .milliseconds(300)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 4))
            #expect(server.requestCount == 7)
            #expect(streams == 2 ? 2...5 ~= server.server.connectionCount : server.server.connectionCount == 1)
        }

        @Test("A server that goes back to HTTP/1.1 gets at most six connections from the requests that waited")
        func downgrade() async throws {
            let old = try EventServer(fixture, http2: true, endless: 2...101)
            let new = try EventServer(fixture, http2: false, endless: 0...0)
            let isReplaced = Atomic(false)
            let ports = (old.server.port, new.server.port)
            let proxy = try LoopbackProxy(
                .httpConnect, route: { _, _ in isReplaced.load(ordering: .relaxed) ? ports.1 : ports.0 })
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            defer { session.invalidateAndCancel() }
            let request = try old.request()
            _ = try await session.data(for: request)
            // All of them on the idle connection, so that they end together.
            _ = try await old.start(100, on: session)
            #expect(old.requestCount == 101 && old.server.connectionCount == 1)
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<40 {
                    group.addTask { (try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode }
                }
                try await Task.sleep(for: .milliseconds(500))
                #expect(old.requestCount == 101)
                isReplaced.store(true, ordering: .relaxed)
                old.server.close()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 40))
            #expect(new.requestCount == 40 && new.server.connectionCount <= 6, "\(new.server.connectionCount)")
        }
    }
}
