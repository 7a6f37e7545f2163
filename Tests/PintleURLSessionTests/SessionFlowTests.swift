import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// What arrives faster than it is wanted waits in the network, not in memory.
@Suite("Pinned sessions: back-pressure")
struct SessionFlowTests {
    /// Takes its time with the first piece.
    final class Sluggard: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
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

    @Test("A delegate that is slow stops the server, and gets everything in the end", arguments: [false, true])
    func backPressure(isDownload: Bool) async throws {
        let stage = try Stage()
        let size = 48 << 20
        let sent = Atomic<Int>(0)
        let server = try stage.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8))
            let piece = [UInt8](repeating: 0x78, count: 1 << 20)
            for _ in 0..<size >> 20 {
                guard (try? stream.write(piece)) != nil else { return }
                sent.add(piece.count, ordering: .relaxed)
            }
        })
        let sluggard = Sluggard()
        let session = URLSession.pinned(to: try stage.policy(), configuration: .ephemeral, delegate: sluggard)
        let url = try server.address()
        let task = isDownload ? session.downloadTask(with: url) : session.dataTask(with: url)
        async let run: Void = sluggard.run(task)
        try await Task.sleep(for: .milliseconds(500))
        // Socket buffers and our own backlog.
        #expect(sent.load(ordering: .relaxed) < 24 << 20)
        #expect(task.countOfBytesReceived < 4 << 20)
        sluggard.gate.signal()
        await run
        #expect(sluggard.count.withLock { $0 } == size)
    }
}
