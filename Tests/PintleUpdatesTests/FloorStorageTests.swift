import Pintle
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

@Suite("A floor that is kept outside of the folder")
struct FloorStorageTests {
    let scene: StoreScene
    private let place = FloorPlace()

    init() throws {
        scene = try StoreScene()
    }

    /// What becomes of an update: a code, or `nil` where it is taken.
    private func code(_ store: PolicyStore, _ version: UInt8, by keys: TestKey...) async throws -> String? {
        let envelope = try scene.update(version, by: keys.first ?? scene.app.one)
        do throws(PolicyStoreError) {
            try await store.adopt(envelope, at: Publication.now)
            return nil
        } catch {
            switch error {
            case .rejected(let rejection): return rejection.failure.code
            case .notStored(let error): return "not stored: \(error.code.rawValue)"
            case .floorUnreadable(let error): return "floor: \(error.code.rawValue)"
            case .lostStore: return "lost"
            }
        }
    }

    private func wipe() {
        for name in ["update.json", "floor.json", "update.json.lock"] { scene.remove(name) }
    }

    @Test("A folder that was wiped lets no older update in; without the place outside it does")
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

    @Test("A folder that was put back to an older state is not taken for the last one")
    func putBack() async throws {
        let store = try scene.open(floor: place)
        #expect(try await code(store, 7) == nil)
        let (update, floor) = (try #require(scene.file("update.json")), try #require(scene.file("floor.json")))
        #expect(try await code(store, 8) == nil)
        try scene.directory.write(update, to: "update.json")
        try scene.directory.write(floor, to: "floor.json")
        // The twin: nothing outside remembers.
        #expect(try scene.open().version == 7)
        _ = scene.takeEvents()
        let again = try scene.open(floor: place)
        #expect(again.version == 0 && again.loss?.version == 8)
        #expect(scene.takeEvents() == ["lost 8"])
        #expect(try await code(again, 7) == "rollback")
        #expect(try await code(again, 9) == nil)
        #expect(place.versions == [9])
    }

    @Test("Of two floors the higher one counts, and the lower one is raised")
    func higher() async throws {
        #expect(try await code(scene.open(floor: place), 7) == nil)
        // An app that kept none outside until now.
        #expect(try await code(scene.open(), 8) == nil)
        #expect(place.versions == [7])
        #expect(try scene.open(floor: place).floor?.version == 8)
        #expect(place.versions == [8])
    }

    @Test("What a file alone says, which nobody has signed, is not carried outside, where it would outlive the file")
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
        // As after the app was installed again.
        wipe()
        let again = try scene.open(floor: place)
        #expect(again.floor?.version == 7)
        #expect(try await code(again, 9) == nil)
        #expect(place.versions == [9])
    }

    @Test("What cannot be read is not nothing: no update is taken, what is in force stays, and nothing is overwritten")
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
        // What the folder has is in force, and is not written over what nobody can see.
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

    @Test("Where the floor is not kept the update is not in force, and is found at the next start")
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

    @Test("What the place outside does not take is in force after no reload, and after none is anything below it taken")
    func notKeptTwice() async throws {
        let store = try scene.open(floor: place)
        #expect(try await code(store, 7) == nil)
        // The twin: another process adopts while the place takes floors.
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
            // Another process may have started with it: what is below it is not put in its place.
            #expect(try await code(store, 8) == "rollback")
            _ = scene.takeEvents()
        }
        // At a start it is the last there is.
        #expect(try scene.open(floor: place).version == 9)
        _ = scene.takeEvents()
        place.state.withLock { $0.writeError = nil }
        await store.reload()
        #expect(store.version == 9 && place.versions == [9])
        #expect(scene.takeEvents() == ["adopted 9"])
    }

    @Test("What makes no sense is made anew from what the folder knows; where that is nothing, the store is lost")
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

    @Test("Other keys have another floor, and the old one counts again with the old keys")
    func otherKeys() async throws {
        #expect(try await code(scene.open(floor: place), 8) == nil)
        wipe()
        // With the old keys the store does not open: the update is lost.
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
