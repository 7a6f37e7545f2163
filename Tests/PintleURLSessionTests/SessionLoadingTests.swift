import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Everyday use of a session.
@Suite("Pinned sessions: loading")
struct SessionLoadingTests {
    @Test("A delegate gets the response, the data and the end in this order")
    func delegateOrder() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let task = session.dataTask(with: try server.address())
        #expect(task.state == .suspended)
        await recorder.run(task)
        #expect(recorder.events == ["response 200", "data", "complete"])
        #expect(task.state == .completed)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task.countOfBytesReceived == 3)
        #expect(task.countOfBytesExpectedToReceive == 3)
    }

    @Test("A delegate that answers cancel gets no data")
    func disposition() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = Recorder(disposition: .cancel)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        await recorder.run(session.dataTask(with: try server.address()))
        #expect(recorder.events == ["response 200", "complete"])
        #expect((recorder.log.withLock { $0.error } as? URLError)?.code == .cancelled)
    }

    @Test("Consecutive requests share a connection")
    func keepAlive() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy())
        for _ in 0..<5 { _ = try await session.data(from: try server.address()) }
        #expect(server.requests.count == 5)
        #expect(server.completedHandshakeCount == 1)
        #expect(server.requests.first?.version == "HTTP/1.1")
    }

    @Test("Many requests at once share six connections and all complete", arguments: [64, 256, 600])
    func concurrent(count: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in .text(request.target) }
        let session = URLSession.pinned(to: try fixture.policy())
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                group.addTask {
                    let (data, _) = try await session.data(from: try server.address("\(number)"))
                    return data == Data("/\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.connections.reduce(0) { $0 + $1.requestCount } == count)
        #expect(server.completedHandshakeCount <= 6)
    }

    @Test("An upload and a download of 3 MB arrive unchanged", arguments: [true, false])
    func large(usesDelegate: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            HTTPResponse(status: 200, reason: "OK", body: request.body)
        }
        var generator = SystemRandomNumberGenerator()
        let body = Data((0..<3_000_000 / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        if usesDelegate {
            let task = session.uploadTask(with: request, from: body)
            task.delegate = recorder
            await recorder.run(task)
            #expect(recorder.log.withLock { $0.data } == body)
            #expect(recorder.events.contains("sent 3000000"))
            #expect(task.countOfBytesSent == 3_000_000)
        } else {
            request.httpBody = body
            #expect(try await session.data(for: request).0 == body)
        }
        #expect(server.requests.first?["content-length"] == "3000000")
    }

    @Test("The server gets the method and the fields, and the client decodes a compressed response")
    func fields() async throws {
        let fixture = try SessionFixture()
        // gzip of "hello\n".
        let zipped: [UInt8] = [
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xE7, 0x02, 0x00, 0x20, 0x30, 0x3A,
            0x36, 0x06, 0, 0, 0,
        ]
        let server = try fixture.server { _ in
            HTTPResponse(
                status: 200, reason: "OK",
                fields: [
                    HTTPField("Content-Encoding", "gzip"), HTTPField("X-List", "a"), HTTPField("x-list", "b"),
                    HTTPField("Set-Cookie", "k=v; Path=/"),
                ], body: zipped)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "one", "X-Both": "session"]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address("path?q=1"))
        request.httpMethod = "PATCH"
        request.setValue("request", forHTTPHeaderField: "X-Both")
        request.setValue("", forHTTPHeaderField: "X-Empty")
        request.httpBody = Data("{}".utf8)
        let (data, response) = try await session.data(for: request)
        #expect(data == Data("hello\n".utf8))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-List") == "a, b")
        let seen = try #require(server.requests.first)
        #expect(seen.method == "PATCH")
        #expect(seen.target == "/path?q=1")
        #expect(seen.body == Array("{}".utf8))
        #expect(seen["x-session"] == "one")
        #expect(seen["x-both"] == "request")
        #expect(seen["x-empty"]?.isEmpty == true)
        #expect(seen["accept-encoding"]?.contains("gzip") == true)
        _ = try await session.data(from: try server.address())
        #expect(server.requests.last?["cookie"] == "k=v")
    }

    @Test("A line break in a field or a method does not start a request of its own")
    func injection() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        // Foundation itself drops such a field of a request, so it is set on the session.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Field": "a\r\nX-Smuggled: b"]
        let smuggling = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let field = await #expect(throws: URLError.self) { try await smuggling.data(from: try server.address()) }
        #expect(field?.refusal == .invalidRequest)
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address())
        request.httpMethod = "GET / HTTP/1.1\r\nX: y\r\n\r\nPOST"
        let method = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(method?.refusal == .invalidRequest)
        #expect(server.connectionCount == 0)
        #expect(try await session.data(from: try server.address()).0.count == 3)
    }

    @Test("A method that expects content announces a length of 0 without it; a GET with content is refused")
    func emptyContent() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address())
        for (method, length) in [("POST", "0"), ("DELETE", "0"), ("GET", nil)] {
            request.httpMethod = method
            _ = try await session.data(for: request)
            #expect(server.requests.last?["content-length"] == length)
        }
        request.httpBody = Data("x".utf8)
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.localizedDescription.contains("GET") == true)
        #expect(server.requests.count == 3)
    }

    @Test("A HEAD request gets no content, and an error status is a response")
    func statuses() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            request.method == "HEAD"
                ? .ok : HTTPResponse(status: 404, reason: "Not Found", body: Array("no".utf8))
        }
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address())
        request.httpMethod = "HEAD"
        let head = try await session.data(for: request)
        #expect(head.0.isEmpty)
        #expect((head.1 as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") == "3")
        let missing = try await session.data(from: try server.address())
        #expect((missing.1 as? HTTPURLResponse)?.statusCode == 404)
        #expect(missing.0 == Data("no".utf8))
    }

    @Test("A 401 without a credential is the response, and the request is not repeated")
    func unauthorized() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in .unauthorized() }
        let session = URLSession.pinned(to: try fixture.policy())
        let (_, response) = try await session.data(from: try server.address())
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "WWW-Authenticate") != nil)
        let url = try server.address()
        let (data, second) = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { data, response, _ in continuation.resume(returning: (data, response)) }
                .resume()
        }
        #expect(data != nil)
        #expect((second as? HTTPURLResponse)?.statusCode == 401)
        #expect(server.requests.count == 2)
        #expect(server.connectionCount == 1)
    }

    @Test("A cancelled task ends as cancelled, before and during the transfer")
    func cancellation() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        defer { gate.signal() }
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let early = session.dataTask(with: try server.address())
        early.cancel()
        await recorder.run(early)
        #expect((recorder.log.withLock { $0.error } as? URLError)?.code == .cancelled)
        #expect(server.connectionCount == 0)

        let running = Task { try await session.data(from: try server.address()) }
        #expect(await server.hasRequest())
        running.cancel()
        let error = await #expect(throws: URLError.self) { try await running.value }
        #expect(error?.code == .cancelled)
        #expect(error?.isAboutTrust == false)
    }

    @Test("A silent server times out; one that sends slowly does not")
    func timeouts() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let silent = try fixture.server(behind: gate)
        defer { gate.signal() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 0.3
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let error = await #expect(throws: URLError.self) { try await session.data(from: try silent.address()) }
        #expect(error?.code == .timedOut)
        #expect(error?.isAboutTrust == false)
        let trickling = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n".utf8))
            for _ in 0..<20 {
                usleep(120_000)
                guard (try? stream.write([0x78])) != nil else { return }
            }
        })
        // Longer than the pauses, but shorter than the whole response.
        configuration.timeoutIntervalForRequest = 2
        let patient = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        #expect(try await patient.data(from: try trickling.address()).0.count == 20)
        configuration.timeoutIntervalForRequest = 60
        configuration.timeoutIntervalForResource = 0.3
        let whole = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let late = await #expect(throws: URLError.self) { try await whole.data(from: try trickling.address()) }
        #expect(late?.code == .timedOut)
    }

    @Test("A suspended task stops and continues after resume")
    func suspension() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in .text(String(repeating: "x", count: 2_000_000)) }
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let task = session.dataTask(with: try server.address())
        task.resume()
        task.suspend()
        #expect(task.state == .suspended)
        try await Task.sleep(for: .milliseconds(200))
        #expect(!recorder.events.contains("complete"))
        await recorder.run(task)
        #expect(recorder.log.withLock { $0.data.count } == 2_000_000)
    }

    @Test("An invalidated session finishes its tasks, tells its delegate and accepts no more")
    func invalidation() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let task = session.dataTask(with: try server.address())
        async let run: Void = recorder.run(task)
        #expect(await server.hasRequest())
        session.finishTasksAndInvalidate()
        gate.signal()
        await run
        for _ in 0..<500 where recorder.events.last != "invalid" {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(recorder.events == ["response 200", "data", "complete", "invalid"])
        #expect(session.delegate == nil)
        let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(error?.code == .cancelled)
        #expect(error?.isAboutTrust == false)
    }

    @Test("A task that has ended releases its delegate")
    func taskDelegate() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy())
        let task = session.dataTask(with: try server.address())
        weak var delegate: Recorder?
        do {
            let recorder = Recorder()
            delegate = recorder
            task.delegate = recorder
            #expect(task.delegate === recorder)
            await recorder.run(task)
        }
        for _ in 0..<500 where delegate != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(delegate == nil)
        #expect(task.state == .completed)
    }

    @Test("A session without references is released together with its delegate")
    func lifetime() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        weak var session: PinnedURLSession?
        weak var delegate: Recorder?
        do {
            let recorder = Recorder()
            let held = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
            (session, delegate) = (held, recorder)
            await recorder.run(held.dataTask(with: try server.address()))
        }
        for _ in 0..<200 where session != nil || delegate != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(session == nil)
        #expect(delegate == nil)
        #expect(server.waitUntilClosed())
    }
}
