import Foundation
import FoundationNetworking
import PintleReports
import PintleTestKit
import Synchronization
import Testing

@testable import PintleEvents
@testable import PintleURLSession

/// The column for Linux in the table of the article on Apple's systems that says what each kind of session promises.
@Suite("Pinned sessions: what a session promises on Linux")
struct SessionContractTests {
    private typealias Check = @Sendable () async throws -> Void

    private static let checks: [String: Check] = [
        "`guarding(_:)`": guarding, "`explain(_:)`": explain, "`delegate:` of an async method": argument,
        "`task.delegate`": taskDelegate, "Error of a task": failure, "`http` to a covered host": plainHTTP,
        "Redirect from `https` to `http`": redirect, "Task after a new policy": newPolicy,
        "Calls of the delegate": calls, "`invalidateAndCancel()`": cancel, "`didBecomeInvalidWithError`": invalid,
        "Loaders in the configuration": loaders,
    ]

    @Test("Each row of the table holds on Linux", arguments: Self.checks.keys.sorted())
    func row(name: String) async throws {
        let check = try #require(Self.checks[name])
        try await check()
    }

    @Test("The table has a row for each check, and the checks cover its rows")
    func table() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let file = root.appendingPathComponent("Sources/PintleApple/PintleApple.docc/ApplePlatforms.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let start = try #require(
            lines.firstIndex { $0.hasPrefix("| | `PinnedURLSession` | `URLSession` | On Linux |") })
        let names = lines[(start + 2)...].prefix { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        }
        #expect(names.sorted() == Self.checks.keys.sorted())
    }

    /// A delegate that would trust every server.
    private final class PermissiveDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        private let count = Mutex(0)

        /// The number of questions about servers.
        var questions: Int { count.withLock { $0 } }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            count.withLock { $0 += 1 }
            completionHandler(.performDefaultHandling, nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            count.withLock { $0 += 1 }
            completionHandler(.performDefaultHandling, nil)
        }
    }

    /// Returns the error of a task with a delegate of its own; `nil` if it got a response.
    private static func end(
        of url: URL, in session: PinnedURLSession, with delegate: any URLSessionTaskDelegate
    ) async -> URLError? {
        await withCheckedContinuation { continuation in
            let task = session.dataTask(with: url) { continuation.resume(returning: $2 as? URLError) }
            task.delegate = delegate
            task.resume()
        }
    }

    private static func reason(_ error: URLError?) -> String? {
        error.flatMap { TrustRejection(underlying: $0)?.reason }
    }

    private static let guarding: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for isRight in [true, false] {
            let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight))
            let own = PermissiveDelegate()
            // The delegate comes back as it is, because it is never asked about servers.
            #expect(session.guarding(own) === own)
            let url = try server.address()
            #expect(
                reason(await end(of: url, in: session, with: session.guarding(own))) == (isRight ? nil : "pin-mismatch")
            )
            #expect(own.questions == 0)
        }
        #expect(server.requests.count == 1)
    }

    private static let explain: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session = URLSession.pinned(to: try fixture.policy(rightPin: false))
        let error = try #require(
            await #expect(throws: URLError.self) { try await session.data(from: try server.address()) })
        #expect(reason(error) == "pin-mismatch" && reason(session.explain(error) as? URLError) == "pin-mismatch")
        let other = URLError(.timedOut)
        #expect((session.explain(other) as? URLError)?.code == .timedOut)
    }

    private static let argument: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for isRight in [true, false] {
            let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight))
            let own = PermissiveDelegate()
            do {
                #expect(try await session.data(from: try server.address(), delegate: own).0.count == 3)
                #expect(isRight)
            } catch {
                #expect(reason(error as? URLError) == "pin-mismatch" && !isRight)
            }
            #expect(own.questions == 0)
        }
    }

    private static let taskDelegate: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for isRight in [true, false] {
            let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight))
            let own = PermissiveDelegate()
            let error = await end(of: try server.address(), in: session, with: own)
            #expect(reason(error) == (isRight ? nil : "pin-mismatch") && own.questions == 0)
        }
    }

    private static let failure: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let url = try server.address()
        for isRight in [true, false] {
            let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight))
            let handled = await withCheckedContinuation { continuation in
                session.dataTask(with: url) { continuation.resume(returning: $2 as? URLError) }.resume()
            }
            #expect(reason(handled) == (isRight ? nil : "pin-mismatch"))
            do {
                _ = try await session.data(from: url)
                #expect(isRight)
            } catch {
                #expect(reason(error as? URLError) == "pin-mismatch" && !isRight)
            }
        }
        for isRight in [true, false] {
            let recorder = Recorder()
            let session = URLSession.pinned(
                to: try fixture.policy(rightPin: isRight), configuration: .ephemeral, delegate: recorder)
            await recorder.run(session.dataTask(with: try server.address()))
            let error = recorder.log.withLock { $0.error as? URLError }
            #expect(reason(error) == (isRight ? nil : "pin-mismatch") && (error == nil) == isRight)
        }
    }

    private static let plainHTTP: Check = {
        for (host, isSent) in [("localhost", false), ("other.test", true)] {
            let plain = try LoopbackTCPServer.http()
            let session = URLSession.pinned(to: try SessionFixture().policy([host]))
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let error = await end(of: url, in: session, with: session.guarding(PermissiveDelegate()))
            #expect(error?.refusal == (isSent ? nil : .plainHTTP))
            #expect(plain.connectionCount == (isSent ? 1 : 0))
        }
    }

    private static let redirect: Check = {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let target = "http://127.0.0.1:\(plain.port)/"
        let server = try fixture.server { request in
            switch request.target {
            case "/plain": .redirect(to: target)
            case "/away": .redirect(to: "/end")
            default: .ok
            }
        }
        let session = URLSession.pinned(to: try fixture.policy())
        for (path, refusal) in [("plain", SessionError.Code.insecureRedirect), ("away", nil)] {
            let recorder = Recorder()
            let error = await end(of: try server.address(path), in: session, with: session.guarding(recorder))
            #expect(error?.refusal == refusal)
            #expect(recorder.events.contains("redirect 302") == (refusal == nil))
        }
        #expect(plain.connectionCount == 0)
    }

    private static let newPolicy: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let url = try server.address()
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy)
        for _ in 0..<2 { _ = try await session.data(from: url) }
        #expect(server.completedHandshakeCount == 1)
        policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
        _ = try await session.data(from: url)
        policy.replace(with: try fixture.policy(rightPin: false))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(reason(error) == "pin-mismatch" && server.requests.count == 3)
    }

    /// A delegate that records its calls, and how many of them run at once.
    private final class CallLog: NSObject, URLSessionDataDelegate, Sendable {
        private let state = Mutex<(inside: Int, most: Int, events: [String])>((0, 0, []))

        var most: Int { state.withLock { $0.most } }
        var events: [String] { state.withLock { $0.events } }

        func has(_ count: Int) async -> Bool {
            for _ in 0..<500 where events.count < count { try? await Task.sleep(for: .milliseconds(10)) }
            return events.count >= count
        }

        private func enter(_ event: String) {
            state.withLock { state in
                state.inside += 1
                state.most = max(state.most, state.inside)
                state.events.append(event)
            }
            Thread.sleep(forTimeInterval: 0.05)
            state.withLock { $0.inside -= 1 }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            enter(error == nil ? "end" : "failure")
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { enter("invalid") }
    }

    /// Starts a task before and one after a change of the policy. Their server answers when the gate opens.
    private static func twoTasks(
        _ log: CallLog, _ gate: DispatchSemaphore
    ) throws -> (PinnedURLSession, LoopbackTLSServer) {
        let fixture = try SessionFixture()
        let server = try fixture.server(behind: gate)
        let policy = LivePolicy(try fixture.policy())
        let session = URLSession.pinned(to: policy, configuration: .ephemeral, delegate: log)
        session.dataTask(with: try server.address()).resume()
        policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
        session.dataTask(with: try server.address()).resume()
        return (session, server)
    }

    private static let calls: Check = {
        let (log, gate) = (CallLog(), DispatchSemaphore(value: 0))
        let (session, server) = try twoTasks(log, gate)
        for _ in 0..<2 { gate.signal() }
        #expect(await log.has(2))
        #expect(log.most == 1)
        session.invalidateAndCancel()
        withExtendedLifetime(server) {}
        // One session counts all tasks.
        let other = LivePolicy(try PinningPolicy(hosts: []))
        let idle = URLSession.pinned(to: other)
        let url = try #require(URL(string: "https://localhost:9/"))
        let first = idle.dataTask(with: url).taskIdentifier
        other.replace(with: try PinningPolicy(hosts: [], unpinnedHosts: .reject))
        #expect(idle.dataTask(with: url).taskIdentifier != first)
    }

    private static let invalid: Check = {
        let (log, gate) = (CallLog(), DispatchSemaphore(value: 0))
        let (session, server) = try twoTasks(log, gate)
        session.finishTasksAndInvalidate()
        for _ in 0..<2 { gate.signal() }
        #expect(await log.has(3))
        #expect(log.events == ["end", "end", "invalid"] && server.requests.count == 2)
    }

    private static let cancel: Check = {
        let (log, gate) = (CallLog(), DispatchSemaphore(value: 0))
        defer { for _ in 0..<2 { gate.signal() } }
        let (session, server) = try twoTasks(log, gate)
        session.invalidateAndCancel()
        #expect(await log.has(3))
        #expect(log.events == ["failure", "failure", "invalid"])
        withExtendedLifetime(server) {}
    }

    private final class PassingLoader: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
    }

    private static func code(_ event: TrustEvent) -> String? {
        if case .session(let event) = event { event.code } else { nil }
    }

    private static let loaders: Check = {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        for isForeign in [true, false] {
            let configuration = URLSessionConfiguration.ephemeral
            if isForeign { configuration.protocolClasses = [PassingLoader.self] }
            let recorder = TrustEventRecorder()
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, observer: recorder)
            _ = try await session.data(from: try server.address())
            await TrustEventFeed.shared.waitForEvents()
            #expect(recorder.events.contains { code($0) == "foreign-protocol" } == isForeign)
            #expect(session.removedProtocols.isEmpty == !isForeign)
        }
    }
}
