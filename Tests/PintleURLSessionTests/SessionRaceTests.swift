import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Commands, answers and events that come from several threads at the same time.
@Suite("Pinned sessions: races")
struct SessionRaceTests {
    /// A delegate that answers each question twice, from two other threads, and counts how often each task ends. If it
    /// refuses, one of its two answers about a response cancels the task.
    final class HastyDelegate: NSObject, URLSessionDataDelegate, Sendable {
        let ends = Mutex<[Int: [Int]]>([:])
        let callbacksAfterEnd = Atomic<Int>(0)
        private let refuses: Bool

        init(refuses: Bool) {
            self.refuses = refuses
        }

        private func twice(_ task: URLSessionTask, _ answer: @escaping @Sendable (_ isFirst: Bool) -> Void) {
            if ends.withLock({ $0[task.taskIdentifier] != nil }) { callbacksAfterEnd.add(1, ordering: .relaxed) }
            for isFirst in [true, false] { DispatchQueue.global().async { answer(isFirst) } }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            twice(task) { _ in completionHandler(request) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let credential = URLCredential(user: "a", password: "b", persistence: .none)
            twice(task) { _ in completionHandler(.useCredential, credential) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            twice(task) { _ in completionHandler(InputStream(data: Data(count: SessionRaceTests.size))) }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let other: URLSession.ResponseDisposition = refuses ? .cancel : .allow
            twice(dataTask) { completionHandler($0 ? .allow : other) }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            if ends.withLock({ $0[dataTask.taskIdentifier] != nil }) { callbacksAfterEnd.add(1, ordering: .relaxed) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let code = (error as? URLError)?.errorCode ?? 0
            ends.withLock { $0[task.taskIdentifier, default: []].append(code) }
        }
    }

    static let size = 300_000

    private func server(_ fixture: SessionFixture) throws -> LoopbackTLSServer {
        try fixture.server { request in
            switch request.target {
            case "/guarded" where request["authorization"] == nil: .unauthorized(challenge: "Basic realm=\"a\"")
            case "/moved": .redirect(to: "/moved/again")
            case "/moved/again": .redirect(to: "/end")
            default:
                HTTPResponse(status: 200, reason: "OK", fields: [], body: [UInt8](repeating: 0x78, count: Self.size))
            }
        }
    }

    @Test(
        "A task ends once, whatever its delegate answers and whenever it is cancelled",
        arguments: ["moved", "guarded", "plain", "stream"], [true, false])
    func ends(path: String, isCancelled: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture)
        let delegate = HastyDelegate(refuses: isCancelled)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let count = 40
        for index in 0..<count {
            var request = URLRequest(url: try server.address(path == "stream" ? "guarded" : path))
            let task: URLSessionTask
            if path == "stream" {
                request.httpMethod = "POST"
                task = session.uploadTask(withStreamedRequest: request)
            } else {
                task = session.dataTask(with: request)
            }
            task.resume()
            if isCancelled {
                for thread in 0..<3 {
                    DispatchQueue.global().async {
                        usleep(UInt32(index * 400 + thread * 50))
                        thread == 1 ? task.suspend() : task.cancel()
                    }
                }
            }
        }
        for _ in 0..<3_000 where delegate.ends.withLock({ $0.count }) < count {
            try await Task.sleep(for: .milliseconds(10))
        }
        // If there were a second end, it would have come by then.
        await withCheckedContinuation { done in session.delegateQueue.addOperation { done.resume() } }
        let ends = delegate.ends.withLock { $0 }
        #expect(ends.count == count && ends.values.allSatisfy { $0.count == 1 })
        #expect(delegate.callbacksAfterEnd.load(ordering: .relaxed) == 0)
        // Of the two answers to the last question, the one that cancels may come first.
        let cancelled = [URLError.Code.cancelled.rawValue]
        #expect(ends.values.allSatisfy { $0 == [0] || (isCancelled && $0 == cancelled) })
        session.invalidateAndCancel()
    }

    @Test("A task that threads suspend as often as they resume it runs to its end")
    func suspensions() async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let ends = Atomic<Int>.Box()
        var tasks: [URLSessionTask] = []
        for _ in 0..<20 {
            let task = session.dataTask(with: try server.address("plain")) { data, _, _ in
                if data?.count == Self.size { ends.value.add(1, ordering: .relaxed) }
            }
            tasks.append(task)
            task.resume()
            for _ in 0..<3 { DispatchQueue.global().async { Self.suspendAndResume(task) } }
        }
        for _ in 0..<3_000 where ends.value.load(ordering: .relaxed) < tasks.count {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(ends.value.load(ordering: .relaxed) == tasks.count)
        #expect(tasks.allSatisfy { $0.state == .completed })
        session.invalidateAndCancel()
    }

    @Test(
        "A task that threads suspend once more than they resume it receives nothing until it is resumed",
        arguments: [true, false])
    func runningSuspension(staysSuspended: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let count = 4
        let half = [UInt8](repeating: 0x78, count: 1_000)
        let server = try fixture.server(stream: { stream in
            guard (try? stream.read(upTo: 1 << 16))?.isEmpty == false else { return }
            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(2 * half.count)\r\n\r\n".utf8) + half)
            _ = gate.wait(timeout: .now() + 300)
            try? stream.write(half)
        })
        let other = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        let ends = Atomic<Int>.Box()
        let tasks = try (0..<count).map { _ in
            session.dataTask(with: try server.address()) { data, _, _ in
                if data?.count == 2 * half.count { ends.value.add(1, ordering: .relaxed) }
            }
        }
        for task in tasks { task.resume() }
        for _ in 0..<3_000 where !tasks.allSatisfy({ $0.countOfBytesReceived == half.count }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        for task in tasks {
            try await aside {
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    if thread == 0, staysSuspended { task.suspend() } else { Self.suspendAndResume(task) }
                }
            }
        }
        #expect(tasks.allSatisfy { $0.state == (staysSuspended ? .suspended : .running) })
        // The transport performs commands in order, so it has performed all of the above before this request.
        _ = try await session.data(from: try other.address())
        for _ in tasks { gate.signal() }
        for _ in 0..<(staysSuspended ? 50 : 3_000) where ends.value.load(ordering: .relaxed) < count {
            try await Task.sleep(for: .milliseconds(10))
        }
        if staysSuspended {
            #expect(ends.value.load(ordering: .relaxed) == 0)
            #expect(tasks.allSatisfy { $0.countOfBytesReceived == half.count && $0.state == .suspended })
            for task in tasks { task.resume() }
            for _ in 0..<3_000 where ends.value.load(ordering: .relaxed) < count {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        #expect(ends.value.load(ordering: .relaxed) == count)
        session.invalidateAndCancel()
    }

    private static func suspendAndResume(_ task: URLSessionTask) {
        for _ in 0..<50 {
            task.suspend()
            task.resume()
        }
    }
}
