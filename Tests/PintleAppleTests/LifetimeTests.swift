import Foundation
import PintleTestKit
import PintleURLSession
import Testing

/// The end of the system's sessions. It must never come while a task is made, which would end the process.
@Suite("Apple: lifetime of sessions")
struct LifetimeTests {
    @Test("Tasks that are made during policy changes are made in a session that is still valid")
    func changes() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy)
        let (url, another) = (try server.address(), try fixture.policy())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        policy.replace(with: another)
                        session.dataTask(with: url) { _, _, _ in }.cancel()
                    }
                }
            }
            group.addTask {
                for _ in 0..<20 { _ = try? await session.data(from: url) }
            }
        }
        #expect(try await session.data(from: url).0.count == 3)
    }

    @Test("A session without references finishes its tasks and releases its delegate")
    func dropped() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let ended = Locked(false)
        let listener = Listener()
        var session: PinnedURLSession? = URLSession.pinned(
            to: try fixture.policy(), configuration: .ephemeral, delegate: listener)
        let task = session?.dataTask(with: try server.address()) { data, _, _ in ended.withLock { $0 = data != nil } }
        session = nil
        #expect(!listener.isInvalid)
        task?.resume()
        for _ in 0..<500 where !listener.isInvalid { try await Task.sleep(for: .milliseconds(10)) }
        #expect(listener.isInvalid)
        #expect(ended.withLock { $0 })
    }

    @Test(
        "If flush closes connections, an app's own session sends nothing over those of an earlier policy",
        .flushCloses)
    func ownSession() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let reasons = Locked<[String]>([])
        let delegate = PinningSessionDelegate(policy) { evaluation in
            reasons.withLock { $0.append(evaluation.decision.reason) }
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let url = try server.address()
        for _ in 0..<3 { _ = try await session.data(from: url) }
        #expect(server.connectionCount == 1)
        policy.replace(with: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .cancelled)
        #expect(TrustRejection(underlying: session.explain(try #require(error)))?.reason == "pin-mismatch")
        #expect(reasons.withLock { $0 } == ["pin-matched", "pin-mismatch"])
        #expect(server.requests.count == 3 && server.connectionCount == 2)
        // Control: another policy that accepts the server.
        policy.replace(with: try fixture.policy())
        #expect(try await session.data(from: url).0.count == 3)
        #expect(server.requests.count == 4 && reasons.withLock { $0.last } == "pin-matched")
        session.invalidateAndCancel()
    }

    @Test("Cancelling also ends tasks that were left to finish; without it they finish")
    func cancelledAfterwards() async throws {
        let fixture = try SessionFixture()
        for isCancelled in [true, false] {
            var configuration = TLSServerConfiguration(.init(fixture.identity))
            if isCancelled { configuration.stall = .midHandshake(seconds: 60) }
            let server = try LoopbackTLSServer(configuration)
            let session = URLSession.pinned(to: try fixture.policy())
            let url = try server.address()
            let error: (any Error)? = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: url) { continuation.resume(returning: $2) }
                task.resume()
                session.finishTasksAndInvalidate()
                if isCancelled { session.invalidateAndCancel() }
            }
            #expect((error as? URLError)?.code == (isCancelled ? .cancelled : nil))
        }
    }

    @Test("Cancelling a session ends its async calls")
    func cancelled() async throws {
        let fixture = try SessionFixture()
        var configuration = TLSServerConfiguration(.init(fixture.identity))
        configuration.stall = .midHandshake(seconds: 60)
        let server = try LoopbackTLSServer(configuration)
        let listener = Listener()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: listener)
        let work = Task { try await session.data(from: try server.address()) }
        for _ in 0..<500 where server.connectionCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
        session.invalidateAndCancel()
        let error = await #expect(throws: URLError.self) { try await work.value }
        #expect(error?.code == .cancelled)
        for _ in 0..<500 where !listener.isInvalid { try await Task.sleep(for: .milliseconds(10)) }
        #expect(listener.isInvalid)
    }
}

private final class Listener: NSObject, URLSessionDelegate {
    private let state = Locked(false)

    var isInvalid: Bool { state.withLock { $0 } }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        state.withLock { $0 = true }
    }
}
