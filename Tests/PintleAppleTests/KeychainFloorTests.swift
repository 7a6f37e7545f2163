import Foundation
import Pintle
import PintleApple
import PintleCrypto
import PintlePolicyFile
import PintleStorage
import PintleTestKit
import PintleUpdates
import Security
import Testing

/// The version floor of updates in the Keychain, which outlives an app's folder.
@Suite("Apple: the floor in the Keychain")
struct KeychainFloorTests {
    /// An app's folder, its keys, and a service that no other test uses.
    fileprivate struct App {
        let directory: TemporaryDirectory
        let service = "test." + UUID().uuidString
        var seed: UInt8 = 1

        init() throws { directory = try TemporaryDirectory() }

        private var seedBytes: [UInt8] { [UInt8](repeating: seed, count: 32) }

        var trust: UpdateTrust {
            get throws {
                let key = try #require(Ed25519.publicKey(ofSeed: seedBytes))
                return try UpdateTrust(keys: [UpdateKey(rawRepresentation: key)])
            }
        }

        var floor: KeychainFloor { KeychainFloor(service: service) }

        func open(
            _ onLostStore: PolicyStore.LossHandling = .useBundled, inKeychain: Bool = true
        ) throws -> PolicyStore {
            try PolicyStore(
                folder: directory.path, trust: try trust, bundled: try PinningPolicy(json: Array(Self.policy.utf8)),
                floor: inKeychain ? floor : nil, onLostStore: onLostStore)
        }

        private static let policy: String = {
            let pins = [UInt8(1), 2].map { "sha256/" + Base64.encode([UInt8](repeating: $0, count: 32)) }
            return """
                {"version": 1, "hosts": [{"host": "example.com", "pins": ["\(pins[0])"], "backupPins": ["\(pins[1])"]}]}
                """
        }()

        func update(_ version: Int) throws -> [UInt8] {
            let payload = """
                {"version": \(version), "issuedAt": "2026-11-01T00:00:00Z", "expiresAt": "2027-02-18T00:00:00Z",
                 "policy": \(Self.policy)}
                """
            var envelope = SignedEnvelope(payload: Array(payload.utf8))
            let signature = try #require(Ed25519.signature(of: envelope.signedBytes, seed: seedBytes))
            envelope.signatures = [.init(keyID: nil, bytes: signature)]
            return envelope.json
        }

        /// Adopts an update. Returns the code of the error, or `nil` if the update was accepted.
        func adopt(_ version: Int, _ store: PolicyStore) async throws -> String? {
            let now = try RFC3339.date(from: "2026-11-20T12:00:00Z")
            let envelope = try update(version)
            do throws(PolicyStoreError) {
                try await store.adopt(envelope, at: now)
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

        /// Deletes the folder, as deleting and reinstalling the app does.
        func reinstall() throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                try FileManager.default.removeItem(atPath: directory.path(of: name))
            }
        }

        var items: [String: StandIn.KeychainItem] { StandIn.keychainItems(service: service) }
    }

    @Test("A reinstalled app refuses updates older than its last one, but only with the Keychain")
    func reinstalled() async throws {
        for inKeychain in [true, false] {
            let app = try App()
            #expect(try await app.adopt(8, app.open(inKeychain: inKeychain)) == nil)
            try app.reinstall()
            let store = try app.open(inKeychain: inKeychain)
            #expect(store.floor?.version == (inKeychain ? 8 : nil))
            #expect(store.loss?.version == (inKeychain ? 8 : nil))
            #expect(try await app.adopt(7, store) == (inKeychain ? "rollback" : nil))
            #expect(try await app.adopt(8, store) == nil)
        }
    }

    @Test("The item is readable after the first unlocking, stays on the device, and has the key set's id as account")
    func attributes() async throws {
        let app = try App()
        let store = try app.open()
        #expect(app.items.isEmpty)
        for version in [7, 8] { #expect(try await app.adopt(version, store) == nil) }
        #expect(Array(app.items.keys) == [try app.trust.keySetID])
        let item = try #require(app.items.first?.value)
        #expect(item.accessible == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        #expect(item.data.map { [UInt8]($0) } == (try app.directory.read("floor.json")))
    }

    @Test("Before the first unlocking no update is accepted, and the existing item does not count as missing")
    func locked() async throws {
        let app = try App()
        let store = try app.open()
        #expect(try await app.adopt(8, store) == nil)
        StandIn.lockKeychain(true, service: app.service)
        #expect(try await app.adopt(9, store) == "floor: locked")
        #expect(store.current.policy.updateVersion == 8)
        #expect(throws: PolicyStoreError.self) { try app.open(.refuse) }
        try app.reinstall()
        let again = try app.open()
        #expect(try await app.adopt(7, again) == "floor: locked")
        // Control: the same with the device unlocked.
        StandIn.lockKeychain(false, service: app.service)
        #expect(try await app.adopt(7, again) == "rollback")
        #expect(try await app.adopt(9, again) == nil)
    }

    @Test("A first update is stored only once the device has been unlocked")
    func lockedAtFirst() async throws {
        let app = try App()
        StandIn.lockKeychain(true, service: app.service)
        let store = try app.open()
        #expect(try await app.adopt(7, store) == "not stored: locked")
        #expect(store.current.policy.updateVersion == 0)
        StandIn.lockKeychain(false, service: app.service)
        #expect(try await app.adopt(7, store) == nil)
        #expect(store.current.policy.updateVersion == 7 && app.items.count == 1)
    }

    @Test("Other failures of the Keychain have codes, and no update is accepted")
    func statuses() async throws {
        for (call, code) in [
            (StandIn.KeychainCall.copyMatching, "floor: unreadable-file"), (.update, "not stored: not-written"),
            (.add, "not stored: not-written"),
        ] {
            let app = try App()
            StandIn.failKeychain(call, with: errSecDecode, service: app.service)
            let store = try app.open()
            #expect(try await app.adopt(7, store) == code)
            StandIn.failKeychain(call, with: nil, service: app.service)
            #expect(try await app.adopt(7, store) == nil)
        }
        let foreign = KeychainFloor(service: "test", accessGroup: "unknown")
        let error = #expect(throws: StorageError.self) { try foreign.floor(forKeySet: "00") }
        #expect(error?.path == "Keychain/test/00" && error?.message == "the app may not use the Keychain")
        let shared = KeychainFloor(service: "test." + UUID().uuidString, accessGroup: "group")
        try shared.save([1], forKeySet: "00")
        #expect(try shared.floor(forKeySet: "00") == [1])
        #expect(try KeychainFloor(service: shared.service).floor(forKeySet: "00") == nil)
        #expect(StandIn.keychainItems(service: shared.service, group: "group").count == 1)
    }

    @Test("If two writers add a floor at once, one of them fails, unless both floors are the same")
    func duplicate() async throws {
        for other in [8, 7] {
            let app = try App()
            let (service, account) = (app.service, try app.trust.keySetID)
            let (mine, theirs) = (try app.floorBytes(7), try app.floorBytes(other))
            StandIn.beforeKeychain(.add, service: service) {
                try? KeychainFloor(service: service).save(theirs, forKeySet: account)
            }
            let store = try app.open()
            #expect(try await app.adopt(7, store) == (other == 7 ? nil : "not stored: busy"))
            #expect(try app.floor.floor(forKeySet: account) == (other == 7 ? mine : theirs))
            // The writer that failed then finds the higher floor.
            #expect(try await app.adopt(7, store) == (other == 7 ? nil : "rollback"))
        }
    }

    @Test("After a race of stores over one folder and one item, the highest version is the floor")
    func race() async throws {
        let app = try App()
        let now = try RFC3339.date(from: "2026-11-20T12:00:00Z")
        let updates = try (1...12).map { try app.update($0) }
        let highest = try await withThrowingTaskGroup(of: Int?.self) { group in
            for update in updates {
                let store = try app.open()
                group.addTask { try? await store.adopt(update, at: now).version }
            }
            return try await group.reduce(into: 0) { $0 = max($0, $1 ?? 0) }
        }
        let store = try app.open(.refuse)
        #expect(highest > 0 && store.floor?.version == highest && store.current.policy.updateVersion == highest)
        #expect(try app.floor.floor(forKeySet: app.trust.keySetID) == app.floorBytes(highest))
    }

    @Test("Threads that save floors at once leave one complete floor")
    func threads() async throws {
        let floor = KeychainFloor(service: "test." + UUID().uuidString)
        await withTaskGroup(of: Void.self) { group in
            for number in UInt8(1)...32 {
                group.addTask { try? floor.save([UInt8](repeating: number, count: 100), forKeySet: "00") }
            }
        }
        let kept = try #require(try floor.floor(forKeySet: "00"))
        #expect(kept.count == 100 && Set(kept).count == 1)
    }

    @Test("An item that cannot be read is replaced by the floor of the folder")
    func malformed() async throws {
        let app = try App()
        let account = try app.trust.keySetID
        #expect(try await app.adopt(8, app.open()) == nil)
        for broken in [Data(), Data("[]".utf8), Data(count: 100_000)] {
            try app.floor.save([UInt8](broken), forKeySet: account)
            #expect(try app.open(.refuse).floor?.version == 8)
            #expect(try app.floor.floor(forKeySet: account) == app.floorBytes(8))
        }
        // An item without any data.
        try app.floor.forget()
        let query =
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: app.service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ] as [CFString: Any]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(try app.floor.floor(forKeySet: account) == [])
        #expect(try app.open().floor?.version == 8)
        #expect(try app.floor.floor(forKeySet: account) == app.floorBytes(8))
    }

    @Test("A release with other keys has its own floor, and the old floor applies again with the old keys")
    func otherKeys() async throws {
        let app = try App()
        #expect(try await app.adopt(8, app.open()) == nil)
        try app.reinstall()
        var next = app
        next.seed = 2
        let store = try next.open(.refuse)
        #expect(store.floor == nil)
        #expect(try await next.adopt(3, store) == nil)
        #expect(app.items.count == 2)
        try app.reinstall()
        #expect(try await app.adopt(7, app.open()) == "rollback")
        try app.floor.forget()
        #expect(app.items.isEmpty)
        try app.reinstall()
        #expect(try await app.adopt(7, app.open()) == nil)
        try app.floor.forget()
        try app.floor.forget()
    }
}

extension KeychainFloorTests.App {
    /// Returns the floor that an update leaves.
    fileprivate func floorBytes(_ version: Int) throws -> [UInt8] {
        let verifier = UpdateVerifier(trust: try trust, unscoped: nil)
        return try verifier.verifyStored(try update(version), floor: nil).floor(for: try trust).json
    }
}
