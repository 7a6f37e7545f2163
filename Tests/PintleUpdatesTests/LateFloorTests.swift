import FoundationEssentials
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

/// A server that answers "not modified" to every entity tag and has no document.
private struct UnchangedServer: UpdateTransport {
    struct Untagged: Error {}

    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
        guard request.entityTag != nil else { throw Untagged() }
        return .notModified
    }
}

/// The process starts before the device is first unlocked. It cannot read the floor in the Keychain, so it cannot
/// detect that the folder was changed.
///
///     Keychain  [locked ......................] 7
///     folder    3  or nothing
///     process         opens         fetches      fetches
@Suite("A floor that can be read only after the start")
struct LateFloorTests {
    let scene: StoreScene
    private let place = FloorPlace()
    private let source: UpdateSource

    init() throws {
        scene = try StoreScene()
        source = UpdateSource(urls: [try #require(URL(string: "a"))], transport: UnchangedServer())
    }

    private func setLocked(_ isLocked: Bool) {
        place.state.withLock { $0.readError = isLocked ? FloorPlace.error(.locked) : nil }
    }

    private func rejection(_ store: PolicyStore, _ version: UInt8) async throws -> String? {
        let envelope = try scene.update(version)
        do throws(PolicyStoreError) {
            try await store.adopt(envelope, at: Publication.now)
            return nil
        } catch {
            guard case .rejected(let rejection) = error else { return "\(error)" }
            return rejection.code.rawValue
        }
    }

    /// Writes the record of fetches, as an attacker with write access to the folder could.
    private func writeRecord(version: Int) throws {
        try scene.directory.write(
            """
            {"lastAttempt": "2026-11-20T11:59:59Z", "lastSuccess": "2026-11-20T11:59:59Z", "failures": 0, "phase": 0,
             "version": \(version), "entityTags": {"a": "\\"7\\""}}
            """, to: "fetches.json")
    }

    /// Opens a store on a folder while the storage is locked. The storage has version 7.
    private func open(_ state: String) async throws -> PolicyStore {
        let store = try scene.open(floor: place)
        try await store.adopt(scene.update(3), at: Publication.now)
        let old = try ["update.json", "floor.json"].map { ($0, try #require(scene.file($0))) }
        try await store.adopt(scene.update(7), at: Publication.now)
        switch state {
        case "as it was": break
        case "wiped": for name in ["update.json", "floor.json", "update.json.lock"] { scene.remove(name) }
        default: for (name, bytes) in old { try scene.directory.write(bytes, to: name) }
        }
        _ = scene.takeEvents()
        setLocked(true)
        return try scene.open(floor: place)
    }

    @Test(
        "A restored older update is withdrawn once the floor can be read", arguments: ["3", "wiped", "as it was"])
    func putBack(state: String) async throws {
        let store = try await open(state)
        let found = ["3": 3, "wiped": 0, "as it was": 7][state]
        #expect(store.version == found && store.loss == nil)
        await store.reload()
        #expect(store.version == found && store.loss == nil)
        #expect(Set(scene.takeEvents()).isSubset(of: ["floor locked"]))
        setLocked(false)
        await store.reload()
        if state == "as it was" {
            #expect(store.version == 7 && store.loss == nil && store.current.generation == 1)
            #expect(scene.takeEvents() == [])
            return
        }
        // The outcome is that of a store that is opened now.
        let fresh = try scene.open(floor: place)
        #expect(store.version == 0 && store.update == nil && store.pin == fresh.pin && store.floor?.version == 7)
        #expect(store.loss == fresh.loss && store.loss?.version == 7)
        #expect(store.current.generation == (state == "3" ? 2 : 1))
        #expect(scene.takeEvents() == ["lost 7", "lost 7"])
        await store.reload()
        #expect(scene.takeEvents() == [])
        #expect(try await rejection(store, 3) == "rollback")
        #expect(try await rejection(store, 7) == nil)
        #expect(store.version == 7 && store.loss == nil)
    }

    @Test("Another update of the same version is withdrawn too, and the same update stays even without its file")
    func replaced() async throws {
        for isOther in [true, false] {
            let store = try scene.open(floor: place)
            try await store.adopt(scene.update(7), at: Publication.now)
            let other = isOther ? try Publication(version: "7").signed(by: scene.app.one) : try scene.update(7)
            try scene.directory.write(other, to: "update.json")
            scene.remove("floor.json")
            setLocked(true)
            let late = try scene.open(floor: place)
            #expect(late.version == 7 && late.pin == Pins.pin(isOther ? 2 : 7))
            if !isOther { scene.remove("update.json") }
            setLocked(false)
            await late.reload()
            #expect(late.version == (isOther ? 0 : 7) && late.floor == store.floor)
            #expect(late.loss?.version == (isOther ? 7 : nil))
        }
    }

    @Test(
        "An update that appears while the floor is unreadable is adopted later unless it is below the floor",
        arguments: [7, 9])
    func appears(kept: Int) async throws {
        let store = try scene.open(floor: place)
        try await store.adopt(scene.update(7), at: Publication.now)
        let floor = try #require(store.floor)
        setLocked(true)
        try scene.directory.write(scene.update(8), to: "update.json")
        await store.reload()
        #expect(store.version == 7)
        if kept == 9 {
            let nine = UpdateFloor(version: 9, keySetID: floor.keySetID, payloadDigest: floor.payloadDigest)
            place.state.withLock { $0.floors[floor.keySetID] = nine.json }
        }
        setLocked(false)
        await store.reload()
        // The active update was compared with the floor before, so it stays.
        #expect(store.version == (kept == 9 ? 7 : 8) && store.floor?.version == (kept == 9 ? 9 : 8))
        #expect(store.loss == nil)
    }

    @Test("Neither an entity tag nor a status 304 prevents the check of the floor", arguments: ["3", "as it was"])
    func notModified(state: String) async throws {
        let isWhole = state == "as it was"
        try writeRecord(version: isWhole ? 7 : 3)
        let store = try await open(state)
        // Due whatever the record says. While the floor cannot be read, a "not modified" does not count.
        guard case .failed = await store.refreshIfDue(from: source, at: Publication.now) else {
            Issue.record("not failed")
            return
        }
        #expect(store.version == (isWhole ? 7 : 3))
        setLocked(false)
        let result = await store.refresh(from: source, at: Publication.now)
        if isWhole {
            guard case .unchanged = result else {
                Issue.record("\(result)")
                return
            }
        } else {
            guard case .failed = result else {
                Issue.record("\(result)")
                return
            }
            #expect(store.version == 0 && store.loss?.version == 7)
        }
    }

    @Test("A store reads the floor before it computes whether a fetch is due", arguments: ["3", "as it was"])
    func due(state: String) async throws {
        try writeRecord(version: 7)
        let store = try await open(state)
        setLocked(false)
        let next = await store.nextFetch(at: Publication.now)
        #expect((next == Publication.now) == (state == "3"))
        #expect(store.version == (state == "3" ? 0 : 7))
    }

    @Test("Entity tags are not sent without an update, or with an update below the floor")
    func tagsWithoutUpdate() async throws {
        try writeRecord(version: 0)
        let store = try scene.open()
        guard case .failed = await store.refresh(from: source, at: Publication.now) else {
            Issue.record("asked by a tag")
            return
        }
        // Counter-check: with an update the tag is sent.
        try await store.adopt(scene.update(7), at: Publication.now)
        try writeRecord(version: 7)
        let again = try scene.open()
        guard case .unchanged = await again.refresh(from: source, at: Publication.now) else {
            Issue.record("not asked by a tag")
            return
        }
        // Another process adopted 8, and its file is lost.
        let eight = UpdateFloor(
            version: 8, keySetID: try scene.app.trust.keySetID, payloadDigest: try #require(again.floor).payloadDigest)
        try scene.directory.write(eight.json, to: "floor.json")
        guard case .failed = await again.refresh(from: source, at: Publication.now) else {
            Issue.record("unchanged below the floor")
            return
        }
        #expect(again.version == 7)
    }
}
