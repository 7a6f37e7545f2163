import FoundationEssentials
import Glibc
import Pintle
import PintleCrypto
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

/// A server that has one update with an entity tag.
private struct OneServer: UpdateTransport {
    let update: [UInt8]
    let tag: String

    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
        request.entityTag == tag ? .notModified : .document(update, entityTag: tag)
    }
}

@Suite("The store of updates")
struct PolicyStoreTests {
    var scene: StoreScene

    init() throws {
        scene = try StoreScene()
    }

    private func code(_ store: PolicyStore, _ envelope: [UInt8], at now: Date = Publication.now) async -> String? {
        do {
            try await store.adopt(envelope, at: now)
            return nil
        } catch {
            guard case .rejected(let rejection) = error else { return "\(error)" }
            return rejection.code.rawValue
        }
    }

    /// Expects that a store with `.refuse` does not open. Returns the lost version and the code of the cause.
    private func loss(_ scene: StoreScene) -> String? {
        let error = #expect(throws: PolicyStoreError.self) { try scene.open(.refuse) }
        guard case .lostStore(let loss) = error else { return nil }
        let version = loss.version.map(String.init) ?? "?"
        return switch loss.cause {
        case .missing: "\(version) missing"
        case .unreadable(let error): "\(version) \(error.code.rawValue)"
        case .rejected(let rejection): "\(version) \(rejection.code.rawValue)"
        }
    }

    @Test("The policy is first bundled, then adopted, and stored across a restart without a network")
    func life() async throws {
        let store = try scene.open()
        #expect(store.current.generation == 1 && store.pin == Pins.pin(1) && store.update == nil && store.floor == nil)
        try await store.adopt(scene.update(7), at: Publication.now)
        #expect(store.current.generation == 2 && store.pin == Pins.pin(7) && store.floor?.version == 7)
        #expect(scene.file("update.json") == (try scene.update(7)))
        let again = try scene.open(.refuse)
        #expect(again.current.generation == 1 && again.pin == Pins.pin(7) && again.floor == store.floor)
        #expect(scene.takeEvents() == ["adopted 7"])
    }

    @Test("The newest known time is the later one of release date and update, never the device's clock")
    func newestKnownTime() async throws {
        let store = try scene.open()
        #expect(store.current.newestKnownTime == nil)
        let released = Date(timeIntervalSince1970: 1_000_000_000)
        #expect(try scene.open(releaseDate: released).current.newestKnownTime == released)
        try await store.adopt(scene.update(7), at: Publication.now)
        let issued = try #require(store.update?.issuedAt)
        #expect(store.current.newestKnownTime == issued)
        #expect(try scene.open(releaseDate: released).current.newestKnownTime == issued)
        #expect(try scene.open(releaseDate: issued + 1).current.newestKnownTime == issued + 1)
    }

    @Test("A replayed old update is refused both before and after a restart")
    func replay() async throws {
        let store = try scene.open()
        for version in UInt8(6)...8 { try await store.adopt(scene.update(version), at: Publication.now) }
        #expect(await code(store, try scene.update(7)) == "rollback")
        let again = try scene.open()
        #expect(await code(again, try scene.update(7)) == "rollback")
        #expect(await code(again, try scene.update(8)) == nil)
        #expect(await code(again, try scene.update(9)) == nil)
        #expect(again.pin == Pins.pin(9))
    }

    @Test("A refused update changes neither memory nor disk, and the next valid update is adopted")
    func refused() async throws {
        let store = try scene.open()
        try await store.adopt(scene.update(7), at: Publication.now)
        let files = (scene.file("update.json"), scene.file("floor.json"))
        let other = Publication.policy(Publication.rule("example.net"))
        for (bytes, expected) in [
            ([], "malformed-envelope"), (try scene.update(8, by: scene.app.stranger), "invalid-signature"),
            (try scene.update(6), "rollback"),
            (try Publication(version: "7").signed(by: scene.app.one), "replaced-version"),
            (try Publication(version: "8", expiresAt: "2026-11-20T00:00:00Z").signed(by: scene.app.one), "expired"),
            (try Publication(version: "8", policy: other).signed(by: scene.app.one), "out-of-scope"),
            (try Publication(version: "8", policy: Publication.policy()).signed(by: scene.app.one), "invalid-policy"),
            (try Publication(version: "9007199254740992").signed(by: scene.app.one), "rollback"),
        ] {
            #expect(await code(store, bytes) == expected)
            #expect(store.current.generation == 2 && store.pin == Pins.pin(7))
            #expect(scene.file("update.json") == files.0 && scene.file("floor.json") == files.1)
        }
        #expect(await code(store, try scene.update(8)) == nil)
        #expect(store.current.generation == 3 && store.pin == Pins.pin(8))
    }

    @Test("An expired update stays in force, so that blocking updates does not change the policy")
    func expired() async throws {
        let store = try scene.open()
        let short = Publication(expiresAt: "2026-11-20T12:00:01Z")
        try await store.adopt(short.signed(by: scene.app.one), at: Publication.now)
        // Opened with an update that expired long before the machine's clock.
        let again = try scene.open(.refuse)
        #expect(again.version == 7 && again.pin == Pins.pin(2))
        #expect(
            await code(again, try short.signed(by: scene.app.one), at: Date(timeIntervalSince1970: 2e9)) == "expired")
        #expect(again.version == 7)
        // Setting the clock back does not withdraw it either.
        #expect(await code(again, try scene.update(8), at: Date(timeIntervalSince1970: 0)) == "not-yet-issued")
        #expect(again.version == 7)
        #expect(await code(again, try scene.update(8)) == nil)
    }

    @Test("The same rules with a higher version are adopted without a new generation")
    func sameRules() async throws {
        let store = try scene.open()
        let first = Publication(version: "7")
        try await store.adopt(first.signed(by: scene.app.one), at: Publication.now)
        try await store.adopt(Publication(version: "8").signed(by: scene.app.one), at: Publication.now)
        #expect(store.version == 8 && store.current.generation == 2 && store.floor?.version == 8)
        try await store.adopt(scene.update(9), at: Publication.now)
        #expect(store.current.generation == 3)
    }

    // MARK: Loss

    @Test("A lost update falls back to the bundled policy and keeps the floor, or the store does not open")
    func lost() async throws {
        try await scene.open().adopt(scene.update(7), at: Publication.now)
        let whole = try #require(scene.file("update.json"))
        _ = scene.takeEvents()
        for (broken, cause) in [
            (nil, "missing"), ([], "malformed-envelope"), (Array(whole.dropLast(9)), "malformed-envelope"),
            (try scene.update(7, by: scene.app.stranger), "invalid-signature"), (try scene.update(6), "rollback"),
        ] {
            if let broken { try scene.directory.write(broken, to: "update.json") } else { scene.remove("update.json") }
            #expect(loss(scene) == "7 \(cause)")
            _ = scene.takeEvents()
            let store = try scene.open()
            #expect(scene.takeEvents() == ["lost 7"])
            #expect(store.loss?.version == 7 && store.version == 0 && store.pin == Pins.pin(1))
            // The floor is kept: an older update is refused, and the same one is adopted again.
            #expect(await code(store, try scene.update(6)) == "rollback")
            #expect(await code(store, whole) == nil)
            #expect(store.version == 7 && store.loss == nil)
            #expect(try scene.open(.refuse).version == 7)
        }
    }

    @Test("A store with .refuse recovers by a fetch of the lost update or a newer one")
    func wayBack() async throws {
        func fetch(_ version: UInt8, into store: PolicyStore) async throws {
            let server = OneServer(update: try scene.update(version), tag: "\(version)")
            let url = try #require(URL(string: "https://a"))
            await store.refresh(
                from: UpdateSource(urls: [url], transport: server),
                at: Publication.now)
        }
        try await fetch(7, into: scene.open(.refuse))
        // The entity tag of the lost update does not prevent the fetch.
        for version in [7, 6, 8] as [UInt8] {
            scene.remove("update.json")
            #expect(loss(scene) == "7 missing")
            let store = try scene.open(.useBundled)
            _ = scene.takeEvents()
            try await fetch(version, into: store)
            if version == 6 {
                #expect(scene.takeEvents() == ["rejected rollback https://a"])
                #expect(loss(scene) == "7 missing")
            } else {
                #expect(scene.takeEvents() == ["adopted \(version)"])
                #expect(try scene.open(.refuse).pin == Pins.pin(version))
            }
        }
    }

    @Test("A lost floor is restored from the update")
    func lostFloor() async throws {
        try await scene.open().adopt(scene.update(7), at: Publication.now)
        let whole = try #require(scene.file("floor.json"))
        for broken in [nil, [], Array(whole.dropLast(9)), Array("{\"version\": 1}".utf8)] as [[UInt8]?] {
            if let broken { try scene.directory.write(broken, to: "floor.json") } else { scene.remove("floor.json") }
            let store = try scene.open(.refuse)
            #expect(store.version == 7 && scene.file("floor.json") == whole)
            #expect(await code(store, try scene.update(6)) == "rollback")
        }
    }

    @Test("The floor in memory does not fall when the disk's floor does")
    func memory() async throws {
        let store = try scene.open()
        try await store.adopt(scene.update(7), at: Publication.now)
        scene.remove("update.json")
        scene.remove("floor.json")
        #expect(await code(store, try scene.update(6)) == "rollback")
        await store.reload()
        #expect(store.version == 7)
        // An update that the server sends again is written again.
        #expect(await code(store, try scene.update(7)) == nil)
        #expect(try scene.open(.refuse).version == 7)
    }

    // MARK: Releases

    @Test("A release with other keys starts without a floor, so a thief of the old keys cannot block updates")
    func otherKeys() async throws {
        let highest = Publication(version: "\(UpdatePayload.maximumVersion)")
        let store = try scene.open()
        try await store.adopt(highest.signed(by: scene.app.one), at: Publication.now)
        #expect(await code(store, try scene.update(9)) == "rollback")
        // Counter-check: a release with the same keys in another order keeps the floor.
        let (one, two) = (scene.app.one.key, scene.app.two.key)
        let reordered = try PolicyStore(
            folder: scene.folder, trust: UpdateTrust(keys: [two, one]), bundled: Publication.read(scene.app.bundled))
        #expect(reordered.version == UpdatePayload.maximumVersion)

        let third = try TestKey(3)
        let next = try PolicyStore(
            folder: scene.folder, trust: UpdateTrust(keys: [third.key]), bundled: Publication.read(scene.app.bundled),
            onLostStore: .refuse)
        #expect(next.version == 0 && next.floor == nil)
        #expect(await code(next, try highest.signed(by: scene.app.one)) == "invalid-signature")
        #expect(await code(next, try scene.update(1, by: third)) == nil)
        let again = try PolicyStore(
            folder: scene.folder, trust: UpdateTrust(keys: [third.key]), bundled: Publication.read(scene.app.bundled),
            onLostStore: .refuse)
        #expect(again.version == 1)
    }

    @Test("An update with signatures of the old and the new keys stays active after the release")
    func bothKeys() async throws {
        let third = try TestKey(3)
        try await scene.open().adopt(scene.update(7, by: scene.app.one, third), at: Publication.now)
        let next = try PolicyStore(
            folder: scene.folder, trust: UpdateTrust(keys: [third.key]), bundled: Publication.read(scene.app.bundled),
            onLostStore: .refuse)
        #expect(next.version == 7)
        #expect(await code(next, try scene.update(6, by: third)) == "rollback")
    }

    @Test("If a release keeps the key that signed the stored update, versions go on, even without the floor's file")
    func keptKey() async throws {
        let third = try TestKey(3)
        try await scene.open().adopt(scene.update(7), at: Publication.now)
        let stored = try #require(scene.file("update.json"))
        let more = Publication.policy(Publication.rule("example.com"), Publication.rule("example.net"))
        for (keepsKey, bundled) in [(true, scene.app.bundled), (true, more), (false, more)] {
            try scene.directory.write(stored, to: "update.json")
            scene.remove("floor.json")
            let next = try PolicyStore(
                folder: scene.folder, trust: UpdateTrust(keys: (keepsKey ? [scene.app.one.key] : []) + [third.key]),
                bundled: Publication.read(bundled))
            #expect(next.version == (bundled == more ? 0 : 7) && next.floor?.version == (keepsKey ? 7 : nil))
            func update(_ version: Int) throws -> [UInt8] {
                try Publication(version: "\(version)", policy: bundled).signed(by: third)
            }
            #expect(await code(next, try update(1)) == (keepsKey ? "rollback" : nil))
            #expect(await code(next, try update(8)) == nil)
        }
    }

    @Test("A release with a bundled policy as new as the stored update replaces it without a loss")
    func caughtUp() async throws {
        try await scene.open().adopt(scene.update(7), at: Publication.now)
        var later = scene
        for (version, expected) in [("7", 7), ("8", 0), ("6", 7)] {
            later.app.bundled = Publication.policy(
                Publication.rule("example.com", pin: 9), more: ", \"updateVersion\": \(version)")
            let store = try later.open(.refuse)
            #expect(store.update?.version ?? 0 == expected)
        }
    }

    @Test("A release with a new rule opens strictly only if it states the version of the stored update")
    func newRule() async throws {
        var later = scene
        func update(_ version: Int) throws -> [UInt8] {
            let rules = Publication.policy(Publication.rule("example.com", pin: 9), Publication.rule("example.net"))
            return try Publication(version: "\(version)", policy: rules).signed(by: scene.app.one)
        }
        try await scene.open().adopt(scene.update(7), at: Publication.now)
        let stored = try #require(scene.file("update.json"))
        let floor = try #require(scene.file("floor.json"))
        for (more, isOpen) in [("", false), (", \"updateVersion\": 6", false), (", \"updateVersion\": 7", true)] {
            for hasFloor in [true, false] {
                try scene.directory.write(stored, to: "update.json")
                if hasFloor { try scene.directory.write(floor, to: "floor.json") } else { scene.remove("floor.json") }
                later.app.bundled = Publication.policy(
                    Publication.rule("example.com"), Publication.rule("example.net"), more: more)
                if isOpen {
                    let store = try later.open(.refuse)
                    #expect(store.update == nil && store.loss == nil && store.current.policy.hosts.count == 2)
                } else {
                    #expect(loss(later) == "7 invalid-policy")
                }
                let store = try later.open(isOpen ? .refuse : .useBundled)
                // The stored update does not cover this release's rules, and its version is used up.
                #expect(await code(store, stored) == (isOpen && !hasFloor ? "replaced-version" : "invalid-policy"))
                #expect(await code(store, try update(6)) == "rollback")
                #expect(await code(store, try update(7)) == "replaced-version")
                #expect(await code(store, try update(8)) == nil)
                #expect(try later.open(.refuse).version == 8)
            }
        }
    }

    @Test(
        "Without its file, the floor is that of the stored update even if the release refuses it",
        arguments: [true, false])
    func floorOfRefused(isDamaged: Bool) async throws {
        var later = scene
        later.app.bundled = Publication.policy(Publication.rule("example.com"), Publication.rule("example.net"))
        func update(_ version: Int) throws -> [UInt8] {
            let rules = Publication.policy(Publication.rule("example.com", pin: 9), Publication.rule("example.net"))
            return try Publication(version: "\(version)", policy: rules).signed(by: scene.app.one)
        }
        func damage() throws {
            if isDamaged {
                try scene.directory.write("{\"version\": 7", to: "floor.json")
            } else {
                scene.remove("floor.json")
            }
        }
        try await scene.open().adopt(scene.update(7), at: Publication.now)
        let stored = try #require(scene.file("update.json"))
        try damage()
        let store = try later.open()
        #expect(store.version == 0 && store.loss?.version == 7 && store.floor?.version == 7)
        #expect(await code(store, try update(6)) == "rollback")
        #expect(await code(store, try update(7)) == "replaced-version")
        // The file is written again, so the floor outlives the update.
        scene.remove("update.json")
        #expect(await code(try later.open(), try update(6)) == "rollback")
        // Counter-check: a later update is adopted, and so is any that a stranger's signature does not hold down.
        #expect(await code(try later.open(), try update(8)) == nil)
        try damage()
        try scene.directory.write(try scene.update(7, by: scene.app.stranger), to: "update.json")
        let other = try later.open()
        #expect(other.floor == nil && other.loss != nil)
        #expect(await code(other, try update(6)) == nil)
        // Counter-check: a release with other keys, one of which stays, begins a new floor.
        try scene.directory.write(stored, to: "update.json")
        let foreign = UpdateFloor(
            version: 7, keySetID: try scene.app.trust.keySetID, payloadDigest: SHA256Digest(hashing: []))
        try scene.directory.write(foreign.json, to: "floor.json")
        let next = try PolicyStore(
            folder: scene.folder, trust: UpdateTrust(keys: [scene.app.one.key, TestKey(3).key]),
            bundled: Publication.read(later.app.bundled))
        #expect(next.version == 0 && next.floor == nil)
        #expect(await code(next, try update(1)) == nil)
    }

    @Test(
        "The floor is that of the stored update, even if its file lags behind when the next release refuses the update")
    func laggingFloor() async throws {
        var later = scene
        let anyHost = ", \"updates\": {\"anyHost\": true}"
        later.app.bundled = Publication.policy(Publication.rule("example.com"), more: anyHost)
        let rules = Publication.policy(Publication.rule("example.com", pin: 8), Publication.rule("example.net"))
        let eight = try Publication(version: "8", policy: rules).signed(by: scene.app.one)
        for isRefused in [true, false] {
            try await later.open().adopt(scene.update(7), at: Publication.now)
            // The process ended before it wrote the floor, and the next one could not write it either.
            try scene.directory.write(eight, to: "update.json")
            scene.remove("update.json.lock")
            try scene.directory.write("", to: "update.json.lock/x")
            #expect(try later.open().version == 8)
            scene.remove("update.json.lock/x")
            rmdir(scene.directory.path(of: "update.json.lock"))
            // The bundled policy of this release permits no other host.
            let store = try isRefused ? scene.open() : later.open()
            #expect(store.version == (isRefused ? 0 : 8) && store.loss?.version == (isRefused ? 8 : nil))
            #expect(scene.file("floor.json") == store.floor?.json && store.floor?.version == 8)
            #expect(await code(store, try scene.update(7)) == "rollback")
            #expect(await code(store, try scene.update(9)) == nil)
            for name in ["update.json", "floor.json"] { scene.remove(name) }
        }
    }

    @Test("An update that is adopted again is stored, even if the disk has another one with its version")
    func otherOfVersion() async throws {
        let store = try scene.open()
        try await store.adopt(scene.update(7), at: Publication.now)
        scene.remove("update.json")
        scene.remove("floor.json")
        try await scene.open().adopt(Publication(version: "7").signed(by: scene.app.one), at: Publication.now)
        #expect(try scene.open().pin == Pins.pin(2))
        // The first process has version 7 with other rules, and refuses those of the disk.
        await store.reload()
        #expect(store.pin == Pins.pin(7))
        #expect(await code(store, try Publication(version: "7").signed(by: scene.app.one)) == "replaced-version")
        #expect(await code(store, try scene.update(7)) == nil)
        #expect(try scene.open(.refuse).pin == Pins.pin(7))
    }

    @Test("Two stores on one folder see each other's updates and never go back to an older one")
    func shared() async throws {
        let (one, other) = (try scene.open(), try scene.open())
        try await one.adopt(scene.update(7), at: Publication.now)
        #expect(other.version == 0)
        await other.reload()
        #expect(other.version == 7)
        try await other.adopt(scene.update(8), at: Publication.now)
        #expect(await code(one, try scene.update(7)) == "rollback")
        #expect(one.version == 8)
    }

    @Test("A store on a read-only folder keeps the active update and reports the failure")
    func noFolder() async throws {
        let notStored = Locked(0)
        let store = try PolicyStore(
            folder: scene.directory.path(of: "none"), trust: scene.app.trust,
            bundled: Publication.read(scene.app.bundled)
        ) { event in
            if case .notStored = event { notStored.withLock { $0 += 1 } }
        }
        let error = await #expect(throws: PolicyStoreError.self) {
            try await store.adopt(scene.update(7), at: Publication.now)
        }
        guard case .notStored(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.code == .notWritten)
        #expect(store.version == 0 && store.current.generation == 1)
        // A fetch reports this only by the event.
        #expect(notStored.withLock { $0 } == 1)
    }
}
