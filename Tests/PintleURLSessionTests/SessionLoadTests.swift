import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Many tasks that end in every way at any moment. Each has to end exactly once.
@Suite("Pinned sessions: many at once")
struct SessionLoadTests {
    private let fixture: SessionFixture
    private let server: LoopbackTLSServer

    init() throws {
        fixture = try SessionFixture()
        server = try fixture.server { .text(String(repeating: "x", count: $0.target.utf8.count % 7 * 20_000)) }
    }

    /// A count of how tasks ended.
    private final class Ends: Sendable {
        struct Count {
            var complete = 0
            var cancelled = 0
            var others: [String] = []
            var total: Int { complete + cancelled + others.count }
        }

        let count = Mutex(Count())

        func note(_ error: (any Error)?) {
            count.withLock { count in
                switch (error as? URLError)?.code {
                case nil where error == nil: count.complete += 1
                case .cancelled?: count.cancelled += 1
                default: count.others.append("\(error as Any)")
                }
            }
        }

        func reach(_ total: Int) async {
            for _ in 0..<6_000 where count.withLock({ $0.total }) < total {
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    private func tasks(_ session: URLSession, _ count: Int, _ ends: Ends) throws -> [URLSessionTask] {
        try (0..<count).map { number in
            let url = try server.address(String(repeating: "p", count: number % 11))
            var request = URLRequest(url: url)
            switch number % 3 {
            case 0: return session.dataTask(with: request) { _, _, error in ends.note(error) }
            case 1: return session.downloadTask(with: request) { _, _, error in ends.note(error) }
            default:
                request.httpMethod = "PUT"
                return session.uploadTask(with: request, from: Data(count: number * 100)) { _, _, error in
                    ends.note(error)
                }
            }
        }
    }

    @Test("Tasks that are cancelled, suspended and resumed at any moment end exactly once")
    func cancellations() async throws {
        let session = URLSession.pinned(to: try fixture.policy())
        let ends = Ends()
        let tasks = try tasks(session, 400, ends)
        await withTaskGroup(of: Void.self) { group in
            for (number, task) in tasks.enumerated() {
                group.addTask {
                    task.resume()
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<60_000)))
                    if number % 5 == 0 {
                        task.suspend()
                        await Task.yield()
                        task.resume()
                    }
                    if number % 4 != 0 { task.cancel() }
                }
            }
        }
        await ends.reach(tasks.count)
        let count = ends.count.withLock { $0 }
        #expect(count.total == tasks.count)
        #expect(count.others.isEmpty)
        #expect(count.complete >= tasks.count / 4)
        #expect(tasks.allSatisfy { $0.state == .completed })
        // The session still works.
        #expect(try await session.data(from: try server.address("pp")).0.count == 60_000)
    }

    @Test("Swift tasks that are cancelled at any moment end as cancelled or with a response")
    func asynchronous() async throws {
        let session = URLSession.pinned(to: try fixture.policy())
        let ends = Ends()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                let style = TaskStyle.allCases[number % TaskStyle.allCases.count]
                guard style.rawValue.hasSuffix("Async") else { continue }
                group.addTask { [server] in
                    let task = Task { try await style.run(on: session, URLRequest(url: try server.address("ppp"))) }
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<40_000)))
                    if number % 3 != 0 { task.cancel() }
                    switch await task.result {
                    case .success: ends.note(nil)
                    case .failure(let error): ends.note(error)
                    }
                }
            }
        }
        let count = ends.count.withLock { $0 }
        #expect(count.others.isEmpty)
        #expect(count.complete > 0)
    }

    @Test(
        "A session that is invalidated under load ends every task and then reports that it is invalid",
        arguments: [true, false])
    func invalidation(cancels: Bool) async throws {
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let ends = Ends()
        let tasks = try tasks(session, 200, ends)
        await withTaskGroup(of: Void.self) { group in
            for task in tasks {
                group.addTask {
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000)))
                    task.resume()
                }
            }
            group.addTask {
                try? await Task.sleep(for: .milliseconds(10))
                if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
            }
        }
        await ends.reach(tasks.count)
        let count = ends.count.withLock { $0 }
        #expect(count.total == tasks.count)
        #expect(count.others.isEmpty)
        for _ in 0..<500 where recorder.events.last != "invalid" {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(recorder.events.count { $0 == "invalid" } == 1)
        #expect(recorder.events.last == "invalid")
    }
}
