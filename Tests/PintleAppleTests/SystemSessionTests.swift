import Foundation
import PintleTestKit
import PintleURLSession
import Testing

/// Calls of the delegate of a session that uses several system sessions, because the policy changed.
@Suite("Apple: a delegate across changes of the policy")
struct SystemSessionTests {
    /// A delegate that holds its queue until a second call has come, or for a moment.
    private final class HoldingDelegate: NSObject, URLSessionDataDelegate {
        private struct State: Sendable {
            var inside = 0
            var most = 0
            var events: [String] = []
        }

        private let state = Locked(State())
        private let isTwice = DispatchSemaphore(value: 0)
        private let ends = AsyncStream<Void>.makeStream()

        /// The largest number of calls at once.
        var most: Int { state.withLock { $0.most } }
        var events: [String] { state.withLock { $0.events } }

        func waitForEnds(_ count: Int) async {
            var left = count
            for await _ in ends.stream {
                left -= 1
                if left == 0 { return }
            }
        }

        private func enter(_ event: String) {
            let isSecond = state.withLock { state in
                state.events.append(event)
                state.inside += 1
                state.most = max(state.most, state.inside)
                return state.inside > 1
            }
            if isSecond { isTwice.signal() } else { _ = isTwice.wait(timeout: .now() + 0.3) }
            state.withLock { $0.inside -= 1 }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            enter("data")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            enter(error == nil ? "end" : "failure")
            ends.continuation.yield()
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            enter("invalid")
            ends.continuation.yield()
        }
    }

    @Test("Tasks from before and after a change call the delegate one at a time", arguments: [true, false])
    func serial(isOnOneQueue: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let delegate = HoldingDelegate()
        // The control: a queue of the caller that is not serial.
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let session = URLSession.pinned(
            to: policy, configuration: .ephemeral, delegate: delegate, delegateQueue: isOnOneQueue ? nil : queue)
        let url = try server.address()
        let tasks = try (0..<3).map { _ in
            let task = session.dataTask(with: url)
            policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
            return task
        }
        // Each system session counts for itself.
        #expect(Set(tasks.map(\.taskIdentifier)) == [1])
        for task in tasks { task.resume() }
        await delegate.waitForEnds(3)
        #expect((delegate.most == 1) == isOnOneQueue)
        #expect(delegate.events.count { $0 == "end" } == 3)
        session.finishTasksAndInvalidate()
    }

    /// A server that answers `/old` once the gate opens.
    private static func server(_ fixture: SessionFixture, behind gate: DispatchSemaphore) throws -> LoopbackTLSServer {
        try fixture.server { request in
            if request.target == "/old" { _ = gate.wait(timeout: .now() + 60) }
            return .ok
        }
    }

    @Test(
        "The delegate hears of the end once, after the last task from before the change",
        arguments: [true, false])
    func finish(isReleased: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try Self.server(fixture, behind: gate)
        let policy = LivePolicy(try fixture.policy())
        let delegate = HoldingDelegate()
        var session: PinnedURLSession? = URLSession.pinned(
            to: policy, configuration: .ephemeral, delegate: delegate)
        session?.dataTask(with: try server.address("old")).resume()
        policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
        session?.dataTask(with: try server.address("new")).resume()
        if isReleased { session = nil } else { session?.finishTasksAndInvalidate() }
        await delegate.waitForEnds(1)
        #expect(delegate.events == ["data", "end"])
        gate.signal()
        await delegate.waitForEnds(2)
        #expect(delegate.events == ["data", "end", "data", "end", "invalid"])
    }

    @Test("Cancelling a session ends the tasks from before a change too, and then the delegate hears of the end")
    func cancel() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let server = try Self.server(fixture, behind: gate)
        let policy = LivePolicy(try fixture.policy())
        let delegate = HoldingDelegate()
        let session = URLSession.pinned(to: policy, configuration: .ephemeral, delegate: delegate)
        session.dataTask(with: try server.address("old")).resume()
        policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
        session.dataTask(with: try server.address("old")).resume()
        session.invalidateAndCancel()
        await delegate.waitForEnds(3)
        #expect(delegate.events == ["failure", "failure", "invalid"])
    }

    @Test("A task that a background session refuses does not repeat the end of the session")
    func refused() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.identifier = UUID().uuidString
        let delegate = HoldingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, delegate: delegate)
        let request = URLRequest(url: try server.address())
        session.uploadTask(with: request, from: Data()).resume()
        await delegate.waitForEnds(1)
        session.finishTasksAndInvalidate()
        await delegate.waitForEnds(1)
        session.uploadTask(with: request, from: Data()).resume()
        await delegate.waitForEnds(1)
        #expect(delegate.events == ["failure", "invalid", "failure"])
    }
}
