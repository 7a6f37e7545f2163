import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Content whose length is unknown in advance.
@Suite("Pinned sessions: streams as bodies")
struct SessionStreamTests {
    private let body = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func echo(_ fixture: SessionFixture) throws -> LoopbackTLSServer {
        try fixture.server { request in HTTPResponse(status: 200, reason: "OK", body: request.body) }
    }

    private func request(_ server: LoopbackTLSServer, _ path: String = "") throws -> URLRequest {
        var request = URLRequest(url: try server.address(path))
        request.httpMethod = "POST"
        return request
    }

    @Test(
        "A stream is sent completely: chunked, or with the length that the request declares",
        arguments: ["data", "upload", "completionHandler", "length", "download"])
    func whole(kind: String) async throws {
        let fixture = try SessionFixture()
        let server = try echo(fixture)
        let body = body
        let delegate = RecordingDelegate(stream: { InputStream(data: body) })
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = try request(server)
        var asksDelegate = false
        switch kind {
        case "completionHandler":
            request.httpBodyStream = InputStream(data: body)
            let streamed = request
            let data = await withCheckedContinuation { continuation in
                session.dataTask(with: streamed) { data, _, _ in continuation.resume(returning: data) }.resume()
            }
            #expect(data == body)
        case "upload":
            asksDelegate = true
            let task = session.uploadTask(withStreamedRequest: request)
            await delegate.run(task)
            #expect(task.countOfBytesSent == 700_000)
            #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
        default:
            request.httpBodyStream = InputStream(data: body)
            if kind == "length" { request.setValue("700000", forHTTPHeaderField: "Content-Length") }
            await delegate.run(
                kind == "download" ? session.downloadTask(with: request) : session.dataTask(with: request))
        }
        if kind != "completionHandler" { #expect(delegate.log.withLock { $0.data } == body) }
        #expect(delegate.events.contains("stream") == asksDelegate)
        let seen = try #require(server.requests.first)
        #expect(seen["content-length"] == (kind == "length" ? "700000" : nil))
        #expect(seen["transfer-encoding"] == (kind == "length" ? nil : "chunked"))
    }

    @Test(
        "The delegate is asked for another stream if the content has to be sent again", arguments: [307, 308, 401, 303])
    func again(status: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            if request.target == "/end" || request["authorization"] != nil {
                return HTTPResponse(status: 200, reason: "OK", body: request.body)
            }
            return status == 401 ? .unauthorized() : .redirect(to: "/end", status: status)
        }
        let body = body
        let delegate = RecordingDelegate(
            answer: { _ in (.useCredential, URLCredential(user: "u", password: "p", persistence: .none)) },
            stream: { InputStream(data: body) })
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await delegate.run(session.uploadTask(withStreamedRequest: try request(server)))
        if status == 303 {
            #expect(delegate.events == ["stream", "redirect 303", "response 200", "complete"])
            #expect(server.requests.last?.method == "GET")
        } else {
            let asked = status == 401 ? "challenge 0" : "redirect \(status)"
            #expect(delegate.events == ["stream", asked, "stream", "response 200", "data", "complete"])
            #expect(delegate.log.withLock { $0.data } == body)
        }
    }

    @Test(
        "A task without a stream, at first or for a repetition, fails with an error that says so",
        arguments: [true, false])
    func missing(isFirst: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in .redirect(to: "/end", status: 307) }
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = try request(server)
        if !isFirst { request.httpBodyStream = InputStream(data: body) }
        await delegate.run(
            isFirst ? session.uploadTask(withStreamedRequest: request) : session.dataTask(with: request))
        #expect(delegate.error?.code == .requestBodyStreamExhausted)
        #expect(delegate.error?.isAboutTrust != true)
        #expect(delegate.error?.localizedDescription.contains("needNewBodyStream") == true)
        #expect(server.requests.count == (isFirst ? 0 : 1))
    }

    @Test("A stream that ends before its announced length fails the task", arguments: [700_001, 700_000])
    func short(length: Int) async throws {
        let fixture = try SessionFixture()
        let server = try echo(fixture)
        let session = URLSession.pinned(to: try fixture.policy())
        var request = try request(server)
        request.httpBodyStream = InputStream(data: body)
        request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        let ready = request
        if length == 700_000 {
            #expect(try await session.data(for: ready).0 == body)
        } else {
            await #expect(throws: URLError.self) { try await session.data(for: ready) }
        }
    }

    @Test("A slow stream does not block other requests, and is sent in the end")
    func slow() async throws {
        let fixture = try SessionFixture()
        let server = try echo(fixture)
        let files = try TemporaryDirectory()
        let path = files.path(of: "pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let session = URLSession.pinned(to: try fixture.policy())
        var request = try request(server, "slow")
        request.httpBodyStream = InputStream(fileAtPath: path)
        let streamed = request
        async let slow = session.data(for: streamed)
        for _ in 0..<5 { #expect(try await session.data(from: try server.address()).0.isEmpty) }
        let writer = try await FileHandle(writingToPipe: path)
        for _ in 0..<3 {
            try writer.write(contentsOf: Data(repeating: 0x62, count: 1_000))
            try await Task.sleep(for: .milliseconds(50))
        }
        try writer.close()
        #expect(try await slow.0 == Data(repeating: 0x62, count: 3_000))
    }

    private final class Count: Sendable {
        let value = Atomic<Int>(0)
    }

    /// A stream that counts the bytes read from it.
    private final class CountingStream: InputStream {
        private let given: Count
        private let end: Int

        init(end: Int, given: Count) {
            self.given = given
            self.end = end
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { .open }
        override func open() {}
        override func close() {}
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            let count = min(len, end - given.value.load(ordering: .relaxed))
            buffer.initialize(repeating: 0x63, count: count)
            given.value.add(count, ordering: .relaxed)
            return count
        }
    }

    /// A stream that reports more bytes than it has written.
    private final class OverreportingStream: InputStream {
        private let said: Int
        private let given = Count()

        init(says said: Int) {
            self.said = said
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { .open }
        override func open() {}
        override func close() {}
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            guard given.value.add(1, ordering: .relaxed).newValue == 1 else { return 0 }
            buffer.initialize(repeating: 0x63, count: 1)
            return said
        }
    }

    @Test("A stream that reports too many bytes does not make the session send other memory", arguments: [1, 4_096])
    func bragging(size: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        var request = try request(server)
        request.httpBodyStream = OverreportingStream(says: size)
        _ = try await URLSession.pinned(to: try fixture.policy()).data(for: request)
        #expect(server.requests.first?.body == [0x63] + [UInt8](repeating: 0, count: size - 1))
    }

    @Test("A server that does not read stops the stream, and still gets everything")
    func backPressure() async throws {
        let fixture = try SessionFixture()
        let size = 48 << 20
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(reading: size, from: gate)
        let given = Count()
        var request = try request(server)
        request.httpBodyStream = CountingStream(end: size, given: given)
        request.setValue("\(size)", forHTTPHeaderField: "Content-Length")
        let ready = request
        let session = URLSession.pinned(to: try fixture.policy())
        async let answer = session.data(for: ready)
        try await Task.sleep(for: .milliseconds(500))
        #expect(given.value.load(ordering: .relaxed) < 24 << 20)
        gate.signal()
        _ = try await answer
        #expect(given.value.load(ordering: .relaxed) == size)
    }
}

extension FileHandle {
    /// Waits for the pipe's reader without blocking a thread of the pool, which the reader may need.
    convenience init(writingToPipe path: String) async throws {
        var descriptor: CInt = -1
        for _ in 0..<3_000 {
            descriptor = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        guard descriptor >= 0 else { throw URLError(.timedOut) }
        self.init(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
