import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// HTTP/2 servers that respond before they have received the content of the request (RFC 9113 section 8.1).
@Suite("Pinned sessions: responses during an upload")
struct SessionEarlyAnswerTests {
    /// A stream whose content is available only once the gate opens.
    private final class GatedStream: InputStream {
        private let gate: DispatchSemaphore
        private let content = Mutex([UInt8]("the secret of the house".utf8))

        init(_ gate: DispatchSemaphore) {
            self.gate = gate
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { .open }
        override func open() {}
        override func close() {}
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            _ = gate.wait(timeout: .now() + 60)
            gate.signal()
            return content.withLock { content in
                let piece = content.prefix(len)
                buffer.initialize(from: Array(piece), count: piece.count)
                content.removeFirst(piece.count)
                return piece.count
            }
        }
    }

    /// A server that answers its one request at once or after all content, and keeps reading.
    private func server(
        _ fixture: SessionFixture, answer: [UInt8], isEarly: Bool, received: Atomic<Int>.Box,
        reads: Bool = true, then last: @escaping @Sendable () -> [UInt8] = { [] }
    ) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(fixture.identity) { configuration in
            configuration.applicationProtocols = ["h2"]
            configuration.application = .stream { stream in
                guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                try? stream.write(Frame.settings)
                while let header = try? stream.read(exactly: 9) {
                    let count = header.prefix(3).reduce(0) { $0 << 8 + Int($1) }
                    guard count == 0 || (try? stream.read(exactly: count)) != nil else { return }
                    let isContent = header[3] == 0
                    if isContent { received.value.add(count, ordering: .relaxed) }
                    if header[3] == 1, isEarly { try? stream.write(answer) }
                    if isContent, header[4] & 1 == 1, !isEarly { try? stream.write(answer) }
                    if isContent, count > 0, reads { try? stream.write(Frame.room(count)) }
                    if header[3] == 1, !reads {
                        try? stream.write(last())
                        while (try? stream.read(upTo: 4_096).isEmpty) == false {}
                    }
                }
            }
        }
    }

    @Test(
        "Content that is available only after the response is still sent, and the task completes",
        arguments: [true, false], [true, false])
    func later(isEarly: Bool, hasLength: Bool) async throws {
        let fixture = try SessionFixture()
        let received = Atomic<Int>.Box()
        let answer = (hasLength ? Frame.head(length: 4) : Frame.head) + Frame.data("body", isLast: true)
        let server = try server(fixture, answer: answer, isEarly: isEarly, received: received)
        let gate = DispatchSemaphore(value: isEarly ? 0 : 1)
        let delegate = RecordingDelegate(stream: { GatedStream(gate) })
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = URLRequest(url: try server.address(), timeoutInterval: 30)
        request.httpMethod = "POST"
        let task = session.uploadTask(withStreamedRequest: request)
        async let run: Void = delegate.run(task)
        if isEarly {
            for _ in 0..<3_000 where task.countOfBytesReceived < 4 { try await Task.sleep(for: .milliseconds(10)) }
            gate.signal()
        }
        await run
        #expect(delegate.error == nil)
        #expect(delegate.events == ["stream", "response 200", "data", "complete"])
        #expect(delegate.log.withLock { $0.data } == Data("body".utf8))
        #expect(await received.reaches(23))
    }

    @Test("A small upload and its response may cross", arguments: [true, false])
    func crossing(isEarly: Bool) async throws {
        let fixture = try SessionFixture()
        let received = Atomic<Int>.Box()
        let answer = Frame.head + Frame.data("body", isLast: true)
        let server = try server(fixture, answer: answer, isEarly: isEarly, received: received)
        var request = URLRequest(url: try server.address(), timeoutInterval: 30)
        request.httpMethod = "PUT"
        for _ in 0..<20 {
            let session = URLSession.pinned(to: try fixture.policy())
            #expect(try await session.upload(for: request, from: Data(count: 23)).0 == Data("body".utf8))
        }
        #expect(await received.reaches(20 * 23))
    }

    @Test("A large upload is sent completely, whenever the response comes", arguments: [true, false], [true, false])
    func large(isEarly: Bool, hasLength: Bool) async throws {
        let fixture = try SessionFixture()
        let received = Atomic<Int>.Box()
        let answer = (hasLength ? Frame.head(length: 4) : Frame.head) + Frame.data("body", isLast: true)
        let server = try server(fixture, answer: answer, isEarly: isEarly, received: received)
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address(), timeoutInterval: 30)
        request.httpMethod = "PUT"
        #expect(try await session.upload(for: request, from: Data(count: 4 << 20)).0 == Data("body".utf8))
        #expect(await received.reaches(4 << 20))
    }

    /// Uploads `size` bytes, and opens the gate once `received` bytes of the response have come.
    private func upload(
        _ size: Int, to server: LoopbackTLSServer, by fixture: SessionFixture, until received: Int,
        then gate: DispatchSemaphore
    ) async throws -> (data: Data, error: URLError?) {
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = URLRequest(url: try server.address(), timeoutInterval: 30)
        request.httpMethod = "PUT"
        let task = session.uploadTask(with: request, from: Data(count: size))
        async let run: Void = delegate.run(task)
        for _ in 0..<3_000 where task.countOfBytesReceived < received { try await Task.sleep(for: .milliseconds(10)) }
        gate.signal()
        await run
        return (delegate.log.withLock { $0.data }, delegate.error)
    }

    @Test(
        "A complete response counts even if the server stops reading the request, a partial one does not",
        arguments: [("body", nil), ("bod", URLError.networkConnectionLost)] as [(String, URLError.Code?)])
    func enough(content: String, error: URLError.Code?) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let isWhole = error == nil
        let server = try server(
            fixture, answer: Frame.head(length: 4) + Frame.data(content, isLast: isWhole), isEarly: true,
            received: Atomic<Int>.Box(), reads: false
        ) {
            _ = gate.wait(timeout: .now() + 60)
            return Frame.reset(code: 0)
        }
        let (data, failure) = try await upload(4 << 20, to: server, by: fixture, until: content.utf8.count, then: gate)
        #expect(failure?.code == error)
        #expect(data == Data(content.utf8))
    }

    @Test(
        "A complete response counts even if an HTTP/1.1 server closes the connection, a partial one does not",
        arguments: [("body", nil), ("bod", URLError.networkConnectionLost)] as [(String, URLError.Code?)])
    func hangUp(content: String, error: URLError.Code?) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\(content)".utf8))
            _ = gate.wait(timeout: .now() + 60)
        })
        let (data, failure) = try await upload(64 << 20, to: server, by: fixture, until: content.utf8.count, then: gate)
        #expect(failure?.code == error)
        #expect(data == Data(content.utf8))
    }

    @Test("A response to an upload must have its announced length", arguments: [4, 5])
    func length(announced: Int) async throws {
        let fixture = try SessionFixture()
        let server = try server(
            fixture, answer: Frame.head(length: announced) + Frame.data("body", isLast: true), isEarly: false,
            received: Atomic<Int>.Box())
        let session = URLSession.pinned(to: try fixture.policy())
        var request = URLRequest(url: try server.address(), timeoutInterval: 30)
        request.httpMethod = "PUT"
        let upload = request
        if announced == 4 {
            #expect(try await session.upload(for: upload, from: Data(count: 10)).0 == Data("body".utf8))
        } else {
            let error = await #expect(throws: URLError.self) {
                try await session.upload(for: upload, from: Data(count: 10))
            }
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.isAboutTrust == false)
        }
    }
}

extension Atomic<Int> {
    /// A counter that closures share.
    final class Box: Sendable {
        let value = Atomic<Int>(0)

        /// Waits for a count, because the other side may reach it a moment later.
        func reaches(_ count: Int) async -> Bool {
            for _ in 0..<3_000 where value.load(ordering: .relaxed) < count {
                try? await Task.sleep(for: .milliseconds(10))
            }
            return value.load(ordering: .relaxed) == count
        }
    }
}
