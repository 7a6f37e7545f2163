import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Objects that have ended release what they hold.
@Suite("Pinned sessions: lifetimes")
struct SessionLifetimeTests {
    /// Weak references to a session and its delegate.
    private struct Watched {
        weak var session: URLSession?
        weak var delegate: DelayedDelegate?

        /// Waits until the delegate queue and the transport have released their references.
        func areGone() async -> Bool {
            for _ in 0..<1_000 where session != nil || delegate != nil {
                try? await Task.sleep(for: .milliseconds(10))
            }
            return session == nil && delegate == nil
        }
    }

    private func server(_ fixture: SessionFixture) throws -> LoopbackTLSServer {
        try fixture.server { request in
            switch request.target {
            case "/guarded": .unauthorized(challenge: "Basic realm=\"a\"")
            case "/moved": .redirect(to: "/end")
            default: .ok
            }
        }
    }

    /// Makes a session whose delegate is asked a question and answers it or keeps the handler. Then ends the session or
    /// cancels the task.
    private func leave(_ path: String, isLate: Bool, isTasks: Bool, ends: Bool) async throws -> Watched {
        let fixture = try SessionFixture()
        let server = try server(fixture)
        let delegate = DelayedDelegate(.credential, isLate: isLate)
        let session = URLSession.pinned(
            to: try fixture.policy(), configuration: .ephemeral, delegate: isTasks ? nil : delegate)
        var request = URLRequest(url: try server.address(path))
        if path == "stream" { request.httpMethod = "POST" }
        let task: URLSessionTask =
            path == "stream" ? session.uploadTask(withStreamedRequest: request) : session.dataTask(with: request)
        if isTasks { task.delegate = delegate }
        task.resume()
        let question =
            switch path {
            case "guarded": "challenge a"
            case "moved": "redirect"
            case "stream": "stream"
            default: "response 200"
            }
        #expect(await delegate.has(question))
        if ends { session.invalidateAndCancel() } else { task.cancel() }
        #expect(await delegate.has("complete"))
        return Watched(session: session, delegate: delegate)
    }

    @Test(
        "A finished session and its delegate are released, whatever handlers the delegate has kept",
        arguments: ["guarded", "moved", "stream", "plain"], [true, false])
    func handlers(path: String, isLate: Bool) async throws {
        for isTasks in [true, false] {
            for ends in [true, false] {
                let watched = try await leave(path, isLate: isLate, isTasks: isTasks, ends: ends)
                #expect(await watched.areGone(), "the task's: \(isTasks), invalidated: \(ends)")
            }
        }
    }

    @Test("A session keeps its delegate until it is invalidated, and no longer", arguments: [true, false])
    func delegate(ends: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture)
        var watched = Watched()
        let session: URLSession
        do {
            let delegate = DelayedDelegate(.credential, isLate: true)
            watched.delegate = delegate
            session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            let task = session.dataTask(with: try server.address("guarded"))
            task.resume()
            #expect(await delegate.has("challenge a"))
            task.cancel()
            #expect(await delegate.has("complete"))
        }
        if ends {
            session.invalidateAndCancel()
            #expect(await watched.areGone())
        } else {
            #expect(watched.delegate != nil)
        }
        withExtendedLifetime(session) {}
    }

    @Test("The deinit of a delegate may call its task")
    func replaced() async throws {
        final class FinalDelegate: NSObject, URLSessionTaskDelegate, Sendable {
            let task: PinnedDataTask
            let said: @Sendable (URLSessionTask.State) -> Void

            init(_ task: PinnedDataTask, _ said: @escaping @Sendable (URLSessionTask.State) -> Void) {
                self.task = task
                self.said = said
            }

            deinit { said(task.state) }
        }
        let fixture = try SessionFixture()
        let session = URLSession.pinned(to: try fixture.policy(), options: CurlTransport.Options())
        let states = Mutex<[URLSessionTask.State]>([])
        let url = try #require(URL(string: "https://localhost:1/"))
        let task = PinnedDataTask(
            TaskLoader(session, session.resources, request: URLRequest(url: url), delivery: .delegate))
        task.delegate = FinalDelegate(task) { state in states.withLock { $0.append(state) } }
        task.delegate = nil
        #expect(states.withLock { $0 } == [.suspended])
        // A session keeps a task that was never resumed, and the task keeps its session.
        session.invalidateAndCancel()
    }

    @Test("No callback runs after the completion, and earlier ones do run", arguments: [true, false])
    func silence(isOver: Bool) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: isOver ? 1 : 0)
        let server = try fixture.server(behind: gate)
        let delegate = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let task = try #require(session.dataTask(with: try server.address()) as? PinnedDataTask)
        async let run: Void = delegate.run(task)
        if isOver { await run } else { #expect(await server.hasRequest()) }
        let wasTold = Atomic<Int>.Box()
        task.loader.outbox.send { _, _ in wasTold.value.add(1, ordering: .relaxed) }
        await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation { continuation.resume() }
        }
        #expect(wasTold.value.load(ordering: .relaxed) == (isOver ? 0 : 1))
        gate.signal()
        await run
    }

    @Test("An answer that races with the end has an effect before the end or not at all")
    func race() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in
            .unauthorized(challenge: "Digest realm=\"b\", nonce=\"n\", qop=\"auth\", Basic realm=\"a\"")
        }
        for _ in 0..<60 {
            let delegate = DelayedDelegate(.reject, isLate: true)
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            let task = session.dataTask(with: try server.address())
            task.resume()
            #expect(await delegate.has("challenge b"))
            async let answer: Void = aside { delegate.giveAnswers() }
            task.cancel()
            try await answer
            #expect(await delegate.has("complete"))
            await delegate.catchUp(on: session)
            #expect(delegate.events.last == "complete")
            session.invalidateAndCancel()
        }
    }
}
