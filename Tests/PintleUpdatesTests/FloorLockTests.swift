import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

/// A process stalls while it holds the lock. The lock's file is removed, and a second process adopts an update.
///
///     process           reads 7, floor 6    writes floor.json 7                     writes the floor outside
///     second process                                              adopts 8
@Suite("A floor outside of the folder, and a lost lock")
struct FloorLockTests {
    private let scene: StoreScene
    private let place = FloorPlace()

    init() throws {
        scene = try StoreScene()
    }

    /// A storage that calls `body` before the second read, which is the first under the lock.
    private final class Interrupted: UpdateFloorStorage {
        private let place: FloorPlace
        private let reads = Locked(0)
        private let body: @Sendable () -> Void

        init(_ place: FloorPlace, _ body: @escaping @Sendable () -> Void) {
            (self.place, self.body) = (place, body)
        }

        func floor(forKeySet keySetID: String) throws(StorageError) -> [UInt8]? {
            let number = reads.withLock { reads in
                reads += 1
                return reads
            }
            if number == 2 { body() }
            return try place.floor(forKeySet: keySetID)
        }

        func save(_ floor: [UInt8], forKeySet keySetID: String) throws(StorageError) {
            try place.save(floor, forKeySet: keySetID)
        }
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - storage: the copy of the floor outside of the folder.
    ///   - stall: called whenever the floor's file has been written.
    private func open(
        _ storage: (any UpdateFloorStorage)?, stall: @escaping @Sendable () -> Void = {}
    ) throws -> UpdateVault {
        let events = scene.events
        let files = StoreFiles(folder: scene.folder, floorStorage: storage) { step in
            if step == "floor.json folderSynced" { stall() }
        }
        return try UpdateVault(
            files: files, trust: scene.app.trust, bundled: Publication.read(scene.app.bundled)
        ) { event in events.withLock { $0.append(event) } }
    }

    private func adopt(_ version: UInt8, in vault: UpdateVault) throws {
        _ = try vault.adopt(try scene.update(version), at: Publication.now)
    }

    private func removeLock() { scene.remove("update.json.lock") }

    /// The second process.
    private func overtake(with version: UInt8) {
        removeLock()
        #expect(throws: Never.self) { try adopt(version, in: open(place)) }
    }

    private static func version(_ vault: UpdateVault) -> Int { vault.active.snapshot.policy.updateVersion }

    @Test("A process that lost the lock at its start does not lower the floor outside", arguments: [true, false])
    func start(isLost: Bool) throws {
        try adopt(6, in: open(place))
        // As after the end of a process between two writes.
        try scene.directory.write(scene.update(7), to: "update.json")
        _ = scene.takeEvents()
        let vault = try open(place) { if isLost { overtake(with: 8) } }
        #expect(place.versions == [isLost ? 8 : 7])
        #expect(Self.version(vault) == 7)
        #expect(scene.takeEvents() == (isLost ? ["adopted 8", "not stored"] : []))
        vault.reload()
        #expect(Self.version(vault) == (isLost ? 8 : 7))
        // The floor outlives the folder.
        for name in ["update.json", "floor.json"] { scene.remove(name) }
        #expect(try open(place).active.floor.lowerBound?.version == (isLost ? 8 : 7))
    }

    @Test("Without the lock nothing is written, even if only the copy outside is below", arguments: [true, false])
    func onlyOutside(isLost: Bool) throws {
        try adopt(6, in: open(place))
        try adopt(7, in: open(nil))
        #expect(place.versions == [6])
        _ = scene.takeEvents()
        let vault = try open(Interrupted(place) { if isLost { removeLock() } })
        #expect(place.versions == [isLost ? 6 : 7])
        #expect(Self.version(vault) == 7)
        #expect(scene.takeEvents() == (isLost ? ["not stored"] : []))
        // The next process raises it.
        #expect(Self.version(try open(place)) == 7)
        #expect(place.versions == [7])
    }

    @Test("A process that lost the lock while it adopts does not lower the floor outside", arguments: [true, false])
    func adoption(isLost: Bool) throws {
        let hasStalled = Locked(false)
        let vault = try open(place) {
            let isFirst = hasStalled.withLock { hasStalled in
                defer { hasStalled = true }
                return !hasStalled
            }
            if isLost, isFirst { overtake(with: 8) }
        }
        if isLost {
            let error = #expect(throws: PolicyStoreError.self) { try adopt(7, in: vault) }
            guard case .notStored(let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.code == .busy)
            #expect(Self.version(vault) == 0 && place.versions == [8])
            vault.reload()
            #expect(Self.version(vault) == 8)
            #expect(throws: PolicyStoreError.self) { try adopt(7, in: vault) }
        } else {
            try adopt(7, in: vault)
            #expect(Self.version(vault) == 7 && place.versions == [7])
        }
    }

    @Test("Without a copy outside, a lock that is removed after the last write changes nothing")
    func noOutside() throws {
        let vault = try open(nil, stall: removeLock)
        try adopt(7, in: vault)
        #expect(Self.version(vault) == 7)
        #expect(try open(nil).active.floor.lowerBound?.version == 7)
    }
}
