import Foundation
import PintleApple
import PintleEvents
import PintleReports
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// Guarded delegates of tasks, where the session's delegate is not where a library expects it.
@Suite("Apple: guarded tasks")
struct GuardedTaskTests {
    /// A library's delegate before that of a session. It forwards the calls that it has methods for.
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

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            inner.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    private static func before(_ delegate: (any URLSessionDelegate)?) -> (any URLSessionDelegate)? {
        (delegate as? any URLSessionTaskDelegate).map { LibraryDelegate($0) } ?? delegate
    }

    @Test(
        "Behind a library's delegate, guards and explain still find the policy",
        arguments: [SessionKind.pinned, .system, nil])
    func proxied(kind: SessionKind?) async throws {
        for isRight in [true, false] {
            let fixture = try SessionFixture(isSystem: true)
            let server = try fixture.server()
            let policy = try fixture.policy(rightPin: isRight, anchors: .system)
            let session: any TestedSession = StandIn.$replacement.withValue(Self.before) {
                if let kind { return kind.session(to: policy) }
                // A session that the app makes.
                return URLSession(
                    configuration: .ephemeral, delegate: PinningSessionDelegate(policy), delegateQueue: nil)
            }
            let url = try server.address()
            for disposition in [URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling] {
                let own = PermissiveDelegate(disposition)
                let ends = [
                    await session.end(of: url), await session.end(of: url, with: session.guarding(own)),
                    await session.awaited(url, with: session.guarding(own)),
                ]
                for end in ends {
                    #expect(end.status == (isRight ? 200 : nil))
                    #expect(session.explained(end).reason == (isRight ? nil : "pin-mismatch"))
                }
                #expect(own.trustQuestions == 0)
            }
            if !isRight { #expect(server.requestByteCount == 0) }
            session.invalidateAndCancel()
        }
    }

    @Test("A session of the app whose delegate comes to light after the guard was made uses its policy")
    func late() async throws {
        for isRight in [true, false] {
            let fixture = try SessionFixture(isSystem: true)
            let server = try fixture.server()
            let pinning = PinningSessionDelegate(try fixture.policy(rightPin: isRight, anchors: .system))
            let session = URLSession(
                configuration: .ephemeral, delegate: LibraryDelegate(pinning), delegateQueue: nil)
            let guarded = session.guarding(PermissiveDelegate())
            // The creation of the task is the first call.
            let end = session.explained(await session.end(of: try server.address(), with: guarded))
            #expect(end.reason == (isRight ? nil : "pin-mismatch") && end.status == (isRight ? 200 : nil))
            session.invalidateAndCancel()
        }
    }

    /// Makes a session whose delegate a library replaces.
    private static func pinned(
        to policy: PinningPolicy, observer: (any TrustEventObserver)? = nil,
        replacing: @escaping @Sendable ((any URLSessionDelegate)?) -> (any URLSessionDelegate)?
    ) -> URLSession {
        StandIn.$replacement.withValue(replacing) { .pinned(to: policy, observer: observer) }
    }

    /// Ways in which a session has no delegate with a policy.
    enum Loss: CaseIterable, Sendable {
        case none, foreign, dropped, removed
    }

    @Test(
        "Without a policy a guard refuses the server, with a typed error that names the remedy",
        arguments: Loss.allCases)
    func missing(loss: Loss) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        // The control: the system trusts the server.
        let policy = try fixture.policy(anchors: .system)
        let own = PermissiveDelegate()
        let session: URLSession =
            switch loss {
            case .none: URLSession(configuration: .ephemeral)
            case .foreign: URLSession(configuration: .ephemeral, delegate: PermissiveDelegate(), delegateQueue: nil)
            case .dropped: Self.pinned(to: policy) { _ in PermissiveDelegate() }
            case .removed: Self.pinned(to: policy) { _ in nil }
            }
        let guarded = session.guarding(own)
        for end in [await session.end(of: url, with: guarded), await session.awaited(url, with: guarded)] {
            #expect((end.error as? URLError)?.code == .cancelled)
            let explained = session.explained(end)
            #expect(explained.refusal == .noPolicy && explained.reason == nil)
            #expect((explained.error as? URLError)?.code == .secureConnectionFailed)
            #expect(explained.error?.localizedDescription.contains("PinningSessionDelegate") == true)
        }
        #expect(own.trustQuestions == 0)
        // The delegate gets the typed error itself.
        let ends = TaskEnds()
        let task = session.dataTask(with: url)
        task.delegate = session.guarding(ends)
        let told = TaskEnd(data: nil, response: nil, error: await ends.end(of: task))
        #expect(told.refusal == .noPolicy)
        #expect(server.requestByteCount == 0)
        // With the remedy the same task is sent.
        let remedied = await session.end(of: url, with: PinningSessionDelegate(policy).guarding(own))
        #expect(remedied.status == 200)
        session.invalidateAndCancel()
    }

    @Test("Without a policy a guard follows no redirect, and sends no request")
    func missingBeforeSending() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let address = try #require(URL(string: "http://localhost:\(plain.port)/"))
        let session = URLSession(configuration: .ephemeral)
        let own = PermissiveDelegate()
        let guarded = session.guarding(own)
        // The accepting twin: a guard of a policy without rules.
        let accepting = PinningSessionDelegate(try PinningPolicy(hosts: [])).guarding(own)
        let task = session.dataTask(with: try #require(URL(string: "https://localhost/")))
        for (delegate, isAccepting) in [(guarded, false), (accepting, true)] {
            for (scheme, source) in [("https", "https"), ("https", "http"), ("http", "http"), ("ws", "https")] {
                let answers = Locked<[URLRequest?]>([])
                let from = try #require(URL(string: "\(source)://a.test/"))
                let response = try #require(
                    HTTPURLResponse(url: from, statusCode: 302, httpVersion: nil, headerFields: nil))
                let target = URLRequest(url: try #require(URL(string: "\(scheme)://b.test/")))
                delegate.urlSession(
                    session, task: task, willPerformHTTPRedirection: response, newRequest: target
                ) { answer in answers.withLock { $0.append(answer) } }
                #expect(answers.withLock { $0.map { $0 != nil } } == [isAccepting && scheme != "ws"])
            }
            // The start of a task, and its delayed begin.
            for url in [address, try fixture.server().address()] {
                let made = session.dataTask(with: url)
                delegate.urlSession(session, didCreateTask: made)
                #expect((made.state == .completed) == !isAccepting)
                let answers = Locked<[URLSession.DelayedRequestDisposition]>([])
                delegate.urlSession(session, task: made, willBeginDelayedRequest: URLRequest(url: url)) { answer, _ in
                    answers.withLock { $0.append(answer) }
                }
                #expect(answers.withLock { $0 } == [isAccepting ? .continueLoading : .cancel])
            }
        }
        #expect(own.redirects == 3)
        // The system asks nothing before a request over http, so the response is refused.
        let ends = TaskEnds()
        let late = session.dataTask(with: address)
        late.delegate = session.guarding(ends)
        let error = await ends.end(of: late)
        #expect(TaskEnd(data: nil, response: nil, error: error).refusal == .noPolicy)
        session.invalidateAndCancel()
    }

    @Test("If a library drops the session's delegate later, the observer gets an event that names the remedy")
    func event() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        for isDropped in [true, false] {
            let (recorder, holder) = (TrustEventRecorder(), Holder())
            let policy = try fixture.policy(anchors: .system)
            let session = Self.pinned(to: policy, observer: recorder) { holder.hold($0) }
            let guarded = session.guarding(PermissiveDelegate())
            if isDropped { holder.drop() }
            let end = session.explained(await session.end(of: try server.address(), with: guarded))
            #expect(end.refusal == (isDropped ? .noPolicy : nil) && end.status == (isDropped ? nil : 200))
            await TrustEventFeed.shared.waitForEvents()
            let events = recorder.events.compactMap { event in
                if case .session(let event) = event { event } else { nil }
            }
            #expect(events.map(\.code) == (isDropped ? ["no-policy"] : []))
            #expect(events.allSatisfy { !$0.isResolved && $0.text.contains("PinningSessionDelegate") })
            session.invalidateAndCancel()
        }
    }

    /// A library's delegate that can let go of the session's delegate.
    private final class Holder: NSObject, URLSessionDelegate {
        private let held = Locked<(any URLSessionDelegate)?>(nil)

        func hold(_ delegate: (any URLSessionDelegate)?) -> any URLSessionDelegate {
            held.withLock { $0 = delegate }
            return self
        }

        func drop() { held.withLock { $0 = nil } }
    }

    @Test("The guard of one session in a task of another one uses the policy of the session that asks")
    func otherSession() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        let right: URLSession = .pinned(to: try fixture.policy(anchors: .system))
        let wrong: URLSession = .pinned(to: try fixture.policy(rightPin: false, anchors: .system))
        let plain = URLSession(configuration: .ephemeral)
        let own = PermissiveDelegate()
        let pinnedRight = URLSession.pinned(to: try fixture.policy(anchors: .system))
        let pinnedWrong = URLSession.pinned(to: try fixture.policy(rightPin: false, anchors: .system))
        for (asking, guards, isTrusted) in [
            (right, [wrong.guarding(own), pinnedWrong.guarding(own)], true),
            (wrong, [right.guarding(own), pinnedRight.guarding(own)], false),
            // A session without a policy: the one of the session that made the guard.
            (plain, [right.guarding(own), pinnedRight.guarding(own)], true),
            (plain, [wrong.guarding(own), pinnedWrong.guarding(own)], false),
        ] {
            for guarded in guards {
                #expect(await asking.end(of: url, with: guarded).status == (isTrusted ? 200 : nil))
            }
        }
        #expect(own.trustQuestions == 0)
        for session in [right, wrong, plain] { session.invalidateAndCancel() }
    }

    @Test("A guard of its own policy before a task does not become the policy of the session")
    func ownPolicy() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        let session = URLSession(configuration: .ephemeral)
        let other = PinningSessionDelegate(try fixture.policy(anchors: .system))
        #expect(await session.end(of: url, with: other).status == 200)
        #expect(
            session.explained(await session.end(of: url, with: session.guarding(EmptyDelegate()))).refusal == .noPolicy)
        session.invalidateAndCancel()
    }

    @Test(
        "Guarding a guarded delegate returns it, and another session's guard is guarded again",
        arguments: SessionKind.allCases)
    func twice(kind: SessionKind) throws {
        let policy = try PinningPolicy(hosts: [])
        let (session, other) = (kind.session(to: policy), kind.session(to: policy))
        let own = EmptyDelegate()
        let guarded = session.guarding(own)
        #expect(guarded !== own && session.guarding(guarded) === guarded)
        let again = other.guarding(guarded)
        #expect(again !== guarded && other.guarding(again) === again)
        let pinning = PinningSessionDelegate(policy)
        let pinned = pinning.guarding(own)
        #expect(pinned !== own && pinning.guarding(pinned) === pinned)
        session.invalidateAndCancel()
        other.invalidateAndCancel()
    }

    @Test("A guarded delegate gets each call once, also if the method guards it too", arguments: SessionKind.allCases)
    func once(kind: SessionKind) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            if request.target == "/away" { return .redirect(to: "/here") }
            return request["authorization"] == nil ? .unauthorized() : .ok
        }
        let session = kind.session(to: try fixture.policy())
        let own = PermissiveDelegate()
        let end = await session.awaited(try server.address("away"), with: session.guarding(session.guarding(own)))
        #expect(end.status == 200)
        #expect(own.redirects == 1 && own.passwordQuestions == 1 && own.trustQuestions == 0)
        session.invalidateAndCancel()
    }
}
