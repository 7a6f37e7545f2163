import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Testing

@Suite("Pinned sessions: progress and priorities")
struct SessionProgressTests {
    @Test(
        "Progress counts sent and received bytes while a task runs, with a total once it is known",
        arguments: [true, false])
    func progress(hasLength: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            let framing = hasLength ? "Content-Length: 20" : "Connection: close"
            try? stream.write(Array("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n0123456789".utf8))
            _ = gate.wait(timeout: .now() + 30)
            try? stream.write(Array("0123456789".utf8))
        })
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        let task = session.uploadTask(with: request, from: Data("12345".utf8))
        async let run: Void = delegate.run(task)
        for _ in 0..<500 where task.progress.completedUnitCount < 15 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(task.progress.completedUnitCount == 15)
        #expect(task.progress.totalUnitCount == (hasLength ? 25 : -1))
        #expect(task.progress.isIndeterminate == !hasLength)
        gate.signal()
        await run
        #expect(task.progress.isFinished)
        #expect(task.countOfBytesReceived == 20)
    }

    /// The ways in which the content of a response ends.
    enum Ending: String, CaseIterable {
        case length, noContent, chunks, close, coded, redirect, head, upload
    }

    @Test(
        "A parent of a task's progress counts a task that succeeded once, however its content ends",
        arguments: Ending.allCases, [true, false])
    func parent(ending: Ending, isKnownEarly: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            var response = HTTPResponse.text(String(repeating: "x", count: 3_000))
            switch ending {
            case .length, .head, .upload: break
            case .noContent: return HTTPResponse(status: 204, reason: "No Content")
            case .chunks:
                return .raw(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n".utf8))
            case .close: return .raw(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nxxx".utf8))
            case .coded:
                response.fields = [HTTPField("Content-Encoding", "deflate")]
                response.body = Deflate.letters(1_000)
            case .redirect where request.target == "/": return .redirect(to: "/end", status: 307)
            case .redirect: break
            }
            return response
        }
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = URLRequest(url: try server.address())
        if ending == .head { request.httpMethod = "HEAD" }
        if [.upload, .redirect].contains(ending) {
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
        }
        let task = session.dataTask(with: request)
        let parent = Progress(totalUnitCount: 10)
        if isKnownEarly { parent.addChild(task.progress, withPendingUnitCount: 4) }
        await delegate.run(task)
        #expect(delegate.error == nil)
        if !isKnownEarly { parent.addChild(task.progress, withPendingUnitCount: 4) }
        #expect(task.progress.isFinished && task.progress.fractionCompleted == 1)
        #expect(parent.completedUnitCount == 4 && parent.fractionCompleted == 0.4)
        parent.completedUnitCount += 6
        #expect(parent.isFinished)
    }

    /// The ways in which a task fails.
    enum Failure: String, CaseIterable {
        case cut, cutAtEnd, cancelled, refused, neverStarted
    }

    @Test("A task that failed or was cancelled does not finish its progress or a parent's", arguments: Failure.allCases)
    func failed(failure: Failure) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            let length = failure == .cutAtEnd ? "Transfer-Encoding: chunked\r\n\r\n5\r\n" : "Content-Length: 10\r\n\r\n"
            try? stream.write(Array("HTTP/1.1 200 OK\r\n\(length)01234".utf8))
            if failure == .cancelled { _ = try? stream.read(upTo: 1) }
        })
        let policy = try fixture.policy(rightPin: failure != .refused)
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: policy, configuration: .ephemeral, delegate: delegate)
        let task = session.dataTask(with: try server.address())
        let parent = Progress(totalUnitCount: 10)
        parent.addChild(task.progress, withPendingUnitCount: 10)
        if failure == .neverStarted { task.cancel() }
        async let run: Void = delegate.run(task)
        if failure == .cancelled {
            for _ in 0..<3_000 where task.progress.completedUnitCount < 5 {
                try await Task.sleep(for: .milliseconds(10))
            }
            task.cancel()
        }
        await run
        #expect(delegate.error != nil)
        #expect(!task.progress.isFinished && !parent.isFinished && parent.completedUnitCount == 0)
        #expect(task.progress.completedUnitCount == ([.refused, .neverStarted].contains(failure) ? 0 : 5))
        #expect(parent.fractionCompleted == ([.cut, .cancelled].contains(failure) ? 0.5 : 0))
    }

    @Test(
        "An announced length that is too great makes the total unknown, and does not end the task",
        arguments: [(Int64.max, -1), (1 << 53, -1), (1_000, 1_005)] as [(Int64, Int64)])
    func announcement(length: Int64, total: Int64) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nx".utf8))
            _ = gate.wait(timeout: .now() + 60)
        })
        defer { gate.signal() }
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        let task = session.uploadTask(with: request, from: Data("12345".utf8))
        async let run: Void = delegate.run(task)
        for _ in 0..<3_000 where task.progress.completedUnitCount < 6 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(task.progress.completedUnitCount == 6)
        #expect(task.progress.totalUnitCount == total)
        #expect(task.countOfBytesExpectedToReceive == length)
        task.cancel()
        await run
        #expect(delegate.error?.code == .cancelled)
        #expect(delegate.error?.isAboutTrust != true)
    }

    @Test("Queued tasks start by priority, and tasks of equal priority in their order")
    func priority() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server { request in
            if request.target == "/first" { _ = gate.wait(timeout: .now() + 30) }
            return .ok
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let first = session.dataTask(with: try server.address("first"))
        first.resume()
        #expect(await server.hasRequest())
        let priorities: [Float] = [URLSessionTask.lowPriority, 0.5, .nan, URLSessionTask.highPriority, 0.5]
        let tasks = try priorities.enumerated().map { number, priority in
            let task = session.dataTask(with: try server.address("\(number)"))
            task.priority = priority
            task.resume()
            return task
        }
        gate.signal()
        for _ in 0..<500 where tasks.contains(where: { $0.state != .completed }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(server.requests.map(\.target) == ["/first", "/3", "/1", "/2", "/4", "/0"])
    }
}
