import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// The task object of an async call is made when it is needed.
@Suite("Pinned sessions: the tasks of async calls")
struct SessionAsyncTaskTests {
    enum Call: CaseIterable {
        case data, upload, download

        func run(_ session: URLSession, _ request: URLRequest) async throws -> URLResponse {
            var request = request
            if self == .upload { request.httpMethod = "POST" }
            return switch self {
            case .data: try await session.data(for: request).1
            case .upload: try await session.upload(for: request, from: Data("12345".utf8)).1
            case .download:
                try await download(session, request)
            }
        }

        private func download(_ session: URLSession, _ request: URLRequest) async throws -> URLResponse {
            let (file, response) = try await session.download(for: request)
            try FileManager.default.removeItem(at: file)
            return response
        }

        func isKind(of task: URLSessionTask) -> Bool {
            switch self {
            case .data: task is URLSessionDataTask && !(task is URLSessionUploadTask)
            case .upload: task is URLSessionUploadTask
            case .download: task is URLSessionDownloadTask
            }
        }
    }

    /// Keeps the task that a redirect was about, and follows the redirect.
    private final class Follower: NSObject, URLSessionTaskDelegate, Sendable {
        let seen = Mutex<URLSessionTask?>(nil)

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            seen.withLock { $0 = task }
            completionHandler(request)
        }
    }

    private func tasks(of session: URLSession) async -> [URLSessionTask] {
        await withCheckedContinuation { continuation in session.getAllTasks { continuation.resume(returning: $0) } }
    }

    /// Waits until the server has got a request.
    private func wait(for server: LoopbackTLSServer) async throws {
        for _ in 0..<3_000 where server.requests.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test("The list of tasks has one object for a running call, and none after its end", arguments: Call.allCases)
    func listed(call: Call) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let request = URLRequest(url: try server.address("slow"))
        let response = Task { try await call.run(session, request) }
        try await wait(for: server)
        let (first, second) = (await tasks(of: session), await tasks(of: session))
        let task = try #require(first.first)
        #expect(first.count == 1 && second.count == 1 && second.first === task)
        #expect(call.isKind(of: task))
        #expect(task.state == .running && task.originalRequest?.url == request.url)
        #expect(task.progress.completedUnitCount == (call == .upload ? 5 : 0))
        gate.signal()
        #expect(try await (response.value as? HTTPURLResponse)?.statusCode == 200)
        #expect(task.state == .completed && task.progress.isFinished)
        #expect(await tasks(of: session).isEmpty)
    }

    @Test("Cancelling the listed task ends the call", arguments: Call.allCases)
    func cancelled(call: Call) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let request = URLRequest(url: try server.address("slow"))
        let response = Task { try await call.run(session, request) }
        try await wait(for: server)
        try #require(await tasks(of: session).first).cancel()
        let error = await #expect(throws: URLError.self) { _ = try await response.value }
        #expect(error?.code == .cancelled)
        gate.signal()
        #expect(server.requests.count == 1)
    }

    @Test("A delegate gets the object that the list has", arguments: Call.allCases)
    func delegated(call: Call) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server { request in
            guard request.target == "/slow" else { return .redirect(to: "/slow") }
            _ = gate.wait(timeout: .now() + 300)
            return .ok
        }
        let delegate = Follower()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        defer { session.finishTasksAndInvalidate() }  // releases the delegate, which has a task of the session
        let request = URLRequest(url: try server.address("moved"))
        let response = Task { try await call.run(session, request) }
        for _ in 0..<3_000 where server.requests.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        let listed = await tasks(of: session)
        #expect(listed.count == 1 && listed.first === delegate.seen.withLock { $0 })
        gate.signal()
        #expect(try await response.value.url?.path == "/slow")
    }

    @Test("invalidateAndCancel ends a call whose task was never seen")
    func invalidated() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let request = URLRequest(url: try server.address("slow"))
        let response = Task { try await session.data(for: request).1 }
        try await wait(for: server)
        session.invalidateAndCancel()
        let error = await #expect(throws: URLError.self) { _ = try await response.value }
        #expect(error?.code == .cancelled)
        gate.signal()
        #expect(server.requests.count == 1)
    }

    @Test("A call on an invalidated session is cancelled", arguments: Call.allCases)
    func late(call: Call) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        session.invalidateAndCancel()
        let request = URLRequest(url: try server.address("late"))
        let error = await #expect(throws: URLError.self) { _ = try await call.run(session, request) }
        #expect(error?.code == .cancelled)
        #expect(server.requests.isEmpty)
    }

    @Test("Threads that ask for the object at the same time get the same one")
    func race() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let request = URLRequest(url: try server.address("slow"))
        let response = Task { try await session.data(for: request).1 }
        try await wait(for: server)
        let loader = try #require(session.resources.registry.loaders.first)
        let objects = await withTaskGroup(of: ObjectIdentifier?.self) { group in
            for _ in 0..<64 { group.addTask { loader.task.map { ObjectIdentifier($0) } } }
            return await group.reduce(into: Set<ObjectIdentifier?>()) { $0.insert($1) }
        }
        #expect(objects.count == 1 && !objects.contains(nil))
        gate.signal()
        _ = try await response.value
    }
}
