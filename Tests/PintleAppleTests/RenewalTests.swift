import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// The drop of connections that an earlier policy accepted. It has to come before any thread can send over one.
@Suite("Apple: connections after a change of the policy")
struct RenewalTests {
    @Test("A thread that makes a task waits while another thread drops the connections", arguments: [true, false])
    func together(isChanged: Bool) async throws {
        let policy = LivePolicy(try PinningPolicy(hosts: []))
        let (queue, order) = (HookedQueue(), Locked<[String]>([]))
        let session = URLSession(
            configuration: .ephemeral, delegate: PinningSessionDelegate(policy), delegateQueue: queue)
        let url = try #require(URL(string: "https://localhost:9/"))
        _ = session.dataTask(with: url)
        if isChanged { policy.replace(with: try PinningPolicy(hosts: [], unpinnedHosts: .reject)) }
        await meeting(queue, order, in: [{ _ = session.dataTask(with: url) }, { _ = session.dataTask(with: url) }])
        #expect(order.withLock { $0 } == (isChanged ? ["dropped", "second"] : ["second"]))
        #expect(queue.count == (isChanged ? 1 : 0))
        session.invalidateAndCancel()
    }

    @Test("A thread that asks for a background session also waits for that", arguments: [true, false])
    func background(isChanged: Bool) async throws {
        let policy = LivePolicy(try PinningPolicy(hosts: []))
        let (queue, order) = (HookedQueue(), Locked<[String]>([]))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.identifier = UUID().uuidString
        let session = URLSession.pinned(
            to: policy, configuration: configuration, delegate: nil, delegateQueue: queue)
        _ = session.current
        if isChanged { policy.replace(with: try PinningPolicy(hosts: [], unpinnedHosts: .reject)) }
        await meeting(queue, order, in: [{ _ = session.current }, { _ = session.current }])
        #expect(order.withLock { $0 } == (isChanged ? ["dropped", "second"] : ["second"]))
        #expect(queue.count == (isChanged ? 1 : 0))
        session.invalidateAndCancel()
    }

    /// Starts the second closure in the middle of the session's work for the first, if there is any.
    private func meeting(
        _ queue: HookedQueue, _ order: Locked<[String]>, in works: [@Sendable () -> Void]
    ) async {
        let (second, isOver) = (works[1], DispatchSemaphore(value: 0))
        let begin: @Sendable () -> Void = {
            Thread {
                second()
                order.withLock { $0.append("second") }
                isOver.signal()
            }.start()
        }
        queue.setHook {
            begin()
            // A thread that waits does so for all of this time; one that does not wait needs less.
            Thread.sleep(forTimeInterval: 0.3)
            order.withLock { $0.append("dropped") }
        }
        await withCheckedContinuation { done in
            Thread {
                works[0]()
                if queue.count == 0 { begin() }
                isOver.wait()
                done.resume()
            }.start()
        }
        queue.setHook(nil)
    }

    @Test(
        "A source that reports an older generation again does not drop the connections a second time",
        arguments: [1, 3] as [UInt64])
    func older(between generation: UInt64) throws {
        let source = Numbered(try PinningPolicy(hosts: []))
        let queue = HookedQueue()
        let session = URLSession(
            configuration: .ephemeral, delegate: PinningSessionDelegate(source), delegateQueue: queue)
        let url = try #require(URL(string: "https://localhost:9/"))
        for number in [0, 2, generation, max(2, generation)] {
            source.number.withLock { $0 = number }
            _ = session.dataTask(with: url)
        }
        #expect(queue.count == (generation == 1 ? 1 : 2))
        session.invalidateAndCancel()
    }

    @Test(
        "If flush closes connections, a policy change during a delegate's answer makes the next hop's server be checked",
        .flushCloses,
        arguments: [nil, true, false] as [Bool?])
    func redirect(nextPin: Bool?) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { $0.target == "/end" ? .ok : .redirect(to: "/end") }
        let policy = LivePolicy(try fixture.policy())
        let next = try nextPin.map { try fixture.policy(rightPin: $0, unpinnedHosts: .reject) }
        let delegate = DelayingDelegate { if let next { policy.replace(with: next) } }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(
            configuration: configuration, delegate: PinningSessionDelegate(policy, forwardingTo: delegate),
            delegateQueue: nil)
        let error = await delegate.end(of: session.dataTask(with: try server.address()))
        #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == (nextPin == false ? "pin-mismatch" : nil))
        #expect(server.requests.count == (nextPin == false ? 1 : 2))
        #expect(server.connectionCount == (nextPin == nil ? 1 : 2))
        session.invalidateAndCancel()
    }

    @Test(
        "A delayed request is checked against the current policy: no http to a covered host",
        arguments: [.continueLoading, .useNewRequest, .cancel, nil] as [URLSession.DelayedRequestDisposition?])
    func delayed(disposition: URLSession.DelayedRequestDisposition?) throws {
        let fixture = try SessionFixture()
        for (address, isCovered, isSent) in [
            ("http://localhost/", true, false), ("http://localhost/", false, true), ("https://localhost/", true, true),
        ] {
            // Without a delegate that could delay it, the policy changes only before the request begins.
            for isLate in disposition == nil ? [false] : [true, false] {
                let policy = LivePolicy(try PinningPolicy(hosts: []))
                let next = try fixture.policy(host: isCovered ? "localhost" : "other.example")
                let url = try #require(URL(string: address))
                let delegate = disposition.map { disposition in
                    DelayingDelegate(disposition, to: url) { if isLate { policy.replace(with: next) } }
                }
                let queue = HookedQueue()
                let ours = PinningSessionDelegate(policy, forwardingTo: delegate)
                let session = URLSession(configuration: .ephemeral, delegate: ours, delegateQueue: queue)
                let first = disposition == .useNewRequest ? URL(string: "https://a.example/") : url
                let task = session.dataTask(with: try #require(first))
                if !isLate { policy.replace(with: next) }
                let answer = Locked<URLSession.DelayedRequestDisposition?>(nil)
                ours.urlSession(
                    session, task: task, willBeginDelayedRequest: URLRequest(url: try #require(first))
                ) { given, _ in answer.withLock { $0 = given } }
                #expect(answer.withLock { $0 } == (isSent ? disposition ?? .continueLoading : .cancel))
                // By then the connections that the earlier policy accepted have been dropped.
                #expect(queue.count == 1)
                session.invalidateAndCancel()
            }
        }
    }
}

/// An operation queue that counts the session's operations and can run a hook before one.
///
/// Sendable: a lock protects what it adds.
private final class HookedQueue: OperationQueue, @unchecked Sendable {
    private struct State: Sendable {
        var count = 0
        var hook: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.count } }

    func setHook(_ hook: (@Sendable () -> Void)?) { state.withLock { $0.hook = hook } }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let hook = state.withLock { state in
            defer { state.hook = nil }
            state.count += 1
            return state.hook
        }
        hook?()
        super.addOperation(block)
    }
}

private final class Numbered: PolicySource {
    private let policy: PinningPolicy
    let number = Locked<UInt64>(0)

    init(_ policy: PinningPolicy) {
        self.policy = policy
    }

    var current: PolicySnapshot { PolicySnapshot(policy: policy, generation: number.withLock { $0 }) }
}

/// A delegate that runs a closure before it answers.
private final class DelayingDelegate: NSObject, URLSessionDataDelegate {
    private let disposition: URLSession.DelayedRequestDisposition
    private let target: URL?
    private let first: @Sendable () -> Void
    private let ends = AsyncStream<(any Error)?>.makeStream()

    init(
        _ disposition: URLSession.DelayedRequestDisposition = .continueLoading, to target: URL? = nil,
        first: @escaping @Sendable () -> Void
    ) {
        (self.disposition, self.target, self.first) = (disposition, target, first)
    }

    func end(of task: URLSessionTask) async -> (any Error)? {
        task.resume()
        for await error in ends.stream { return error }
        return nil
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        first()
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        first()
        completionHandler(disposition, disposition == .useNewRequest ? target.map { URLRequest(url: $0) } : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(error)
    }
}
