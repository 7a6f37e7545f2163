import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// Delegates of single tasks, which the system asks before the session's.
@Suite("Apple: delegates of tasks")
struct TaskDelegateTests {
    @Test("A task's delegate does not get between the policy and the server", arguments: [true, false])
    func trust(isRight: Bool) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server { HTTPResponse(status: 200, body: $0.body) }
        let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight, anchors: .system))
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        let body = Data("secret".utf8)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (permissive, url) = (Permissive(), try server.address())
        let styles: [@Sendable (URLRequest) async throws -> Void] = [
            { _ = try await session.data(for: $0, delegate: permissive) },
            { _ in _ = try await session.data(from: url, delegate: permissive) },
            { _ = try await session.upload(for: $0, from: body, delegate: permissive) },
            { _ = try await session.upload(for: $0, fromFile: file, delegate: permissive) },
            { _ = try await session.download(for: $0, delegate: permissive) },
            { _ in _ = try await session.download(from: url, delegate: permissive) },
        ]
        for style in styles {
            do {
                try await style(request)
                #expect(isRight)
            } catch {
                #expect(TrustRejection(underlying: error)?.reason == "pin-mismatch")
                #expect(!isRight)
            }
        }
        #expect(permissive.questions == 0)
        #expect(server.waitUntilClosed(connections: styles.count))
        #expect((server.requestByteCount == 0) == !isRight)
    }

    @Test("In a system session, a task's delegate that is set after the task was made bypasses the policy")
    func stored() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let policy = try fixture.policy(rightPin: false, anchors: .system)
        let session: URLSession = .pinned(to: policy)
        let url = try server.address()
        // The problem that the article warns of.
        #expect(await session.end(of: url, with: Permissive()).status == 200)
        let permissive = Permissive()
        let error = await #expect(throws: URLError.self) {
            try await session.data(from: url, delegate: session.guarding(permissive))
        }
        #expect(error?.code == .cancelled && permissive.questions == 0)
        // The guarded delegate shares the rejections of the session's delegate.
        #expect(TrustRejection(underlying: session.explain(try #require(error)))?.reason == "pin-mismatch")
        session.invalidateAndCancel()
    }

    /// A delegate that has only the method of a task for challenges.
    private final class TaskMethod: NSObject, URLSessionTaskDelegate {
        let questions = Locked(0)

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            questions.withLock { $0 += 1 }
            completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
    }

    @Test("A task made with an unguarded delegate that would be asked about servers is cancelled, with a typed error")
    func unguarded() async throws {
        for isRight in [true, false] {
            let fixture = try SessionFixture(isSystem: true)
            let server = try fixture.server()
            let url = try server.address()
            let session: URLSession = .pinned(to: try fixture.policy(rightPin: isRight, anchors: .system))
            let own = PermissiveDelegate()
            let end = await session.awaited(url, with: own)
            #expect((end.error as? URLError)?.code == .cancelled)
            let explained = session.explained(end)
            #expect(explained.refusal == .unguardedDelegate && explained.reason == nil)
            #expect((explained.error as? URLError)?.code == .secureConnectionFailed)
            #expect(explained.error?.localizedDescription.contains("guarding") == true)
            #expect(own.trustQuestions == 0 && server.connectionCount == 0)
            // The twins: the same delegate, guarded; and one with only the method of a task, which is not asked.
            let task = TaskMethod()
            for delegate in [session.guarding(own), task] as [any URLSessionTaskDelegate] {
                let end = session.explained(await session.awaited(url, with: delegate))
                #expect(end.status == (isRight ? 200 : nil) && end.refusal == nil)
                #expect(end.reason == (isRight ? nil : "pin-mismatch"))
            }
            #expect(own.trustQuestions == 0 && task.questions.withLock { $0 } == 0)
            // A verdict or a response of the server ends the explanation.
            let cancelled = URLError(.cancelled, userInfo: [NSURLErrorFailingURLErrorKey: url])
            let later = TaskEnd(data: nil, response: nil, error: session.explain(cancelled))
            #expect(later.refusal == nil && later.reason == (isRight ? nil : "pin-mismatch"))
            session.invalidateAndCancel()
        }
    }

    @Test("The delegate of a session hears once of the end of a task that its own delegate would have answered for")
    func unguardedEnd() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let ends = TaskEnds()
        let session: URLSession = .pinned(to: try fixture.policy(anchors: .system), delegate: ends)
        let pinned = try #require(session.delegate as? any URLSessionTaskDelegate)
        // A delegate without a method for the end, on a task that its session's delegate gets late.
        let task = session.dataTask(with: try server.address())
        task.delegate = PermissiveDelegate()
        pinned.urlSession(session, didCreateTask: task)
        let error = await ends.end(of: task)
        #expect(TaskEnd(data: nil, response: nil, error: error).refusal == .unguardedDelegate)
        #expect(server.connectionCount == 0)
        // The app cancels a later task to the server before any verdict.
        let cancelled = session.dataTask(with: try server.address())
        pinned.urlSession(session, didCreateTask: cancelled)
        cancelled.cancel()
        let end = TaskEnd(data: nil, response: nil, error: await ends.end(of: cancelled))
        #expect((end.error as? URLError)?.code == .cancelled && end.refusal == nil)
        // The twin: a delegate that no challenge reaches.
        let twin = session.dataTask(with: try server.address())
        twin.delegate = EmptyDelegate()
        pinned.urlSession(session, didCreateTask: twin)
        #expect(await ends.end(of: twin) == nil && server.requests.count == 1)
        session.invalidateAndCancel()
    }

    /// A library's delegate before that of a task. It forwards challenges and the creation of the task.
    private final class LibraryDelegate: NSObject, URLSessionTaskDelegate {
        private let inner: any URLSessionTaskDelegate

        init(_ inner: any URLSessionTaskDelegate) {
            self.inner = inner
        }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            inner.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            inner.urlSession(session, didCreateTask: task)
        }
    }

    @Test("A guard behind a library's delegate of the task still guards it", arguments: [true, false])
    func proxiedGuard(isRight: Bool) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let session: URLSession = .pinned(to: try fixture.policy(rightPin: isRight, anchors: .system))
        let own = Permissive()
        let end = await session.awaited(try server.address(), with: LibraryDelegate(session.guarding(own)))
        #expect(end.status == (isRight ? 200 : nil) && own.questions == 0)
        #expect(session.explained(end).reason == (isRight ? nil : "pin-mismatch"))
        session.invalidateAndCancel()
    }

    @Test("A task's delegate that follows every redirect follows none to http")
    func redirect() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let target = "http://localhost:\(plain.port)/"
        let server = try fixture.server { request in
            switch request.target {
            case "/plain": .redirect(to: target)
            case "/away": .redirect(to: "/end")
            default: .ok
            }
        }
        let session = URLSession.pinned(to: try fixture.policy())
        let permissive = Permissive()
        let (_, stopped) = try await session.data(from: try server.address("plain"), delegate: permissive)
        #expect((stopped as? HTTPURLResponse)?.statusCode == 302)
        #expect(permissive.redirects == 0 && plain.connectionCount == 0)
        let (data, followed) = try await session.data(from: try server.address("away"), delegate: permissive)
        #expect((followed as? HTTPURLResponse)?.statusCode == 200 && data.count == 3)
        #expect(permissive.redirects == 1)
    }

    @Test("A challenge that is not about trust reaches the task's delegate")
    func password() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { $0["authorization"] == nil ? .unauthorized() : .ok }
        let permissive = Permissive()
        let (data, _) = try await URLSession.pinned(to: try fixture.policy()).data(
            from: try server.address(), delegate: permissive)
        #expect(data.count == 3 && permissive.questions == 1)
    }
}

/// A delegate that trusts every server it is asked about, follows every redirect, and has a password.
private final class Permissive: NSObject, URLSessionTaskDelegate {
    private let counts = Locked<[String: Int]>([:])

    var questions: Int { counts.withLock { $0["challenge"] ?? 0 } }
    var redirects: Int { counts.withLock { $0["redirect"] ?? 0 } }

    private func count(_ event: String) { counts.withLock { $0[event, default: 0] += 1 } }

    private func answer(_ challenge: URLAuthenticationChallenge) -> URLCredential {
        count("challenge")
        return challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) }
            ?? URLCredential(user: "u", password: "p", persistence: .none)
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, answer(challenge))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, answer(challenge))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        count("redirect")
        completionHandler(request)
    }
}
