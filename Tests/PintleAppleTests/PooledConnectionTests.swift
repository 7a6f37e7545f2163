import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// Guarded tasks in a session that keeps a connection to an interceptor that the system trusts.
@Suite("Apple: guarded tasks and kept connections")
struct PooledConnectionTests {
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        return configuration
    }

    /// The maker of the guard.
    enum Maker: CaseIterable, Sendable {
        case delegate, pinnedSession, systemSession
    }

    @Test(
        "If flush closes connections, a guard sends nothing over those that other tasks have left", .flushCloses,
        arguments: Maker.allCases, [true, false])
    func foreignConnection(maker: Maker, isRight: Bool) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        let policy = try fixture.policy(rightPin: isRight, anchors: .system)
        let session = URLSession(configuration: Self.configuration)
        let own = PermissiveDelegate()
        let system: URLSession = .pinned(to: policy)
        let guarded: any URLSessionTaskDelegate =
            switch maker {
            case .delegate: PinningSessionDelegate(policy).guarding(own)
            case .pinnedSession: URLSession.pinned(to: policy).guarding(own)
            case .systemSession: system.guarding(own)
            }
        // The second round: the plain task leaves another connection after the guard has come to know the session.
        for round in 1...2 {
            #expect(await session.end(of: url).status == 200)
            let end = await session.awaited(url, with: guarded)
            #expect(end.status == (isRight ? 200 : nil))
            #expect(server.requests.count == (isRight ? 2 : 1) * round)
        }
        #expect(own.trustQuestions == 0)
        for session in [session, system] { session.invalidateAndCancel() }
    }

    @Test(
        "If flush closes connections, a guard without a policy sends nothing, and a pinned session's guard does",
        .flushCloses)
    func missing() async throws {
        let fixture = try SessionFixture(isSystem: true)
        for isPinned in [false, true] {
            let server = try fixture.server()
            let url = try server.address()
            let session: URLSession =
                isPinned
                ? .pinned(to: try fixture.policy(anchors: .system), configuration: Self.configuration)
                : URLSession(configuration: Self.configuration)
            let own = PermissiveDelegate()
            for _ in 0..<2 {
                #expect(await session.end(of: url).status == 200)
                let sent = server.requests.count
                for end in [
                    await session.end(of: url, with: session.guarding(own)),
                    await session.awaited(url, with: session.guarding(own)),
                ] {
                    #expect(end.status == (isPinned ? 200 : nil))
                    #expect(session.explained(end).refusal == (isPinned ? nil : .noPolicy))
                }
                let ends = TaskEnds()
                let task = session.dataTask(with: url)
                task.delegate = session.guarding(ends)
                let error = await ends.end(of: task)
                #expect(TaskEnd(data: nil, response: nil, error: error).refusal == (isPinned ? nil : .noPolicy))
                #expect(server.requests.count == (isPinned ? sent + 3 : sent))
            }
            session.invalidateAndCancel()
        }
    }

    @Test("The session's own tasks keep their connection")
    func ownConnection() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let url = try server.address()
        let session: URLSession = .pinned(
            to: try fixture.policy(anchors: .system), configuration: Self.configuration)
        for _ in 0..<3 {
            #expect(await session.end(of: url).status == 200)
            #expect(await session.awaited(url, with: session.guarding(PermissiveDelegate())).status == 200)
        }
        #expect(server.connectionCount == 1)
        session.invalidateAndCancel()
    }
}
