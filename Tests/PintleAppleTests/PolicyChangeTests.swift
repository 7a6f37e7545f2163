import Foundation
import PintleTestKit
import PintleURLSession
import Testing

/// Tasks that are running, or not started yet, when the policy changes.
@Suite("Apple: a policy that changes under a task")
struct PolicyChangeTests {
    /// The default configuration, with one connection that is kept.
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        return configuration
    }

    @Test(
        "If flush closes connections, a password given after a policy change needs the new policy's trust",
        .flushCloses,
        arguments: [nil, true, false] as [Bool?])
    func password(nextPin: Bool?) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { $0["authorization"] == nil ? .unauthorized() : .ok }
        let policy = LivePolicy(try fixture.policy())
        let next = try nextPin.map { try fixture.policy(rightPin: $0, unpinnedHosts: .reject) }
        let delegate = Answering { if let next { policy.replace(with: next) } }
        let session: URLSession = .pinned(to: policy, configuration: Self.configuration, delegate: delegate)
        let error = await delegate.end(of: session.dataTask(with: try server.address()))
        #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == (nextPin == false ? "pin-mismatch" : nil))
        #expect(server.requests.contains { $0["authorization"] != nil } == (nextPin != false))
        #expect(server.connectionCount == (nextPin == nil ? 1 : 2))
        session.invalidateAndCancel()
    }

    @Test(
        "If flush closes connections, a task made before a policy change and started after it is checked again",
        .flushCloses,
        arguments: [nil, true, false] as [Bool?])
    func unstarted(nextPin: Bool?) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let delegate = Answering {}
        let session = URLSession.pinned(to: policy, configuration: Self.configuration, delegate: delegate)
        let url = try server.address()
        #expect(await delegate.end(of: session.dataTask(with: url)) == nil)
        let late = session.dataTask(with: url)
        if let nextPin { policy.replace(with: try fixture.policy(rightPin: nextPin, unpinnedHosts: .reject)) }
        // Another task makes the session notice the change.
        session.dataTask(with: url).cancel()
        _ = await delegate.next()
        let error = await delegate.end(of: late)
        #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == (nextPin == false ? "pin-mismatch" : nil))
        #expect(server.requests.count == (nextPin == false ? 1 : 2))
        session.invalidateAndCancel()
    }

    @Test("A pinned session does not use the cache of other sessions")
    func cache() throws {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = .shared
        let session: URLSession = .pinned(to: try PinningPolicy(hosts: []), configuration: configuration)
        #expect(session.configuration.urlCache == nil && configuration.urlCache != nil)
        session.invalidateAndCancel()
    }
}

/// A delegate that runs a closure when it is asked for a password, and then gives the password.
private final class Answering: NSObject, URLSessionDataDelegate {
    private let work: @Sendable () -> Void
    private let ends = AsyncStream<(any Error)?>.makeStream()

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = work
    }

    func end(of task: URLSessionTask) async -> (any Error)? {
        task.resume()
        return await next()
    }

    func next() async -> (any Error)? {
        for await error in ends.stream { return error }
        return nil
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        work()
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(error)
    }
}
