import Foundation
import FoundationNetworking
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Servers that end requests over HTTP/2, with and without the proof that they have not processed them (RFC 9113
    /// sections 6.8 and 8.7).
    @Suite("Refused requests")
    struct RefusedRequests {
        @Test(
            "A request above GOAWAY's last stream is sent again, whatever its method",
            arguments: ["POST", "PATCH", "PAY", "GET"], [1, 20])
        func above(method: String, count: Int) async throws {
            let server = try RefusingServer { connection, streams in
                guard connection == 0 else { return .answer }
                return streams.count == count ? .last(Frame.goAway(last: 1)) : .wait
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            try await server.warmUp(session)
            #expect(await server.errors(of: method, count: count, session).isEmpty)
            #expect(server.answers == count && server.requests == 2 * count)
            #expect(server.contents.allSatisfy { $0 == (method == "GET" ? "" : "pay 100") })
        }

        @Test("A POST is sent again if libcurl learns of GOAWAY while it reads for a GET that was there before")
        func mixed() async throws {
            let server = try RefusingServer { connection, streams in
                guard connection == 0 else { return .answer }
                return streams.count == 5 ? .last(Frame.goAway(last: 1)) : .wait
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            try await server.warmUp(session)
            async let gets = server.errors(of: "GET", count: 4, session)
            while server.requests < 4 { try await Task.sleep(for: .milliseconds(2)) }
            async let posts = server.errors(of: "POST", count: 1, session)
            #expect(await gets.isEmpty)
            #expect(await posts.isEmpty)
            #expect(server.answers == 5 && server.requests == 10)
        }

        @Test("The smallest of several announced last streams counts")
        func smallest() async throws {
            let server = try RefusingServer { connection, _ in
                connection == 0 ? .last(Frame.goAway(last: 99) + Frame.goAway(last: 1)) : .answer
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            try await server.warmUp(session)
            #expect(await server.errors(of: "POST", count: 1, session).isEmpty)
            #expect(server.answers == 1 && server.requests == 2)
        }

        @Test("A POST that is GOAWAY's last stream is sent once, and one above it twice", arguments: [3, 1] as [UInt8])
        func last(last: UInt8) async throws {
            let server = try RefusingServer { connection, _ in
                connection == 0 ? .end(Frame.goAway(last: last)) : .answer
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            try await server.warmUp(session)
            let errors = await server.errors(of: "POST", count: 1, session)
            if last == 1 {
                #expect(errors.isEmpty && server.answers == 1)
            } else {
                #expect(errors.first?.code == .networkConnectionLost)
                #expect(errors.first?.localizedDescription.contains("may have performed the POST") == true)
                #expect(server.requests == 1 && server.answers == 0)
            }
        }

        @Test("GOAWAY on one connection proves nothing about a request on another one")
        func otherConnection() async throws {
            let server = try RefusingServer { connection, _ in
                connection == 0 ? .last(Frame.goAway(last: 0)) : .end([])
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            try await server.warmUp(session)
            let errors = await server.errors(of: "POST", count: 1, session)
            #expect(errors.first?.localizedDescription.contains("may have performed the POST") == true)
            #expect(server.requests == 2)
        }

        @Test("A server that refuses every time gets a request six times, and the error says that none was processed")
        func limit() async throws {
            let server = try RefusingServer(isWarm: false) { _, _ in .last(Frame.goAway(last: 0)) }
            let session = URLSession.pinned(to: try server.fixture.policy())
            let error = try #require(await server.errors(of: "POST", count: 1, session).first)
            #expect(error.code == .networkConnectionLost && !error.isAboutTrust)
            #expect(error.localizedDescription.contains("has refused the POST without processing it"))
            #expect(server.requests == 1 + Transfer.refusalLimit)
        }

        @Test(
            "REFUSED_STREAM on a fresh connection is proof if libcurl keeps heads, which it does since 8.1",
            arguments: [7, 2, 8] as [UInt8])
        func reset(code: UInt8) async throws {
            let isProof = code == 7 && !CurlLibrary.copiesStreams
            let server = try RefusingServer(isWarm: false) { connection, streams in
                connection == 0 ? .last(Frame.reset(code: code, stream: streams[0])) : .answer
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            let errors = await server.errors(of: "POST", count: 1, session)
            #expect(server.requests == (isProof ? 2 : 1))
            #expect(errors.isEmpty == isProof)
            let isUncertain = errors.first?.localizedDescription.contains("may have performed the POST") == true
            #expect(isUncertain == !isProof)
        }

        @Test("REFUSED_STREAM on a kept connection is proof if libcurl names the stream, which it does since 8.19")
        func sharedReset() async throws {
            let isNamed = CurlLibrary.version.compare("8.19", options: .numeric) != .orderedAscending
            let server = try RefusingServer { connection, streams in
                connection == 0 ? .last(Frame.reset(code: 7, stream: streams[0])) : .answer
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            try await server.warmUp(session)
            let errors = await server.errors(of: "POST", count: 1, session)
            #expect(errors.isEmpty == isNamed && server.requests == (isNamed ? 2 : 1))
            #expect(errors.allSatisfy { $0.localizedDescription.contains("may have performed the POST") })
        }

        @Test(
            "A request is not sent again after its response has begun, unless GOAWAY says that it was not processed",
            arguments: [true, false], [7, 0] as [UInt8])
        func begun(isWarm: Bool, code: UInt8) async throws {
            let server = try RefusingServer(isWarm: isWarm) { connection, streams in
                guard connection == 0 else { return .answer }
                let head = Frame.head(stream: streams[0])
                return code == 7
                    ? .last(head + Frame.reset(code: 7, stream: streams[0]))
                    : .end(head + Frame.goAway(last: streams[0]))
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            if isWarm { try await server.warmUp(session) }
            #expect(await server.errors(of: "POST", count: 1, session).count <= 1)
            #expect(server.requests == 1)
        }

        @Test(
            "A server whose GOAWAY denies a response that has begun gets the request at most twice",
            arguments: [true, false])
        func denied(isWarm: Bool) async throws {
            let server = try RefusingServer(isWarm: isWarm) { connection, streams in
                connection == 0
                    ? .last(Frame.head(stream: streams[0]) + Frame.goAway(last: isWarm ? 1 : 0)) : .answer
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            if isWarm { try await server.warmUp(session) }
            let errors = await server.errors(of: "POST", count: 1, session)
            #expect(server.requests == (errors.isEmpty ? 2 : 1))
        }

        @Test("The delegate gives a refused upload another stream, or the task fails", arguments: [true, false])
        func stream(hasAnother: Bool) async throws {
            let server = try RefusingServer { connection, _ in
                connection == 0 ? .last(Frame.goAway(last: 1)) : .answer
            }
            let left = Mutex(hasAnother ? 2 : 1)
            let delegate = RecordingDelegate(stream: {
                let isLeft = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                return isLeft ? InputStream(data: Data("pay 100".utf8)) : nil
            })
            let session = URLSession.pinned(
                to: try server.fixture.policy(), configuration: .ephemeral, delegate: delegate)
            defer { session.invalidateAndCancel() }
            try await server.warmUp(session)
            let task = session.uploadTask(withStreamedRequest: try server.request("POST", hasContent: false))
            await delegate.run(task)
            let error = task.error as? URLError
            #expect(error?.code == (hasAnother ? nil : .networkConnectionLost))
            if !hasAnother {
                #expect(error?.localizedDescription.contains("without processing it") == true)
                #expect(error?.localizedDescription.contains("needNewBodyStream") == true)
            }
            #expect(server.answers == (hasAnother ? 1 : 0))
            #expect(server.contents.allSatisfy { $0 == "pay 100" })
        }

        @Test("A streamed upload that is refused every time is sent six times, as any other request")
        func streamLimit() async throws {
            let server = try RefusingServer(isWarm: false) { _, _ in .last(Frame.goAway(last: 0)) }
            let delegate = RecordingDelegate(stream: { InputStream(data: Data("pay 100".utf8)) })
            let session = URLSession.pinned(
                to: try server.fixture.policy(), configuration: .ephemeral, delegate: delegate)
            defer { session.invalidateAndCancel() }
            let task = session.uploadTask(withStreamedRequest: try server.request("POST", hasContent: false))
            await delegate.run(task)
            #expect(task.error?.localizedDescription.contains("without processing it") == true)
            #expect(server.requests == 1 + Transfer.refusalLimit)
        }

        @Test(
            "After a refusal only one request opens a new connection, so none is refused six times",
            .timeLimit(.minutes(2)))
        func alone() async throws {
            // A server that takes one request for each connection, and refuses what else comes.
            let server = try RefusingServer(isWarm: false) { _, streams in
                .last(Frame.empty(stream: streams[0]) + Frame.goAway(last: streams[0]))
            }
            let session = URLSession.pinned(to: try server.fixture.policy())
            #expect(await server.errors(of: "POST", count: 30, session).isEmpty)
            #expect(server.connections <= 40)
        }

        @Test("A suspended upload after a refusal stops no other request for long", arguments: [true, false])
        func suspendedUpload(isRefused: Bool) async throws {
            let fixture = try SessionFixture()
            let connections = Atomic(0)
            let uploads = Atomic(0)
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    let isFirst = connections.add(1, ordering: .relaxed).oldValue == 0
                    guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                    try? stream.write(Frame.settings)
                    while let (number, isWhole) = Frame.readHead(stream) {
                        if isWhole {
                            try? stream.write(Frame.empty(stream: number))
                        } else if isFirst, isRefused {
                            try? stream.write(Frame.goAway(last: 0))
                        } else {
                            uploads.add(1, ordering: .relaxed)
                        }
                    }
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try server.address())
            request.httpMethod = "POST"
            // More than the server permits, so that the request stays incomplete.
            // Two, because a server without any request left is forgotten.
            let tasks = (0..<2).map { _ in session.uploadTask(with: request, from: Data(count: 1 << 20)) }
            for task in tasks { task.resume() }
            while uploads.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(2)) }
            for task in tasks { task.suspend() }
            let start = ContinuousClock.now
            _ = try await session.data(from: try server.address())
            #expect(ContinuousClock.now - start < .seconds(5))
            for task in tasks { task.cancel() }
        }

        @Test(
            "The request after HTTP_1_1_REQUIRED goes over HTTP/1.1, and after another code not",
            arguments: [13, 2] as [UInt8])
        func text(code: UInt8) async throws {
            let texts = Atomic(0)
            let fixture = try SessionFixture()
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2", "http/1.1"]
                configuration.application = .stream { stream in
                    guard let start = try? stream.read(exactly: Frame.preface.count) else { return }
                    guard start == Frame.preface else {
                        texts.add(1, ordering: .relaxed)
                        let fields = "Content-Length: 0\r\nConnection: close"
                        try? stream.write(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8))
                        // Until the client ends the connection: its content may be under way.
                        while (try? stream.read(upTo: 4_096).isEmpty) == false {}
                        return
                    }
                    try? stream.write(Frame.settings)
                    while let number = Frame.readNextRequest(stream) {
                        try? stream.write(Frame.reset(code: code, stream: number))
                    }
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            var request = URLRequest(url: try server.address())
            request.httpMethod = "POST"
            request.httpBody = Data("pay 100".utf8)
            for number in 0..<3 {
                let isText = code == 13 && number > 0
                do {
                    _ = try await session.data(for: request)
                    #expect(isText)
                } catch {
                    #expect(!isText && error.localizedDescription.contains("may have performed the POST"))
                }
            }
            #expect((texts.load(ordering: .relaxed) > 0) == (code == 13))
        }

        @Test(
            "An nginx that ends a connection after a few requests performs each of 600 simultaneous requests once",
            .timeLimit(.minutes(2)), arguments: [50, 5], ["POST", "GET"])
        func nginx(limit: Int, method: String) async throws {
            let fixture = try SessionFixture()
            let directives = "keepalive_requests \(limit); location / { return 200 hello; }"
            let server = try NginxServer(fixture.identity, listening: "http2", directives: directives)
            let session = URLSession.pinned(to: try fixture.policy())
            var request = URLRequest(url: try server.address())
            request.httpMethod = method
            if method == "POST" { request.httpBody = Data("pay 100".utf8) }
            let errors = await withTaskGroup(of: String?.self) { [request] group in
                for _ in 0..<600 {
                    group.addTask {
                        do {
                            return (try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode == 200
                                ? nil : "status"
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: [String]()) { errors, error in if let error { errors.append(error) } }
            }
            #expect(errors.isEmpty)
            #expect(try await server.requests(atLeast: 600 - errors.count).count == 600)
        }
    }
}

/// A server that speaks HTTP/2 and decides, for each connection, what becomes of the requests that it has read.
private final class RefusingServer: Sendable {
    enum Step {
        /// Answers the newest request.
        case answer
        /// Reads more.
        case wait
        /// Writes frames, and then reads until the client ends the connection.
        case last([UInt8])
        /// Writes frames and ends the connection.
        case end([UInt8])
    }

    private final class Log: Sendable {
        let connections = Atomic(0)
        let requests = Atomic(0)
        let answers = Atomic(0)
        let contents = Mutex<[String]>([])
    }

    let fixture: SessionFixture
    private let server: LoopbackTLSServer
    private let log: Log
    private let isWarm: Bool

    /// - Parameters:
    ///   - isWarm: `true` to answer the first request of the first connection, which ``warmUp(_:)`` makes.
    ///   - step: The step after a request, by the number of the connection and the numbers of its unanswered streams.
    init(isWarm: Bool = true, step: @escaping @Sendable (Int, [UInt8]) -> Step) throws {
        let (fixture, log) = (try SessionFixture(), Log())
        (self.fixture, self.log, self.isWarm) = (fixture, log, isWarm)
        server = try LoopbackTLSServer(fixture.identity) { configuration in
            configuration.applicationProtocols = ["h2"]
            configuration.application = .stream { stream in
                let connection = log.connections.add(1, ordering: .relaxed).oldValue
                guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                try? stream.write(Frame.settings)
                if isWarm, connection == 0 {
                    guard Frame.readNextRequest(stream) != nil else { return }
                    try? stream.write(Frame.empty(stream: 1))
                }
                var open: [UInt8] = []
                var contents: [UInt8: [UInt8]] = [:]
                while let (number, content) = Frame.readContent(stream, &contents) {
                    log.requests.add(1, ordering: .relaxed)
                    log.contents.withLock { $0.append(content) }
                    open.append(number)
                    switch step(connection, open) {
                    case .wait: break
                    case .answer:
                        log.answers.add(1, ordering: .relaxed)
                        try? stream.write(Frame.empty(stream: number))
                        open.removeLast()
                    case .last(let frames):
                        try? stream.write(frames)
                        while (try? stream.read(upTo: 4_096).isEmpty) == false {}
                        return
                    case .end(let frames):
                        try? stream.write(frames)
                        return
                    }
                }
            }
        }
    }

    var connections: Int { log.connections.load(ordering: .relaxed) }
    /// The requests that the server has read, without the first one.
    var requests: Int { log.requests.load(ordering: .relaxed) }
    var answers: Int { log.answers.load(ordering: .relaxed) }
    var contents: [String] { log.contents.withLock { $0 } }

    func request(_ method: String, hasContent: Bool = true) throws -> URLRequest {
        var request = URLRequest(url: try server.address())
        request.httpMethod = method
        if hasContent, method != "GET" { request.httpBody = Data("pay 100".utf8) }
        return request
    }

    func warmUp(_ session: URLSession) async throws {
        #expect(isWarm)
        _ = try await session.data(from: try server.address())
    }

    /// Makes requests at once, and returns the errors.
    func errors(of method: String, count: Int, _ session: URLSession) async -> [URLError] {
        await withTaskGroup(of: URLError?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        _ = try await session.data(for: try self.request(method))
                        return nil
                    } catch {
                        return error as? URLError ?? URLError(.unknown)
                    }
                }
            }
            return await group.reduce(into: [URLError]()) { errors, error in if let error { errors.append(error) } }
        }
    }
}

extension Frame {
    /// Reads up to the next head. Returns the last byte of its stream's number, and whether the request is complete.
    fileprivate static func readHead(_ stream: any ByteStream) -> (UInt8, Bool)? {
        while let header = try? stream.read(exactly: 9) {
            let count = header.prefix(3).reduce(0) { $0 << 8 + Int($1) }
            guard count == 0 || (try? stream.read(exactly: count)) != nil else { return nil }
            if header[3] == 1 { return (header[8], header[4] & 1 == 1) }
        }
        return nil
    }

    /// Reads up to the end of the next request. Returns the last byte of its stream's number, and the content of the
    /// stream that ended.
    fileprivate static func readContent(
        _ stream: any ByteStream, _ contents: inout [UInt8: [UInt8]]
    ) -> (UInt8, String)? {
        while let header = try? stream.read(exactly: 9) {
            let count = header.prefix(3).reduce(0) { $0 << 8 + Int($1) }
            guard let payload = count == 0 ? [] : try? stream.read(exactly: count) else { return nil }
            guard header[3] <= 1 else { continue }
            if header[3] == 0 { contents[header[8], default: []] += payload }
            if header[4] & 1 == 1 { return (header[8], String(decoding: contents[header[8]] ?? [], as: UTF8.self)) }
        }
        return nil
    }
}
