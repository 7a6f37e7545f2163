import Foundation
import PintleApple
import PintleEvents
import PintleReports
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// An app's own session, whose delegate a library holds.
@Suite("Apple: a session's delegate behind a library's")
struct LibraryDelegateTests {
    /// A library's delegate. It forwards challenges, and, unless it is silent, the creation of tasks.
    private final class LibraryDelegate: NSObject, URLSessionTaskDelegate {
        private let inner: Locked<(any URLSessionTaskDelegate)?>
        let isSilent = Locked(false)

        init(_ inner: any URLSessionTaskDelegate) {
            self.inner = Locked(inner)
        }

        func drop() {
            let dropped = inner.withLock { inner in
                defer { inner = nil }
                return inner
            }
            withExtendedLifetime(dropped) {}
        }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let inner = inner.withLock({ $0 }) else { return completionHandler(.performDefaultHandling, nil) }
            inner.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            guard !isSilent.withLock({ $0 }) else { return }
            inner.withLock { $0 }?.urlSession(session, didCreateTask: task)
        }
    }

    private static func session(_ library: LibraryDelegate) -> URLSession {
        URLSession(configuration: .ephemeral, delegate: library, delegateQueue: nil)
    }

    /// A delegate that counts the tasks of whose creation it hears.
    private final class CreationCounter: NSObject, URLSessionTaskDelegate {
        let count = Locked(0)

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { count.withLock { $0 += 1 } }
    }

    @Test("If each request is guarded, the first of them finds the policy too", arguments: [true, false])
    func eachGuarded(isRight: Bool) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let counter = CreationCounter()
        let pinning = PinningSessionDelegate(
            try fixture.policy(rightPin: isRight, anchors: .system), forwardingTo: counter)
        let session = Self.session(LibraryDelegate(pinning))
        for turn in 1...2 {
            let end = await session.awaited(try server.address(), with: session.guarding(PermissiveDelegate()))
            #expect(end.status == (isRight ? 200 : nil))
            #expect(session.explained(end).reason == (isRight ? nil : "pin-mismatch"))
            #expect(counter.count.withLock { $0 } == turn)
        }
        session.invalidateAndCancel()
    }

    /// A library's delegate that tells the delegate of each new task of its creation, too.
    private final class EchoingDelegate: NSObject, URLSessionTaskDelegate {
        let count = Locked(0)

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            let count = count.withLock { count in
                count += 1
                return count
            }
            guard count < 100 else { return }
            task.delegate?.urlSession(session, didCreateTask: task)
        }
    }

    @Test("A library that passes a task's creation back to the guard gets the call once")
    func echo() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let library = EchoingDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: library, delegateQueue: nil)
        let end = await session.awaited(try server.address(), with: session.guarding(PermissiveDelegate()))
        #expect(end.status == nil)
        #expect(session.explained(end).refusal == .noPolicy)
        #expect(library.count.withLock { $0 } == 1)
        session.invalidateAndCancel()
    }

    @Test("After a refusal without a policy, later errors have the reason of the policy that came to light")
    func explainAfterRefusal() async throws {
        for isRight in [true, false] {
            let fixture = try SessionFixture(isSystem: true)
            let server = try fixture.server()
            let url = try server.address()
            let library = LibraryDelegate(
                PinningSessionDelegate(try fixture.policy(rightPin: isRight, anchors: .system)))
            let session = Self.session(library)
            library.isSilent.withLock { $0 = true }
            let first = await session.end(of: url, with: session.guarding(PermissiveDelegate()))
            #expect(session.explained(first).refusal == .noPolicy)
            library.isSilent.withLock { $0 = false }
            for end in [
                await session.end(of: url), await session.end(of: url, with: session.guarding(PermissiveDelegate())),
            ] {
                let explained = session.explained(end)
                #expect(explained.status == (isRight ? 200 : nil) && explained.refusal == nil)
                #expect(explained.reason == (isRight ? nil : "pin-mismatch"))
            }
            // A task that the app cancels has no reason left from the first refusal.
            let cancelled = URLError(.cancelled, userInfo: [NSURLErrorFailingURLErrorKey: url])
            if isRight { #expect((session.explain(cancelled) as? URLError)?.code == .cancelled) }
            session.invalidateAndCancel()
        }
    }

    @Test("A delegate that hears of a task's end, or of a finished task, does not become the session's")
    func afterTheEnd() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        let other = PinningSessionDelegate(try fixture.policy(anchors: .system))
        let session = URLSession(configuration: .ephemeral)
        let task: URLSessionDataTask = await withCheckedContinuation { continuation in
            let slot = Locked<URLSessionDataTask?>(nil)
            let done = session.dataTask(with: url) { _, _, _ in
                if let task = slot.withLock({ $0 }) { continuation.resume(returning: task) }
            }
            slot.withLock { $0 = done }
            done.resume()
        }
        for _ in 0..<500 where task.delegate != nil { try await Task.sleep(for: .milliseconds(10)) }
        other.urlSession(session, task: task, didFinishCollecting: URLSessionTaskMetrics())
        other.urlSession(session, didCreateTask: task)
        let guarded = session.guarding(PermissiveDelegate())
        #expect(session.explained(await session.end(of: url, with: guarded)).refusal == .noPolicy)
        // The accepting twin: the same call for a new task.
        other.urlSession(session, didCreateTask: session.dataTask(with: url))
        #expect(await session.end(of: url, with: guarded).status == 200)
        session.invalidateAndCancel()
    }

    @Test("If two delegates with different policies say that a session is theirs, its guards refuse")
    func disputed() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        for isDisputed in [true, false] {
            let first = PinningSessionDelegate(try fixture.policy(anchors: .system))
            let second = PinningSessionDelegate(try fixture.policy(anchors: .system))
            let session = URLSession(configuration: .ephemeral)
            for delegate in [first, isDisputed ? second : first] {
                delegate.urlSession(session, didCreateTask: session.dataTask(with: url))
            }
            let end = await session.end(of: url, with: session.guarding(PermissiveDelegate()))
            #expect(end.status == (isDisputed ? nil : 200))
            #expect(session.explained(end).refusal == (isDisputed ? .noPolicy : nil))
            withExtendedLifetime((first, second)) {}
            session.invalidateAndCancel()
        }
    }

    @Test("A guard made before the policy came to light posts its refusal to the policy's observer")
    func lateObserver() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        for isDropped in [true, false] {
            let recorder = TrustEventRecorder()
            let policy = try fixture.policy(anchors: .system)
            let library = LibraryDelegate(PinningSessionDelegate(policy, observer: recorder))
            let session = Self.session(library)
            let guarded = session.guarding(PermissiveDelegate())
            #expect(await session.awaited(url, with: guarded).status == 200)
            if isDropped { library.drop() }
            let end = session.explained(await session.awaited(url, with: guarded))
            #expect(end.refusal == (isDropped ? .noPolicy : nil) && end.status == (isDropped ? nil : 200))
            await TrustEventFeed.shared.waitForEvents()
            let codes = recorder.events.compactMap { event in
                if case .session(let event) = event { event.code } else { nil }
            }
            #expect(codes == (isDropped ? ["no-policy"] : []))
            session.invalidateAndCancel()
        }
    }
}
