import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Streams that are longer than the length that their requests declare. The peer here is the app: the server would
    /// take a part for the whole.
    @Suite("Streams longer than declared")
    struct LongStreams {
        enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case body, streamedUpload, async, download
            var testDescription: String { rawValue }
        }

        /// The lengths that matter: none, within one piece of the reader, its border, several pieces.
        static let lengths = [0, 1, 10, 128 << 10, (128 << 10) + 1, 700_000]

        @Test(
            "A stream that is longer than declared fails, and one of that length is sent whole",
            arguments: Kind.allCases, lengths)
        func excess(kind: Kind, length: Int) async throws {
            for isHTTP2 in [false, true] {
                for excess in [0, 1, 100_000] { try await check(kind, length, excess, isHTTP2) }
            }
        }

        private func check(_ kind: Kind, _ length: Int, _ excess: Int, _ isHTTP2: Bool) async throws {
            let fixture = try SessionFixture()
            let sizes = Mutex<[Int]>([])
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                if isHTTP2 { configuration.applicationProtocols = ["h2"] }
                configuration.application = .http { request in
                    sizes.withLock { $0.append(request.body.count) }
                    // libcurl reads nothing of an empty upload, so the stream is looked at while the server works.
                    if length == 0 { usleep(100_000) }
                    return .ok
                }
            }
            let data = Data(repeating: 7, count: length + excess)
            let delegate = RecordingDelegate(stream: { InputStream(data: data) })
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try server.address())
            request.httpMethod = "POST"
            request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            if kind != .streamedUpload { request.httpBodyStream = InputStream(data: data) }
            let error: URLError?
            switch kind {
            case .body: error = await Self.run(session.dataTask(with: request), delegate)
            case .streamedUpload:
                error = await Self.run(session.uploadTask(withStreamedRequest: request), delegate)
            case .download: error = await Self.run(session.downloadTask(with: request), delegate)
            case .async:
                do {
                    _ = try await session.data(for: request)
                    error = nil
                } catch let thrown {
                    error = thrown as? URLError
                }
            }
            #expect((error == nil) == (excess == 0), "\(excess) \(isHTTP2)")
            #expect(error?.refusal == (excess == 0 ? nil : .invalidRequest))
            if excess == 0 { #expect(sizes.withLock { $0 } == [length]) }
        }

        private static func run(_ task: URLSessionTask, _ delegate: RecordingDelegate) async -> URLError? {
            await delegate.run(task)
            return delegate.error
        }

        @Test("A stream that stays open does not delay its request, and a later byte of it fails the task")
        func open() async throws {
            let fixture = try SessionFixture()
            let session = URLSession.pinned(to: try fixture.policy())
            for isLonger in [false, true] {
                let gate = DispatchSemaphore(value: 0)
                let server = try fixture.server(behind: gate)
                let ending = OpenStream.Ending()
                var request = URLRequest(url: try server.address())
                request.httpMethod = "POST"
                request.setValue("7", forHTTPHeaderField: "Content-Length")
                request.httpBodyStream = OpenStream(Array("pay 100".utf8), ending)
                let body = request
                let result = Task { try await session.data(for: body).1 as? HTTPURLResponse }
                // The server reads the whole request while the stream stays open.
                #expect(await server.hasRequest())
                if isLonger {
                    ending.finish(with: 1)
                    let error = await #expect(throws: URLError.self) { _ = try await result.value }
                    #expect(error?.refusal == .invalidRequest)
                    gate.signal()
                } else {
                    gate.signal()
                    #expect(try await result.value?.statusCode == 200)
                    ending.finish(with: 0)
                }
            }
        }
    }
}

/// A stream that gives some bytes and then blocks until the test ends it. Like many streams of apps, it cannot tell
/// beforehand whether it has more.
private final class OpenStream: InputStream {
    /// The test's side of the stream.
    final class Ending: Sendable {
        private let count = Mutex(0)
        private let semaphore = DispatchSemaphore(value: 0)

        func finish(with count: Int) {
            self.count.withLock { $0 = count }
            semaphore.signal()
        }

        fileprivate func wait() -> Int {
            semaphore.wait()
            return count.withLock { $0 }
        }
    }

    private let bytes: [UInt8]
    private let ending: Ending
    private var hasGiven = false

    init(_ bytes: [UInt8], _ ending: Ending) {
        self.bytes = bytes
        self.ending = ending
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { .open }
    override var hasBytesAvailable: Bool { true }
    override func open() {}
    override func close() {}

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard hasGiven else {
            hasGiven = true
            buffer.update(from: bytes, count: min(bytes.count, count))
            return min(bytes.count, count)
        }
        return ending.wait()
    }
}
