import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

@Suite("A floor that is also stored outside of the folder")
struct FloorStorageTests {
    let scene: StoreScene
    private let place = FloorPlace()

    init() throws {
        scene = try StoreScene()
    }

    /// Returns the code of the failure to adopt an update, or `nil` if it was adopted.
    private func code(_ store: PolicyStore, _ version: UInt8, by keys: TestKey...) async throws -> String? {
        let envelope = try scene.update(version, by: keys.first ?? scene.app.one)
        do throws(PolicyStoreError) {
            try await store.adopt(envelope, at: Publication.now)
            return nil
        } catch {
            switch error {
            case .rejected(let rejection): return rejection.code.rawValue
            case .notStored(let error): return "not stored: \(error.code.rawValue)"
            case .floorUnreadable(let error): return "floor: \(error.code.rawValue)"
            case .lostStore: return "lost"
            }
        }
    }

    private func wipe() {
        for name in ["update.json", "floor.json", "update.json.lock"] { scene.remove(name) }
    }

    @Test("After the folder is deleted, no older update is adopted; without outside storage it is")
    func wiped() async throws {
        for hasPlace in [true, false] {
            let floor = hasPlace ? place : nil
            #expect(try await code(scene.open(floor: floor), 8) == nil)
            wipe()
            _ = scene.takeEvents()
            let again = try scene.open(floor: floor)
            #expect(again.version == 0 && again.floor?.version == (hasPlace ? 8 : nil))
            #expect(scene.takeEvents() == (hasPlace ? ["lost 8"] : []))
            #expect(try await code(again, 7) == (hasPlace ? "rollback" : nil))
            #expect(try await code(again, 8) == nil)
            wipe()
        }
    }

    @Test("An older state of the folder is detected after it is restored")
    func putBack() async throws {
        let store = try scene.open(floor: place)
        #expect(try await code(store, 7) == nil)
        let (update, floor) = (try #require(scene.file("update.json")), try #require(scene.file("floor.json")))
        #expect(try await code(store, 8) == nil)
        try scene.directory.write(update, to: "update.json")
        try scene.directory.write(floor, to: "floor.json")
        // Counter-check: without outside storage the old state is accepted.
        #expect(try scene.open().version == 7)
        _ = scene.takeEvents()
        let again = try scene.open(floor: place)
        #expect(again.version == 0 && again.loss?.version == 8)
        #expect(scene.takeEvents() == ["lost 8"])
        #expect(try await code(again, 7) == "rollback")
        #expect(try await code(again, 9) == nil)
        #expect(place.versions == [9])
    }

    @Test("The higher one of two floors counts, and the lower one is raised")
    func higher() async throws {
        #expect(try await code(scene.open(floor: place), 7) == nil)
        // The app had no outside storage until now.
        #expect(try await code(scene.open(), 8) == nil)
        #expect(place.versions == [7])
        #expect(try scene.open(floor: place).floor?.version == 8)
        #expect(place.versions == [8])
    }

    @Test("A floor from the unsigned file is not copied to the outside storage")
    func poisoned() async throws {
        #expect(try await code(scene.open(floor: place), 7) == nil)
        let text = String(decoding: try #require(scene.file("floor.json")), as: UTF8.self)
        let highest = text.replacing("\"version\": 7", with: "\"version\": \(UpdatePayload.maximumVersion)")
        #expect(highest != text)
        try scene.directory.write(Array(highest.utf8), to: "floor.json")
        let store = try scene.open(floor: place)
        #expect(store.version == 0 && store.floor?.version == UpdatePayload.maximumVersion)
        #expect(try await code(store, 9) == "rollback")
        #expect(place.versions == [7])
        // As after reinstalling the app.
        wipe()
        let again = try scene.open(floor: place)
        #expect(again.floor?.version == 7)
        #expect(try await code(again, 9) == nil)
        #expect(place.versions == [9])
    }

    @Test("While the floor cannot be read, no update is adopted and nothing is overwritten")
    func unreadable() async throws {
        let store = try scene.open(floor: place)
        #expect(try await code(store, 8) == nil)
        _ = scene.takeEvents()
        place.state.withLock { $0.readError = FloorPlace.error(.locked) }
        #expect(try await code(store, 9) == "floor: locked")
        #expect(store.version == 8)
        #expect(throws: PolicyStoreError.floorUnreadable(FloorPlace.error(.locked))) {
            try scene.open(.refuse, floor: place)
        }
        _ = scene.takeEvents()
        // The folder's update is in force, but the unreadable floor is not overwritten with it.
        scene.remove("floor.json")
        let again = try scene.open(floor: place)
        #expect(again.version == 8)
        #expect(scene.takeEvents() == ["floor locked"])
        wipe()
        let empty = try scene.open(floor: place)
        #expect(empty.version == 0)
        #expect(try await code(empty, 7) == "floor: locked")
        #expect(scene.file("update.json") == nil)
        place.state.withLock { $0.readError = nil }
        #expect(place.versions == [8])
        #expect(try await code(empty, 7) == "rollback")
        #expect(try await code(empty, 9) == nil)
        #expect(empty.version == 9 && place.versions == [9])
    }

    @Test("An update whose floor cannot be saved is not in force until the next start")
    func notKept() async throws {
        let store = try scene.open(floor: place)
        place.state.withLock { $0.writeError = FloorPlace.error(.notWritten) }
        #expect(try await code(store, 7) == "not stored: not-written")
        #expect(store.version == 0 && place.versions.isEmpty)
        #expect(scene.takeEvents() == ["not stored"])
        place.state.withLock { $0.writeError = nil }
        #expect(try scene.open(floor: place).version == 7)
        #expect(place.versions == [7])
    }

    @Test("An update that the outside storage refuses is not activated by a reload, and nothing older is adopted")
    func notKeptTwice() async throws {
        let store = try scene.open(floor: place)
        #expect(try await code(store, 7) == nil)
        // Counter-check: another process adopts while the storage works.
        #expect(try await code(scene.open(floor: place), 8) == nil)
        await store.reload()
        #expect(store.version == 8)
        place.state.withLock { $0.writeError = FloorPlace.error(.notWritten) }
        #expect(try await code(store, 9) == "not stored: not-written")
        _ = scene.takeEvents()
        for _ in 0..<2 {
            await store.reload()
            #expect(store.version == 8 && place.versions == [8])
            #expect(scene.takeEvents() == ["not stored"])
            #expect(try await code(store, 9) == "not stored: not-written")
            // Another process may have activated it at its start, so an older update must not replace it.
            #expect(try await code(store, 8) == "rollback")
            _ = scene.takeEvents()
        }
        // A store that is opened now activates it, because it is the newest one on the disk.
        #expect(try scene.open(floor: place).version == 9)
        _ = scene.takeEvents()
        place.state.withLock { $0.writeError = nil }
        await store.reload()
        #expect(store.version == 9 && place.versions == [9])
        #expect(scene.takeEvents() == ["adopted 9"])
    }

    @Test("A floor's file that cannot be written does not keep the outside storage below the stored update")
    func obstructed() async throws {
        let store = try scene.open(floor: place)
        #expect(try await code(store, 7) == nil)
        let old = try ["update.json", "floor.json"].map { ($0, try #require(scene.file($0))) }
        // An attacker with access to the folder puts a folder in the place of the floor's file.
        scene.remove("floor.json")
        try scene.directory.write("", to: "floor.json/x")
        #expect(try await code(store, 8) == "not stored: not-written")
        #expect(store.version == 7 && place.versions == [8])
        // The next start has it in force.
        #expect(try scene.open(floor: place).version == 8)
        // The old folder is detected, even if no process started in between, and the next update is adopted.
        scene.remove("floor.json/x")
        rmdir(scene.directory.path(of: "floor.json"))
        for (name, bytes) in old { try scene.directory.write(bytes, to: name) }
        let again = try scene.open(floor: place)
        #expect(again.version == 0 && again.loss?.version == 8)
        #expect(try await code(again, 7) == "rollback")
        #expect(try await code(again, 9) == nil)
    }

    @Test("A refused update counts as a copy of the floor, but does not raise the outside storage")
    func refused() async throws {
        #expect(try await code(scene.open(floor: place), 6) == nil)
        #expect(try await code(scene.open(), 7) == nil)
        scene.remove("floor.json")
        _ = scene.takeEvents()
        var later = scene
        later.app.bundled = Publication.policy(Publication.rule("example.com"), Publication.rule("example.net"))
        let store = try later.open(floor: place)
        #expect(store.version == 0 && store.floor?.version == 7 && store.loss?.version == 7)
        #expect(scene.file("floor.json") == store.floor?.json && place.versions == [6])
        #expect(try await code(store, 6) == "rollback")
        // Counter-check: a release that takes the update raises it.
        #expect(try scene.open(floor: place).version == 7)
        #expect(place.versions == [7])
    }

    @Test("A malformed outside floor is restored from the folder; if the folder is empty, the store is lost")
    func malformed() async throws {
        #expect(try await code(scene.open(floor: place), 8) == nil)
        let whole = place.state.withLock { $0.floors }
        for broken in [[], Array("{}".utf8), [UInt8](repeating: 0x20, count: 5_000)] as [[UInt8]] {
            place.state.withLock { $0.floors = $0.floors.mapValues { _ in broken } }
            #expect(try scene.open(floor: place).version == 8)
            #expect(place.state.withLock { $0.floors } == whole)
        }
        place.state.withLock { $0.floors = $0.floors.mapValues { _ in [] } }
        wipe()
        _ = scene.takeEvents()
        #expect(try scene.open(floor: place).floor == nil)
        #expect(scene.takeEvents() == ["lost ?"])
    }

    @Test("Each set of keys has its own floor, and the old floor counts again with the old keys")
    func otherKeys() async throws {
        #expect(try await code(scene.open(floor: place), 8) == nil)
        wipe()
        // The store does not open with the old keys, because their update is lost.
        #expect(throws: PolicyStoreError.self) { try scene.open(.refuse, floor: place) }
        let store = try PolicyStore(
            folder: scene.folder, trust: UpdateTrust(keys: [scene.app.stranger.key]),
            bundled: Publication.read(scene.app.bundled), floor: place, onLostStore: .refuse)
        #expect(store.floor == nil)
        #expect(try await code(store, 3, by: scene.app.stranger) == nil)
        #expect(place.versions == [3, 8])
        wipe()
        #expect(try await code(scene.open(floor: place), 7) == "rollback")
    }
}
