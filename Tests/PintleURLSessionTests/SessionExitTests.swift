import Foundation
import FoundationNetworking
import Glibc
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Loads one thing again and again, six times at once.
private final class Bustle: Sendable {
    private let session: PinnedURLSession
    private let address: URL
    private let count = Mutex(0)

    init(_ session: PinnedURLSession, _ address: URL) {
        self.session = session
        self.address = address
    }

    /// - Parameter end: is called in the middle of what the others do.
    func run(until limit: Int, end: @escaping @Sendable () -> Never) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    while true {
                        guard (try? await self.session.data(from: self.address)) != nil else { continue }
                        let count = self.count.withLock { count in
                            count += 1
                            return count
                        }
                        if count == limit { end() }
                    }
                }
            }
        }
    }
}

/// What only the end of a process, or its beginning, can show.
// A sanitizer ends a process in its own way, with a status of its own.
@Suite("Pinned sessions: processes", .enabled(if: dlsym(nil, "__asan_init") == nil, "no sanitizer is at work"))
struct SessionExitTests {
    @Test("A process that ends amid handshakes and transfers ends with its own status", arguments: 1...4)
    func exitAmidTransfers(round: Int) async throws {
        let stage = try Stage()
        let server = try stage.server { _ in
            var response = HTTPResponse.text(String(repeating: "x", count: 100_000))
            response.closesConnection = true
            return response
        }
        let (url, root) = (try server.address().absoluteString, stage.root.certificate.der)
        await #expect(processExitsWith: .exitCode(7)) { [url = url as String, root = root as [UInt8]] in
            let policy = try PinningPolicy(
                hosts: [try PinnedHost("localhost", pins: [Pin](), anchors: .only([try Certificate(der: root)]))])
            await Bustle(URLSession.pinned(to: policy), try #require(URL(string: url))).run(until: 20) { Glibc.exit(7) }
        }
    }

    @Test("SSLKEYLOGFILE gets no keys of a pinned session; the stock one's are the twin", arguments: [true, false])
    func keyLog(isPinned: Bool) async throws {
        let stage = try Stage()
        let server = try stage.server()
        let files = try TemporaryDirectory()
        let file = files.path(of: "keys")
        let (url, root) = (try server.address().absoluteString, stage.root.certificate.der)
        await #expect(processExitsWith: .success) {
            [url = url as String, root = root as [UInt8], file = file as String, isPinned] in
            setenv("SSLKEYLOGFILE", file, 1)
            let address = try #require(URL(string: url))
            if isPinned {
                let policy = try PinningPolicy(
                    hosts: [try PinnedHost("localhost", pins: [Pin](), anchors: .only([try Certificate(der: root)]))])
                #expect(try await URLSession.pinned(to: policy).data(from: address).0.count == 3)
            } else {
                await #expect(throws: (any Error).self) {
                    try await URLSession(configuration: .ephemeral).data(from: address)
                }
            }
        }
        let keys = (try? files.read("keys")) ?? []
        #expect(keys.isEmpty == isPinned)
    }
}
