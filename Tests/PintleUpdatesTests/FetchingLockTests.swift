import FoundationEssentials
import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleUpdates

/// Apple's systems terminate a process that is suspended while it holds a lock in a shared folder.
@Suite("Locks while updates are fetched")
struct FetchingLockTests {
    private struct Probing: UpdateTransport {
        let document: [UInt8]
        let probe: @Sendable () -> Void

        func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
            probe()
            return .document(document, entityTag: nil)
        }
    }

    @Test("The store holds no lock while a transport runs")
    func locks() async throws {
        let scene = try StoreScene()
        let (folder, held) = (scene.folder, Locked<[[String]]>([]))
        let store = try scene.open()
        for version in [UInt8(7), 8] {
            let transport = Probing(document: try scene.update(version)) {
                held.withLock { $0.append(LockProbe.heldLocks(in: folder)) }
            }
            let url = try #require(URL(string: "a"))
            _ = await store.refresh(
                from: UpdateSource(urls: [url], transport: transport),
                at: Publication.now)
            #expect(store.version == Int(version))
        }
        #expect(held.withLock { $0 } == [[], []])
        // Counter-check: the lock files exist, and a held lock would be detected.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".lock") }
        let name = try #require(names.first)
        let lock = try #require(LockProbe("\(folder)/\(name)"))
        #expect(LockProbe.heldLocks(in: folder) == [name])
        withExtendedLifetime(lock) {}
    }
}
