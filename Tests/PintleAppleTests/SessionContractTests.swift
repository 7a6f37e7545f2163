import Foundation
import PintleEvents
import PintleReports
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// The table "What each kind of session promises" of the article on Apple's systems: each row on both kinds of session.
@Suite("Apple: what both kinds of session promise")
struct SessionContractTests {
    private typealias Check = @Sendable (SessionKind) async throws -> Void

    private static let checks: [String: Check] = [
        "`guarding(_:)`": guarding, "`explain(_:)`": explain, "`delegate:` of an async method": argument,
        "`task.delegate`": taskDelegate, "Error of a task": failure, "`http` to a covered host": plainHTTP,
        "Redirect from `https` to `http`": redirect, "Task after a new policy": newPolicy,
        "Calls of the delegate": calls, "`invalidateAndCancel()`": cancel, "`didBecomeInvalidWithError`": invalid,
        "Loaders in the configuration": loaders,
    ]

    @Test(
        "Each row of the table holds on both kinds of session", arguments: Self.checks.keys.sorted(),
        SessionKind.allCases)
    func row(name: String, kind: SessionKind) async throws {
        let check = try #require(Self.checks[name])
        try await check(kind)
    }

    @Test("The table has a row for each check, and the checks cover its rows")
    func table() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let file = root.appendingPathComponent("Sources/PintleApple/PintleApple.docc/ApplePlatforms.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| | `PinnedURLSession` | `URLSession` |") })
        let names = lines[(start + 2)...].prefix { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        }
        #expect(names.sorted() == Self.checks.keys.sorted())
    }

    /// A server that the system trusts, and a policy with its pin or another one.
    private static func interceptor(
        rightPin: Bool = false, handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws -> (policy: PinningPolicy, server: LoopbackTLSServer) {
        let fixture = try SessionFixture(isSystem: true)
        return (try fixture.policy(rightPin: rightPin, anchors: .system), try fixture.server(handler: handler))
    }

    private static let guarding: Check = { kind in
        for isRight in [true, false] {
            let (policy, server) = try interceptor(rightPin: isRight)
            let session = kind.session(to: policy)
            for disposition in [URLSession.AuthChallengeDisposition.performDefaultHandling, .useCredential] {
                let own = PermissiveDelegate(disposition)
                let end = session.explained(await session.end(of: try server.address(), with: session.guarding(own)))
                #expect(end.status == (isRight ? 200 : nil) && end.reason == (isRight ? nil : "pin-mismatch"))
                #expect(own.trustQuestions == 0)
            }
            #expect((server.requestByteCount == 0) == !isRight)
            session.invalidateAndCancel()
        }
    }

    private static let explain: Check = { kind in
        let (policy, server) = try interceptor()
        let session = kind.session(to: policy)
        let end = await session.end(of: try server.address())
        let error = try #require(end.error)
        #expect(TrustRejection(underlying: session.explain(error))?.reason == "pin-mismatch")
        let other = URLError(.timedOut)
        #expect((session.explain(other) as? URLError)?.code == .timedOut)
        session.invalidateAndCancel()
    }

    private static let argument: Check = { kind in
        for isRight in [true, false] {
            let (policy, server) = try interceptor(rightPin: isRight)
            let session = kind.session(to: policy)
            let own = PermissiveDelegate()
            let end = await session.awaited(try server.address(), with: own)
            #expect((end.status == 200) == (isRight && kind == .pinned))
            #expect(own.trustQuestions == 0)
            #expect((session.explained(end).refusal == .unguardedDelegate) == (kind == .system))
            session.invalidateAndCancel()
        }
    }

    private static let taskDelegate: Check = { kind in
        let (policy, server) = try interceptor()
        let session = kind.session(to: policy)
        #expect(await session.end(of: try server.address(), with: PermissiveDelegate()).status == 200)
        // A delegate without a method for challenges decides nothing.
        #expect(await session.end(of: try server.address(), with: EmptyDelegate()).status == nil)
        session.invalidateAndCancel()
    }

    private static let failure: Check = { kind in
        for isRight in [true, false] {
            let (policy, server) = try interceptor(rightPin: isRight)
            let session = kind.session(to: policy)
            let url = try server.address()
            for end in [await session.end(of: url), await session.awaited(url)] {
                #expect(end.status == (isRight ? 200 : nil))
                #expect(end.reason == (isRight || kind == .system ? nil : "pin-mismatch"))
                if kind == .system, !isRight { #expect((end.error as? URLError)?.code == .cancelled) }
            }
            session.invalidateAndCancel()
        }
        for isRight in [true, false] {
            let (policy, server) = try interceptor(rightPin: isRight)
            let ends = TaskEnds()
            let session = kind.session(to: policy, delegate: ends)
            let error = await ends.end(of: session.dataTask(with: try server.address()))
            #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == (isRight ? nil : "pin-mismatch"))
            session.invalidateAndCancel()
        }
    }

    private static let plainHTTP: Check = { kind in
        for (host, isSent) in [("localhost", false), ("other.test", true)] {
            let plain = try LoopbackTCPServer.http()
            let session = kind.session(to: try SessionFixture().policy(host: host))
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let guarded = session.guarding(PermissiveDelegate())
            for end in [await session.end(of: url), await session.end(of: url, with: guarded)] {
                #expect(end.status == (isSent ? 200 : nil))
                #expect(session.explained(end).refusal == (isSent ? nil : .plainHTTP))
            }
            #expect(plain.connectionCount == (isSent ? 2 : 0))
            session.invalidateAndCancel()
        }
    }

    private static let redirect: Check = { kind in
        let plain = try LoopbackTCPServer.http()
        let target = "http://localhost:\(plain.port)/"
        let (policy, server) = try interceptor(rightPin: true) { request in
            switch request.target {
            case "/plain": .redirect(to: target)
            case "/away": .redirect(to: "/end")
            default: .ok
            }
        }
        let session = kind.session(to: policy)
        for (path, status) in [("plain", 302), ("away", 200)] {
            let url = try server.address(path)
            #expect(await session.end(of: url).status == status)
            let own = PermissiveDelegate()
            #expect(await session.end(of: url, with: session.guarding(own)).status == status)
            #expect(own.redirects == (status == 200 ? 1 : 0))
        }
        #expect(plain.connectionCount == 0)
        session.invalidateAndCancel()
    }

    private static let newPolicy: Check = { kind in
        let fixture = try SessionFixture()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        for flushCloses in [true, false] {
            let server = try fixture.server()
            let url = try server.address()
            let policy = LivePolicy(try fixture.policy())
            let session = StandIn.$flushClosesConnections.withValue(flushCloses) {
                kind.session(to: policy, configuration: configuration)
            }
            for _ in 0..<2 { #expect(await session.end(of: url).status == 200) }
            #expect(server.connectionCount == 1)
            // Only a system session rests on flush.
            let isNew = kind == .pinned || flushCloses
            for isRight in [true, false] {
                policy.replace(with: try fixture.policy(rightPin: isRight, unpinnedHosts: .reject))
                let end = session.explained(await session.end(of: url))
                #expect(end.status == (isRight || !isNew ? 200 : nil))
                #expect(end.reason == (isRight || !isNew ? nil : "pin-mismatch"))
            }
            #expect(server.requests.count == (isNew ? 3 : 4))
            session.invalidateAndCancel()
        }
    }

    /// A delegate that records its calls, and how many of them run at once.
    private final class CallLog: NSObject, URLSessionDataDelegate {
        private let state = Locked<(inside: Int, most: Int, events: [String])>((0, 0, []))

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

    /// Makes a task before and one after a change of the policy.
    private static func twoTasks(
        _ kind: SessionKind, _ log: CallLog, handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws -> (any TestedSession, LoopbackTLSServer) {
        let fixture = try SessionFixture()
        let server = try fixture.server(handler: handler)
        let policy = LivePolicy(try fixture.policy())
        let session = kind.session(to: policy, delegate: log)
        session.dataTask(with: try server.address()).resume()
        policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
        session.dataTask(with: try server.address()).resume()
        return (session, server)
    }

    private static let calls: Check = { kind in
        let log = CallLog()
        let (session, server) = try twoTasks(kind, log)
        #expect(await log.has(2))
        #expect(log.most == 1)
        session.invalidateAndCancel()
        withExtendedLifetime(server) {}
        // Each system session counts its own tasks.
        let other = LivePolicy(try PinningPolicy(hosts: []))
        let idle = kind.session(to: other)
        let url = try #require(URL(string: "https://localhost:9/"))
        let first = idle.dataTask(with: url).taskIdentifier
        other.replace(with: try PinningPolicy(hosts: [], unpinnedHosts: .reject))
        #expect((idle.dataTask(with: url).taskIdentifier == first) == (kind == .pinned))
        idle.invalidateAndCancel()
    }

    private static let invalid: Check = { kind in
        let log = CallLog()
        let gate = DispatchSemaphore(value: 0)
        let (session, server) = try twoTasks(kind, log) { _ in
            _ = gate.wait(timeout: .now() + 60)
            return .ok
        }
        session.finishTasksAndInvalidate()
        for _ in 0..<2 { gate.signal() }
        #expect(await log.has(3))
        #expect(log.events == ["end", "end", "invalid"] && server.requests.count == 2)
    }

    private static let cancel: Check = { kind in
        let log = CallLog()
        let gate = DispatchSemaphore(value: 0)
        defer { for _ in 0..<2 { gate.signal() } }
        let (session, server) = try twoTasks(kind, log) { _ in
            _ = gate.wait(timeout: .now() + 60)
            return .ok
        }
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

    private static let loaders: Check = { kind in
        for isForeign in [true, false] {
            let configuration = URLSessionConfiguration.ephemeral
            if isForeign { configuration.protocolClasses = [PassingLoader.self] }
            let recorder = TrustEventRecorder()
            let (policy, server) = try interceptor(rightPin: true)
            let session = kind.session(to: policy, configuration: configuration, observer: recorder)
            #expect(await session.end(of: try server.address()).status == 200)
            await TrustEventFeed.shared.waitForEvents()
            #expect(recorder.events.map(code) == (isForeign ? ["foreign-protocol"] : []))
            if let pinned = session as? PinnedURLSession {
                #expect(pinned.removedProtocols.isEmpty == !isForeign)
            }
            session.invalidateAndCancel()
        }
    }
}
