import Foundation
import FoundationNetworking
import Glibc
import PintleAttacks
import PintleTestKit
import Testing

@testable import PintleURLSession

/// The sockets that a session leaves behind: in child processes, and after it was invalidated.
@Suite("Pinned sessions: sockets", .serialized)
struct SessionSocketTests {
    /// Returns for each of this process's sockets that is connected to a port whether a child process inherits it.
    private func areInherited(to port: UInt16) -> [Bool] {
        (0..<CInt(4_096)).compactMap { descriptor in
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            guard result == 0, address.sin_family == sa_family_t(AF_INET), UInt16(bigEndian: address.sin_port) == port
            else { return nil }
            return fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0
        }
    }

    /// The way to a server.
    enum Way: String, CaseIterable {
        case direct, plain, proxy, stock
    }

    @Test(
        "No child process inherits a session's connection; it inherits those of Foundation's", arguments: Way.allCases)
    func inheritance(way: Way) async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let secure = try fixture.server()
        // Plain HTTP closes its connection after each response.
        let plain = try LoopbackTCPServer.http { _ in
            _ = gate.wait(timeout: .now() + 60)
            return .ok
        }
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary =
            way == .proxy ? ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)] : [:]
        let port = [.plain, .stock].contains(way) ? plain.port : way == .proxy ? proxy.port : secure.port
        let session =
            way == .stock
            ? URLSession(configuration: configuration)
            : URLSession.pinned(to: try fixture.policy(["127.0.0.1"]), configuration: configuration)
        if [.plain, .stock].contains(way) {
            let name = way == .stock ? "127.0.0.1" : "localhost"
            let task = session.dataTask(with: try #require(URL(string: "http://\(name):\(port)/"))) { _, _, _ in }
            task.resume()
            for _ in 0..<1_000 where plain.connectionCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
        } else {
            _ = try await session.data(from: try secure.address(host: "127.0.0.1"))
        }
        // The control. libcurl 8 opens its sockets with close-on-exec itself.
        let isInherited = way == .stock && !CurlLibrary.version.hasPrefix("8.")
        #expect(areInherited(to: port) == [isInherited])
        session.invalidateAndCancel()
        gate.signal()
        withExtendedLifetime(plain) {}
    }

    @Test(
        "An invalidated session closes its connections after its last task, although the app keeps both",
        arguments: [true, false])
    func invalidation(isInvalidated: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let task = session.dataTask(with: try server.address())
        await delegate.run(task)
        #expect(delegate.error == nil && areInherited(to: server.port).count == 1)
        if isInvalidated { session.finishTasksAndInvalidate() }
        let limit = isInvalidated ? 1_000 : 20
        for _ in 0..<limit where !areInherited(to: server.port).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(areInherited(to: server.port).count == (isInvalidated ? 0 : 1))
        withExtendedLifetime((session, task)) {}
    }

    @Test("A session that is invalidated during a task still completes the task, and then closes its connections")
    func invalidationDuringTask() async throws {
        let fixture = try SessionFixture()
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(behind: gate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        async let load = session.data(from: try server.address())
        #expect(await server.hasRequest())
        session.finishTasksAndInvalidate()
        gate.signal()
        #expect(try await load.0.count == 3)
        for _ in 0..<1_000 where !areInherited(to: server.port).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(areInherited(to: server.port).isEmpty)
        await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
        #expect(areInherited(to: server.port).isEmpty)
        withExtendedLifetime(session) {}
    }
}
