import Foundation
import PintleTestKit
import PintleURLSession
import Testing

/// Background configurations: a task that the system does not support there is refused, before the system would end the
/// process.
@Suite("Apple: background sessions")
struct BackgroundTests {
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // Apple's `background(withIdentifier:)` sets it. Foundation for Linux has no such function.
        configuration.identifier = UUID().uuidString
        configuration.httpMaximumConnectionsPerHost = 1
        return configuration
    }

    private static func isRefusal(_ error: (any Error)?) -> Bool {
        guard let error = error as? URLError, error.code == .unsupportedURL else { return false }
        return (error.userInfo[NSUnderlyingErrorKey] as? SessionError)?.code == .unsupportedFeature
    }

    private static func file() throws -> (TemporaryDirectory, URL) {
        let directory = try TemporaryDirectory()
        try directory.write(Array("body".utf8), to: "body")
        return (directory, URL(fileURLWithPath: directory.path(of: "body")))
    }

    @Test("Async calls, completion handlers and uploads from memory are refused by name, and send nothing")
    func refused() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let (directory, file) = try Self.file()
        let request = URLRequest(url: try server.address())
        let session = URLSession.pinned(to: try fixture.policy(), configuration: Self.configuration)
        let awaited: [@Sendable () async throws -> Void] = [
            { _ = try await session.data(for: request) }, { _ = try await session.upload(for: request, from: Data()) },
            { _ = try await session.upload(for: request, fromFile: file) },
            { _ = try await session.download(for: request) },
        ]
        for work in awaited {
            let error = await #expect(throws: URLError.self) { try await work() }
            #expect(Self.isRefusal(error))
        }
        for style in 0..<4 {
            let error: (any Error)? = await withCheckedContinuation { continuation in
                let task =
                    switch style {
                    case 0: session.dataTask(with: request) { continuation.resume(returning: $2) }
                    case 1: session.uploadTask(with: request, from: Data()) { continuation.resume(returning: $2) }
                    case 2: session.uploadTask(with: request, fromFile: file) { continuation.resume(returning: $2) }
                    default:
                        session.downloadTask(with: request) { continuation.resume(returning: $2) } as URLSessionTask
                    }
                task.resume()
            }
            #expect(Self.isRefusal(error))
        }
        let listener = TaskEnds()
        let reporting = URLSession.pinned(
            to: try fixture.policy(), configuration: Self.configuration, delegate: listener)
        #expect(Self.isRefusal(await listener.end(of: reporting.uploadTask(with: request, from: Data()))))
        #expect(server.connectionCount == 0)
        withExtendedLifetime(directory) {}
    }

    @Test("Tasks that report to a delegate get the usual verdict: data, downloads, uploads from a file")
    func judged() async throws {
        let fixture = try SessionFixture()
        let (directory, file) = try Self.file()
        for isRight in [true, false] {
            let server = try fixture.server()
            let request = URLRequest(url: try server.address())
            let listener = TaskEnds()
            let session = URLSession.pinned(
                to: try fixture.policy(rightPin: isRight), configuration: Self.configuration, delegate: listener)
            let tasks = [
                session.dataTask(with: request), session.downloadTask(with: request),
                session.uploadTask(with: request, fromFile: file),
            ]
            for task in tasks {
                let error = await listener.end(of: task)
                #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == (isRight ? nil : "pin-mismatch"))
            }
            #expect(server.requests.count == (isRight ? 3 : 0))
            session.invalidateAndCancel()
        }
        withExtendedLifetime(directory) {}
    }

    @Test(
        "The session stays after a policy change, and uses a new connection if flush closes the old ones", .flushCloses)
    func changed() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let listener = TaskEnds()
        let session = URLSession.pinned(to: policy, configuration: Self.configuration, delegate: listener)
        let (system, url) = (session.current, try server.address())
        for _ in 0..<2 { #expect(await listener.end(of: session.dataTask(with: url)) == nil) }
        #expect(server.connectionCount == 1)
        policy.replace(with: try fixture.policy(rightPin: false))
        let error = await listener.end(of: session.dataTask(with: url))
        #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == "pin-mismatch")
        #expect(session.current === system)
        #expect(server.requests.count == 2)
        session.invalidateAndCancel()
    }
}

/// A delegate that reports how tasks end, one after the other.
final class TaskEnds: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private let ends = AsyncStream<(any Error)?>.makeStream()

    func end(of task: URLSessionTask) async -> (any Error)? {
        task.resume()
        for await error in ends.stream { return error }
        return nil
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(error)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}
}
