import Foundation
import PintleEvents
import PintleReports
import PintleStorage
import PintleTestKit
import PintleURLSession
import Testing

/// The system session that the same call makes if a `URLSession` is needed.
@Suite("Apple: where a URLSession is stored or injected")
struct StoredSessionTests {
    /// A type that stores a session, as libraries do.
    private struct Transport: Sendable {
        let session: URLSession
    }

    @Test("The declared type selects the kind of session, also for a parameter")
    func type() throws {
        let policy = try PinningPolicy(hosts: [])
        let pinned = URLSession.pinned(to: policy)
        let isPinned: PinnedURLSession = pinned
        let stored: URLSession = .pinned(to: policy)
        let transport = Transport(session: .pinned(to: policy))
        for session in [stored, transport.session, Transport(session: URLSession.pinned(to: policy)).session] {
            #expect(session.delegate is PinningSessionDelegate)
            session.invalidateAndCancel()
        }
        isPinned.invalidateAndCancel()
    }

    @Test("A wrong pin ends each style of task with its reason and no byte sent; the right pin accepts each")
    func pin() async throws {
        let fixture = try SessionFixture()
        for isRight in [true, false] {
            let server = try fixture.server()
            let url = try server.address()
            let listener = TaskEnds()
            let session: URLSession = .pinned(to: try fixture.policy(rightPin: isRight), delegate: listener)
            var errors: [(any Error)?] = [await listener.end(of: session.dataTask(with: url))]
            // A delegate's error has its reason already.
            let expected = isRight ? nil : "pin-mismatch"
            #expect(errors[0].flatMap { TrustRejection(underlying: $0)?.reason } == expected)
            errors.append(await ends { _ = try await session.data(from: url) })
            errors.append(
                await withCheckedContinuation { done in
                    session.dataTask(with: URLRequest(url: url)) { done.resume(returning: $2) }.resume()
                })
            for error in errors.dropFirst() {
                #expect((error as? URLError)?.code == (isRight ? nil : .cancelled))
                #expect(error.flatMap { TrustRejection(underlying: $0) } == nil)
            }
            for error in errors {
                let explained = error.map { session.explain($0) }
                #expect(explained.flatMap { TrustRejection(underlying: $0)?.reason } == expected)
            }
            if !isRight { #expect(server.waitUntilClosed(connections: 3)) }
            #expect((server.requestByteCount == 0) == !isRight)
            session.invalidateAndCancel()
        }
    }

    @Test("An error gets the last verdict about its server, and other errors stay unchanged")
    func explained() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy(rightPin: false))
        let session: URLSession = .pinned(to: policy)
        let url = try server.address()
        let error = try #require(await ends { _ = try await session.data(from: url) })
        #expect(TrustRejection(underlying: session.explain(error))?.reason == "pin-mismatch")
        let other = URLError(
            .cancelled, userInfo: [NSURLErrorFailingURLErrorKey: try #require(URL(string: "https://b.example/"))])
        #expect(TrustRejection(underlying: session.explain(other)) == nil)
        let timeout = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
        #expect((session.explain(timeout) as? URLError)?.code == .timedOut)
        policy.replace(with: try fixture.policy())
        #expect(try await session.data(from: url).0.count == 3)
        #expect(TrustRejection(underlying: session.explain(error)) == nil)
        // A session without a policy has no reasons.
        #expect(TrustRejection(underlying: URLSession(configuration: .ephemeral).explain(error)) == nil)
        session.invalidateAndCancel()
    }

    @Test("No style of task sends http to a host that the policy covers; to another host each does")
    func plainHTTP() async throws {
        let fixture = try SessionFixture()
        for (host, isSent) in [("localhost", false), ("other.example", true)] {
            let plain = try LoopbackTCPServer.http()
            let listener = TaskEnds()
            let session: URLSession = .pinned(to: try fixture.policy(host: host), delegate: listener)
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let told = await listener.end(of: session.dataTask(with: url))
            let thrown = await ends { _ = try await session.data(from: url) }
            #expect((thrown as? URLError)?.code == (isSent ? nil : .cancelled))
            for error in [told, thrown.map { session.explain($0) }] {
                let refusal = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? SessionError
                #expect(refusal?.code == (isSent ? nil : .plainHTTP))
            }
            #expect(plain.connectionCount == (isSent ? 2 : 0))
            session.invalidateAndCancel()
        }
    }

    @Test("A web socket without TLS to a covered host and any stream task are cancelled when they are made")
    func otherTasks() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let listener = TaskEnds()
        let session: URLSession = .pinned(to: try fixture.policy(), delegate: listener)
        for (text, isCancelled) in [
            ("ws://localhost:\(plain.port)/", true), ("wss://localhost/", false), ("ws://other.example/", false),
        ] {
            let task = session.webSocketTask(with: try #require(URL(string: text)))
            #expect((task.state == .completed) == isCancelled, "\(text)")
            guard isCancelled else { continue }
            let error = await listener.end(of: task) as? URLError
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? SessionError)?.code == .plainHTTP)
            #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
        }
        let stream = session.streamTask(withHostName: "localhost", port: Int(plain.port))
        #expect(stream.state == .completed)
        #expect((await listener.end(of: stream) as? URLError)?.code == .unsupportedURL)
        #expect(plain.connectionCount == 0)
        #expect(URLSession(configuration: .ephemeral).streamTask(withHostName: "a", port: 9).state == .suspended)
        session.invalidateAndCancel()
    }

    /// An error as libraries wrap it.
    private struct Wrapped: Error {
        let underlyingError: any Error
    }

    @Test("A wrapped error is explained too, but not inside a cancelled task")
    func wrapped() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let session: URLSession = .pinned(to: try fixture.policy(rightPin: false))
        let error = try #require(await ends { _ = try await session.data(from: try server.address()) })
        let wrapped = Wrapped(underlyingError: error)
        #expect(TrustRejection(underlying: wrapped) == nil)
        #expect(TrustRejection(underlying: session.explain(wrapped))?.reason == "pin-mismatch")
        let isUnexplained = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return TrustRejection(underlying: session.explain(error)) == nil
        }.value
        #expect(isUnexplained)
        session.invalidateAndCancel()
    }

    @Test(
        "If flush closes connections, nothing is sent over those that the previous policy accepted", .flushCloses)
    func changed() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let session: URLSession = .pinned(to: policy, configuration: configuration)
        let url = try server.address()
        for _ in 0..<3 { _ = try await session.data(from: url) }
        #expect(server.connectionCount == 1)
        // A policy that still accepts the server, and then one that does not.
        policy.replace(with: try fixture.policy(unpinnedHosts: .reject))
        for _ in 0..<2 { _ = try await session.data(from: url) }
        #expect(server.connectionCount == 2 && server.requests.count == 5)
        policy.replace(with: try fixture.policy(rightPin: false))
        let error = try #require(await ends { _ = try await session.data(from: url) })
        #expect(TrustRejection(underlying: session.explain(error))?.reason == "pin-mismatch")
        #expect(server.requests.count == 5)
        session.invalidateAndCancel()
    }

    @Test("Its copy of the configuration has no loaders and no early data, and its observer gets both failures")
    func configuration() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [PassingLoader.self]
        configuration.enablesEarlyData = true
        let log = EventNames()
        let session: URLSession = .pinned(
            to: try fixture.policy(rightPin: false), configuration: configuration, observer: log)
        #expect(session.configuration.protocolClasses?.isEmpty == true && !session.configuration.enablesEarlyData)
        _ = await ends { _ = try await session.data(from: try server.address()) }
        await TrustEventFeed.shared.waitForEvents()
        #expect(log.names == ["foreign-protocol", "pin-mismatch"])
        session.invalidateAndCancel()
    }

    @Test("A request fails, the user approves, and the next request succeeds")
    func approvals() async throws {
        let server = try LoopbackTLSServer(try Identity.selfSigned(), handler: { _ in .ok })
        let store = TrustApprovalStore()
        let session: URLSession = .pinned(
            to: ApprovedPolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store))
        let url = try server.address()
        let error = try #require(await ends { _ = try await session.data(from: url) })
        guard case .unknownHost(let host) = TrustRejection(underlying: session.explain(error)) else {
            Issue.record("\(error)")
            return
        }
        #expect(server.requestByteCount == 0)
        try store.approve(host)
        #expect(try await session.data(from: url).0.count == 3)
        session.invalidateAndCancel()
    }

    /// Returns the error of a closure.
    private func ends(_ work: () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }
}

/// A URLProtocol that would answer each request itself.
private final class PassingLoader: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
}

private final class EventNames: TrustEventObserver {
    private let state = Locked<[String]>([])

    var names: [String] { state.withLock { $0 } }

    func observe(_ event: TrustEvent) {
        let name: String? =
            switch event {
            case .verdict(let failure): failure.decision.reason
            case .session(let event): event.code
            default: nil
            }
        state.withLock { names in names += name.map { [$0] } ?? [] }
    }
}
