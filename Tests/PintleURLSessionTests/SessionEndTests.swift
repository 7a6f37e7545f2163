import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// The effect of invalidating a session on its tasks, and the tasks that a session lists.
@Suite("Pinned sessions: the end of a session")
struct SessionEndTests {
    private func session(
        _ kind: SessionKind, _ fixture: SessionFixture, delegate: (any URLSessionDelegate)? = nil
    ) throws -> URLSession {
        switch kind {
        case .pinned: .pinned(to: try fixture.unpinned(), configuration: .ephemeral, delegate: delegate)
        case .stock: URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        }
    }

    enum SessionKind: CaseIterable { case pinned, stock }

    @Test("invalidateAndCancel ends a task that was never resumed, with error -999", arguments: SessionKind.allCases)
    func neverResumed(kind: SessionKind) async throws {
        let delegate = Recorder()
        let session = try session(kind, SessionFixture(), delegate: delegate)
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let errors = Mutex<[Int]>([])
        // Only the session keeps the first task.
        _ = session.dataTask(with: url) { _, _, error in
            errors.withLock { $0.append((error as? URLError)?.errorCode ?? 0) }
        }
        let download = session.downloadTask(with: url) { _, _, error in
            errors.withLock { $0.append((error as? URLError)?.errorCode ?? 0) }
        }
        let upload = session.uploadTask(with: URLRequest(url: url), from: Data())
        session.invalidateAndCancel()
        for _ in 0..<500 where !delegate.events.contains("invalid") || upload.state != .completed {
            try await Task.sleep(for: .milliseconds(10))
        }
        for _ in 0..<500 where errors.withLock({ $0.count }) < 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(errors.withLock { $0 } == [-999, -999])
        // Foundation releases its delegate before it could call it.
        if kind == .pinned {
            #expect(delegate.events.contains("complete"))
            #expect((delegate.log.withLock { $0.error } as? URLError)?.code == .cancelled)
        }
        #expect(download.state == .completed && upload.state == .completed)
        #expect(delegate.events.contains("invalid"))
    }

    @Test("finishTasksAndInvalidate lets earlier tasks run, but no later ones", arguments: [true, false])
    func finish(isEarly: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let delegate = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let early = session.dataTask(with: try server.address())
        session.finishTasksAndInvalidate()
        if isEarly {
            await delegate.run(early)
            #expect((early.response as? HTTPURLResponse)?.statusCode == 200)
        } else {
            let late = session.dataTask(with: try server.address())
            await delegate.run(late)
            #expect((late.error as? URLError)?.code == .cancelled)
            #expect(server.requests.isEmpty)
            early.cancel()
        }
        for _ in 0..<500 where delegate.events.last != "invalid" { try await Task.sleep(for: .milliseconds(10)) }
        #expect(delegate.events.last == "invalid")
    }

    @Test("A session lists the tasks that were resumed and have not ended", arguments: SessionKind.allCases)
    func list(kind: SessionKind) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try LoopbackTCPServer.http { request in
            if request.target == "/slow" { _ = gate.wait(timeout: .now() + 300) }
            return .ok
        }
        let session = try session(kind, fixture)
        func url(_ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(server.port)/\(path)"))
        }
        let unstarted = session.dataTask(with: try url("unstarted"))
        let running = session.dataTask(with: try url("slow"))
        let suspended = session.dataTask(with: try url("slow"))
        running.resume()
        suspended.resume()
        // Foundation's own session may trap if a task is suspended right after it was resumed.
        if kind == .pinned { suspended.suspend() }
        // A task whose handler is running counts as ended.
        let listed = try await withCheckedThrowingContinuation { continuation in
            do {
                session.dataTask(with: try url("fast")) { _, _, _ in
                    session.getAllTasks { continuation.resume(returning: $0.map(\.taskIdentifier)) }
                }.resume()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(Set(listed) == [running.taskIdentifier, suspended.taskIdentifier])
        #expect(!listed.contains(unstarted.taskIdentifier))
        gate.signal()
        gate.signal()
        session.invalidateAndCancel()
    }
}
