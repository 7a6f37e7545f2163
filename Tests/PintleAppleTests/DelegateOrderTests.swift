import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// Which of two delegates, and which of its methods, gets a call.
@Suite("Apple: delegates and methods that are asked in turn")
struct DelegateOrderTests {
    /// A delegate with only the task's method for challenges, as Alamofire's.
    private final class TaskLevelDelegate: NSObject, URLSessionTaskDelegate {
        private let credential: URLCredential?
        private let state = Locked<[String]>([])

        var methods: [String] { state.withLock { $0 } }

        init(_ credential: URLCredential? = nil) {
            self.credential = credential
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            state.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
            completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
        }
    }

    /// A delegate with only the session's method for challenges.
    private final class SessionLevelDelegate: NSObject, URLSessionDelegate {
        private let state = Locked<[String]>([])

        var methods: [String] { state.withLock { $0 } }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            state.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
            completionHandler(.performDefaultHandling, nil)
        }
    }

    private static let password = URLCredential(user: "u", password: "p", persistence: .none)

    @Test(
        "A session's delegate gives the password if the task's delegate has no method for it",
        arguments: SessionKind.allCases)
    func fallback(kind: SessionKind) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { $0["authorization"] == nil ? .unauthorized() : .ok }
        let url = try server.address()
        for (credential, status) in [(Self.password, 200), (nil, 401)] {
            let own = TaskLevelDelegate(credential)
            let session = kind.session(to: try fixture.policy(), delegate: own)
            let ends = [
                await session.end(of: url), await session.awaited(url, with: session.guarding(EmptyDelegate())),
                await session.end(of: url, with: session.guarding(EmptyDelegate())),
                await session.awaited(url, with: EmptyDelegate()),
            ]
            // The last one is not guarded in a system session, and the system asks the session's delegate itself.
            #expect(ends.map(\.status) == [status, status, status, status])
            #expect(own.methods == Array(repeating: NSURLAuthenticationMethodHTTPBasic, count: 4))
            // The password of the task's own delegate comes first.
            let first = await session.awaited(url, with: session.guarding(TaskLevelDelegate(Self.password)))
            #expect(first.status == 200 && own.methods.count == 4)
            session.invalidateAndCancel()
        }
    }

    @Test("The stand-in asks a delegate without the session's method for challenges by the task's method")
    func standIn() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.asking()
        let taskLevel = TaskLevelDelegate()
        let first = URLSession(configuration: .ephemeral, delegate: taskLevel, delegateQueue: nil)
        #expect(await first.end(of: try server.address()).status == 200)
        let methods = [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
        #expect(taskLevel.methods == methods)
        first.invalidateAndCancel()
        let own = SessionLevelDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: own, delegateQueue: nil)
        #expect(await session.end(of: try server.address(), with: EmptyDelegate()).status == 200)
        #expect(own.methods == methods)
        session.invalidateAndCancel()
    }

    @Test(
        "Only the session's method of the app's delegate hears of client certificates",
        arguments: SessionKind.allCases)
    func clientCertificate(kind: SessionKind) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.asking()
        let url = try server.address()
        let (taskLevel, sessionLevel) = (TaskLevelDelegate(), SessionLevelDelegate())
        for delegate in [taskLevel, sessionLevel] as [any URLSessionDelegate] {
            let session = kind.session(to: try fixture.policy(anchors: .system), delegate: delegate)
            #expect(await session.end(of: url).status == 200)
            session.invalidateAndCancel()
        }
        #expect(taskLevel.methods == [])
        #expect(sessionLevel.methods == [NSURLAuthenticationMethodClientCertificate])
    }

    @Test(
        "Challenges for NTLM and Negotiate go to the session's method, and to no task's method",
        arguments: ["NSURLAuthenticationMethodNTLM", "NSURLAuthenticationMethodNegotiate"])
    func windows(method: String) throws {
        let space = URLProtectionSpace(
            host: "localhost", port: 443, protocol: "https", realm: nil, authenticationMethod: method)
        let session = URLSession(configuration: .ephemeral)
        let (taskLevel, sessionLevel) = (TaskLevelDelegate(Self.password), SessionLevelDelegate())
        for delegate in [taskLevel, sessionLevel] as [any URLSessionDelegate] {
            let pinned = PinningSessionDelegate(try PinningPolicy(hosts: []), forwardingTo: delegate)
            let answers = Locked<[URLSession.AuthChallengeDisposition]>([])
            pinned.urlSession(session, didReceive: .asked(space)) { disposition, _ in
                answers.withLock { $0.append(disposition) }
            }
            #expect(answers.withLock { $0 } == [.performDefaultHandling])
        }
        #expect(taskLevel.methods == [] && sessionLevel.methods == [method])
    }

    /// A delegate that records the calls about a task's content.
    private final class ContentDelegate: NSObject, URLSessionDataDelegate {
        private let name: String
        private let log: Locked<[String]>

        init(_ name: String, _ log: Locked<[String]>) {
            (self.name, self.log) = (name, log)
        }

        private func note(_ event: String) { log.withLock { $0.append("\(name) \(event)") } }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            note("response")
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { note("data") }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            note(error == nil ? "end" : "failure")
        }
    }

    /// A delegate that turns a data task into another task.
    private final class BecomingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        private let disposition: URLSession.ResponseDisposition
        private let state = Locked<[String]>([])

        var events: [String] { state.withLock { $0 } }

        init(_ disposition: URLSession.ResponseDisposition) {
            self.disposition = disposition
        }

        private func note(_ event: String) { state.withLock { $0.append(event) } }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            note("response")
            completionHandler(disposition)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { note("data") }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            note(error == nil ? "end" : "failure")
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
        ) {
            note("download")
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
        ) {
            note("stream")
            streamTask.cancel()
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            note("file")
        }
    }

    @Test("A task's delegate gets response, content and end first, and the session's delegate what it lacks")
    func content() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        // A delegate with only one of the three.
        final class EndDelegate: NSObject, URLSessionTaskDelegate {
            let log: Locked<[String]>

            init(_ log: Locked<[String]>) {
                self.log = log
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                log.withLock { $0.append("task end") }
            }
        }
        for isPinned in [true, false] {
            let log = Locked<[String]>([])
            let delegate = ContentDelegate("session", log)
            let session =
                isPinned
                ? URLSession.pinned(to: try fixture.policy(anchors: .system), delegate: delegate)
                : URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            for (own, events) in [
                (nil, ["session response", "session data", "session end"]),
                (ContentDelegate("task", log), ["task response", "task data", "task end"]),
                (EndDelegate(log), ["session response", "session data", "task end"]),
            ] as [((any URLSessionTaskDelegate)?, [String])] {
                log.withLock { $0 = [] }
                let task = session.dataTask(with: url)
                if let own { task.delegate = isPinned ? session.guarding(own) : own }
                task.resume()
                for _ in 0..<500 where log.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(10)) }
                #expect(log.withLock { $0 } == events)
                // The system lets go of the delegate.
                for _ in 0..<500 where task.delegate != nil { try await Task.sleep(for: .milliseconds(10)) }
                #expect(task.delegate == nil)
            }
            session.invalidateAndCancel()
        }
    }

    @Test("A delegate hears that a data task becomes a download or a stream", arguments: SessionKind.allCases)
    func becomes(kind: SessionKind) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for (disposition, events) in [
            (URLSession.ResponseDisposition.becomeDownload, ["response", "download", "file", "end"]),
            (.becomeStream, ["response", "stream", "failure"]),
            (.allow, ["response", "data", "end"]),
        ] {
            let own = BecomingDelegate(disposition)
            let session = kind.session(to: try fixture.policy(), delegate: own)
            session.dataTask(with: try server.address()).resume()
            for _ in 0..<500 where own.events.count < events.count { try await Task.sleep(for: .milliseconds(10)) }
            #expect(own.events == events)
            session.invalidateAndCancel()
        }
    }
}

extension SessionFixture {
    /// Returns a server that asks for a client certificate and goes on without one.
    fileprivate func asking() throws -> LoopbackTLSServer {
        try LoopbackTLSServer(
            identity, configure: { $0.clientCertificateQuestion = .init(isRequired: false) }, handler: { _ in .ok })
    }
}
