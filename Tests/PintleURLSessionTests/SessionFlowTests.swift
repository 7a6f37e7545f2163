import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Back-pressure: content that arrives faster than the delegate takes it waits in the network, not in memory.
@Suite("Pinned sessions: back-pressure")
struct SessionFlowTests {
    /// A delegate that blocks on the first piece until the gate opens.
    final class BlockingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
        let count = Mutex(0)
        let gate = DispatchSemaphore(value: 0)
        private let finished = AsyncStream<Void>.makeStream()

        func run(_ task: URLSessionTask) async {
            task.resume()
            for await _ in finished.stream { return }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            take(data.count)
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            take(Int(bytesWritten))
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {}

        private func take(_ piece: Int) {
            if count.withLock({ $0 }) == 0 { gate.wait() }
            count.withLock { $0 += piece }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            finished.continuation.yield()
        }
    }

    @Test("A slow delegate stops the server from sending, and still gets everything", arguments: [false, true])
    func backPressure(isDownload: Bool) async throws {
        let fixture = try SessionFixture()
        let size = 48 << 20
        let sent = Atomic<Int>(0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8))
            let piece = [UInt8](repeating: 0x78, count: 1 << 20)
            for _ in 0..<size >> 20 {
                guard (try? stream.write(piece)) != nil else { return }
                sent.add(piece.count, ordering: .relaxed)
            }
        })
        let sluggard = BlockingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: sluggard)
        let url = try server.address()
        let task = isDownload ? session.downloadTask(with: url) : session.dataTask(with: url)
        async let run: Void = sluggard.run(task)
        try await Task.sleep(for: .milliseconds(500))
        // Socket buffers and the session's own backlog.
        #expect(sent.load(ordering: .relaxed) < 24 << 20)
        #expect(task.countOfBytesReceived < 4 << 20)
        sluggard.gate.signal()
        await run
        #expect(sluggard.count.withLock { $0 } == size)
    }

    @Test("Pieces that wait for a delegate are coalesced, even pieces of one byte", arguments: [1, 100_000])
    func pieces(size: Int) async throws {
        let fixture = try SessionFixture()
        let total = 100_000
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            let piece = String(size, radix: 16) + "\r\n" + String(repeating: "x", count: size) + "\r\n"
            let content = String(repeating: piece, count: total / size) + "0\r\n\r\n"
            try? stream.write(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(content)".utf8))
        })
        let sluggard = BlockingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: sluggard)
        let task = session.dataTask(with: try server.address())
        async let run: Void = sluggard.run(task)
        for _ in 0..<3_000 where task.countOfBytesReceived < total { try await Task.sleep(for: .milliseconds(10)) }
        #expect(task.countOfBytesReceived == total)
        // At most three: the callback that the delegate is busy with, one for the content since then, and the end.
        #expect(session.delegateQueue.operationCount <= 3)
        sluggard.gate.signal()
        await run
        #expect(sluggard.count.withLock { $0 } == total)
    }

    @Test("Upload progress is coalesced while the delegate is busy", arguments: [true, false])
    func sent(isBusy: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        session.delegateQueue.isSuspended = isBusy
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        let size = 4 << 20
        let task = session.uploadTask(with: request, from: Data(count: size))
        async let run: Void = recorder.run(task)
        for _ in 0..<3_000 where task.countOfBytesSent < size { try await Task.sleep(for: .milliseconds(10)) }
        #expect(task.countOfBytesSent == size)
        // One callback for the sent bytes, one for the response.
        if isBusy { #expect(session.delegateQueue.operationCount <= 2) }
        session.delegateQueue.isSuspended = false
        await run
        #expect(recorder.events.contains("sent \(size)"))
    }

    @Test("A suspended task sends no request, neither from the queue nor after a redirect", arguments: [true, false])
    func standstill(isSuspended: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server { request in
            if request.target == "/first" { _ = gate.wait(timeout: .now() + 60) }
            return request.target == "/moved" ? .redirect(to: "/end") : .ok
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let delegate = DelayedDelegate(.credential, isLate: true)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, delegate: delegate)
        let redirected = session.dataTask(with: try server.address("moved"))
        redirected.resume()
        #expect(await delegate.has("redirect"))
        if isSuspended { redirected.suspend() }
        await delegate.catchUp(on: session)
        if !isSuspended {
            #expect(await delegate.has("response 200"))
            await delegate.catchUp(on: session)
            #expect(await delegate.has("complete"))
        }

        let first = session.dataTask(with: try server.address("first")) { _, _, _ in }
        let second = session.dataTask(with: try server.address("second")) { _, _, _ in }
        let third = session.dataTask(with: try server.address("third")) { _, _, _ in }
        first.resume()
        for _ in 0..<3_000 where !server.requests.contains(where: { $0.target == "/first" }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        second.resume()
        if isSuspended { second.suspend() }
        third.resume()
        gate.signal()
        for _ in 0..<3_000 where third.state != .completed { try await Task.sleep(for: .milliseconds(10)) }
        let suspended = ["/moved", "/first", "/third"]
        if isSuspended {
            #expect(server.requests.map(\.target) == suspended)
            second.resume()
            for _ in 0..<3_000 where second.state != .completed { try await Task.sleep(for: .milliseconds(10)) }
            redirected.resume()
            #expect(await delegate.has("response 200"))
        }
        let all = isSuspended ? suspended + ["/second", "/end"] : ["/moved", "/end", "/first", "/second", "/third"]
        #expect(server.requests.map(\.target) == all)
        session.invalidateAndCancel()
    }

    @Test("A suspended task stops sending until it is resumed", arguments: [true, false])
    func suspension(isSuspended: Bool) async throws {
        let fixture = try SessionFixture()
        let size = 64 << 20
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(reading: size, from: gate)
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        let task = session.uploadTask(with: request, from: Data(count: size))
        async let run: Void = recorder.run(task)
        for _ in 0..<3_000 where task.countOfBytesSent == 0 { try await Task.sleep(for: .milliseconds(10)) }
        if isSuspended {
            task.suspend()
            try await Task.sleep(for: .milliseconds(500))
            let sent = task.countOfBytesSent
            gate.signal()
            try await Task.sleep(for: .milliseconds(500))
            #expect(task.countOfBytesSent == sent)
            #expect(sent < size)
            task.resume()
        } else {
            gate.signal()
        }
        await run
        #expect(recorder.log.withLock { $0.error } == nil)
        #expect(task.countOfBytesSent == size)
    }
}
