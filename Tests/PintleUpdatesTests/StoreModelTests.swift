import FoundationEssentials
import Glibc
import Pintle
import PintleCrypto
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

/// Compares the store with ``StoreModel`` in every state of its files, and after a crash at every step.
///
/// The files lie in memory. Each test takes the states in fixed steps. With `PINTLE_ALL_STATES` it takes all of them.
@Suite("The update store and its model")
struct StoreModelTests {
    private static let takesAll = getenv("PINTLE_ALL_STATES") != nil

    @Test("Every state of the files and every update lead to the model's policy, floor, loss and refusal")
    func files() throws {
        let scene = try ModelScene()
        var (pairs, number) = (0, 0)
        for state in StoreModel.all() {
            for update in [nil] + StoreModel.Update.allCases.map({ $0 }) {
                number += 1
                guard Self.takesAll || number.isMultiple(of: 29) else { continue }
                pairs += 1
                var model = state
                var expected = model.open()
                try scene.put(state)
                let vault = try scene.open(model.bundled)
                scene.compare(vault, model, expected, "\(state)")
                guard let update else { continue }
                let refusal = model.adopt(update, &expected)
                let code = try scene.adopt(update, in: vault)
                scene.expect(code == refusal, "\(code ?? "nil"), not \(refusal ?? "nil"): \(state), adopts \(update)")
                scene.compare(vault, model, expected, "\(state), adopts \(update)")
                // U1, U44: the next start finds the same.
                expected = model.open()
                scene.compare(try scene.open(model.bundled), model, expected, "\(state), adopts \(update), opens")
            }
        }
        scene.report()
        print("store: \(pairs) of \(number) pairs of files and update compared")
    }

    @Test("After a crash at any step of an adoption, the model says what the next process finds, and what it adopts")
    func crashes() throws {
        let scene = try ModelScene()
        var (crashes, pairs) = (0, 0)
        let starts = StoreModel.all(bundled: [0, 2]).filter { Self.isWhole($0) }
        for (number, start) in starts.enumerated() where Self.takesAll || number.isMultiple(of: 5) {
            for update in StoreModel.Update.allCases {
                var (model, after) = (start, start)
                let before = model.open()
                var opened = after.open()
                guard after.adopt(update, &opened) == nil else { continue }
                try scene.put(start)
                // Opens without a note, because the adoption is what is interrupted.
                let vault = try scene.open(start.bundled)
                let snapshots = try scene.record { try scene.adopt(update, in: vault) }
                scene.expect(snapshots.count > 6 || opened.inForce == before.inForce, "\(start), \(update)")
                for snapshot in snapshots {
                    crashes += 1
                    func context() -> String { "\(start), adopts \(update) until \(snapshot.step)" }
                    let found = try scene.state(snapshot, bundled: start.bundled)
                    // Never the bundled policy if an update was in force, never an older update.
                    var next = found
                    let later = next.open()
                    scene.expect([before.inForce, update].contains(later.inForce), "\(context())")
                    scene.expect(later.floor?.version ?? 0 >= before.floor?.version ?? 0, "\(context())")
                    for second in StoreModel.Update.allCases {
                        pairs += 1
                        try scene.restore(snapshot)
                        var model = found
                        var expected = model.open()
                        let vault = try scene.open(start.bundled)
                        scene.compare(vault, model, expected, context())
                        let refusal = model.adopt(second, &expected)
                        let code = try scene.adopt(second, in: vault)
                        scene.expect(
                            code == refusal, "\(code ?? "nil"), not \(refusal ?? "nil"): \(context()), adopts \(second)"
                        )
                        scene.compare(vault, model, expected, "\(context()), adopts \(second)")
                        if let floor = before.floor, second.version < floor.version {
                            scene.expect(refusal != nil, "an older update: \(context())")
                        }
                    }
                }
            }
        }
        print("store: \(crashes) crashes, \(pairs) pairs of crash and update compared")
        scene.report()
        #expect(crashes > 50)
    }

    @Test("Two processes agree with the model after every sequence of operations and losses", arguments: [true, false])
    func sequences(hasOutside: Bool) throws {
        let scene = try ModelScene()
        let start = StoreWorld(
            files: StoreModel(update: .absent, file: .absent, outside: hasOutside ? .absent : nil, bundled: 0))
        var worlds = [(start, [StoreWorld.Operation]())]
        var known: Set<StoreWorld> = [start]
        var (next, edges, compared) = (0, 0, 0)
        while next < worlds.count {
            let (before, path) = worlds[next]
            next += 1
            guard path.count < Self.longest else { continue }
            for operation in StoreWorld.operations {
                var world = before
                let (refusal, isPossible) = world.perform(operation)
                guard isPossible else { continue }
                edges += 1
                let sequence = path + [operation]
                Self.checkLaws(before, operation, world, refusal, "\(sequence)", in: scene)
                if Self.takesAll || edges.isMultiple(of: 5) {
                    compared += 1
                    try scene.replay(sequence, from: start, to: world, refusal)
                }
                if known.insert(world).inserted { worlds.append((world, sequence)) }
            }
        }
        print(
            "store, outside \(hasOutside): \(worlds.count) states, \(edges) sequences of up to \(Self.longest)",
            "operations, \(compared) of them compared")
        scene.report()
        #expect(compared > 100)
    }

    private static let longest = takesAll ? 6 : 4

    /// The laws for one operation. A version counts as remembered while a copy of the floor, the stored update or the
    /// process itself has it.
    private static func checkLaws(
        _ before: StoreWorld, _ operation: StoreWorld.Operation, _ after: StoreWorld, _ refusal: String?,
        _ context: @autoclosure () -> String, in scene: ModelScene
    ) {
        for (old, new) in zip(before.processes, after.processes) {
            guard let old, let new else { continue }
            switch operation {
            case .open, .stall(_, nil): continue
            default: break
            }
            scene.expect(new.floor?.version ?? 0 >= old.floor?.version ?? 0, "the floor falls: \(context())")
            let isBack = new.inForce?.version ?? 0 < old.inForce?.version ?? 0
            scene.expect(
                !isBack || old.isUnchecked && !new.isUnchecked, "an older update comes into force: \(context())")
        }
        scene.expect(
            after.files.outside?.floor?.version ?? 0 >= before.files.outside?.floor?.version ?? 0,
            "the floor outside falls: \(context())")
        guard case .adopt(let number, let update) = operation, let process = before.processes[number] else { return }
        if before.files.isLocked {
            scene.expect(
                refusal != nil && after.files.update == before.files.update, "adopts in the dark: \(context())")
            return
        }
        var files = before.files
        let opened = files.open()
        let remembered = max(
            opened.floor?.version ?? 0, process.isUnchecked ? 0 : process.inForce?.version ?? 0)
        if refusal == nil {
            scene.expect(update.version >= remembered, "an older update is adopted: \(context())")
            scene.expect(
                after.processes[number]?.inForce == update && after.files.update == .update(update), "\(context())")
        }
        // No app is locked out: a version above all that were adopted is taken.
        if update == .three, remembered < 3, process.floor?.version ?? 0 < 3 {
            scene.expect(refusal == nil, "\(context())")
        }
    }

    /// The files that adoptions leave behind.
    private static func isWhole(_ state: StoreModel) -> Bool {
        guard !state.isLocked, ![.damaged, .unreadable].contains(state.update), state.outside != .damaged,
            ![.damaged, .unreadable, .obstructed].contains(state.file)
        else { return false }
        var next = state
        return next.open().isLost == false && next == state
    }
}

/// A folder in memory, a copy of the floor outside of it, and the app's updates.
private final class ModelScene: Sendable {
    struct Snapshot: Sendable {
        let step: String
        let update: [UInt8]?
        let floor: [UInt8]?
        let outside: [UInt8]?
    }

    typealias Update = StoreModel.Update

    let snapshots = Locked<[Snapshot]>([])
    private let faults = Locked<[String]>([])
    let isRecording = Locked(false)
    /// Called once, when a process has written the floor's file.
    private let onFloorFile = Locked<(@Sendable () -> Void)?>(nil)
    private let directory: TemporaryDirectory
    private let place: SteppedPlace
    private let hasPlace = Locked(false)
    private let app: ShippedApp
    private let trust: UpdateTrust
    private let envelopes: [Update: [UInt8]]
    private let floors: [Update: UpdateFloor]
    private let bundled: [Int: PinningPolicy]

    init() throws {
        directory = try TemporaryDirectory(under: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil)
        app = try ShippedApp()
        trust = try app.trust
        place = SteppedPlace()
        var (envelopes, floors, bundled) = ([Update: [UInt8]](), [Update: UpdateFloor](), [Int: PinningPolicy]())
        for update in Update.allCases {
            let rule = Publication.rule(
                update == .refused ? "example.net" : "example.com",
                pin: update == .one ? 1 : UInt8(10 + (Update.allCases.firstIndex(of: update) ?? 0)))
            let publication = Publication(version: "\(update.version)", policy: Publication.policy(rule))
            envelopes[update] = try publication.signed(by: update == .foreign ? app.stranger : app.one)
            floors[update] = UpdateFloor(
                version: update.version, keySetID: trust.keySetID,
                payloadDigest: SHA256Digest(hashing: publication.payload))
        }
        for version in 0...3 {
            bundled[version] = try Publication.read(
                Publication.policy(
                    Publication.rule("example.com"), more: version > 0 ? ", \"updateVersion\": \(version)" : ""))
        }
        (self.envelopes, self.floors, self.bundled) = (envelopes, floors, bundled)
        place.onStep.withLock { $0 = { [unowned self] in note("outside") } }
    }

    func expect(_ holds: Bool, _ fault: @autoclosure () -> String) {
        guard !holds else { return }
        let text = fault()
        faults.withLock { $0.append(text) }
    }

    /// Records the first faults. There is one for each state that a mistake touches.
    func report() {
        let faults = faults.withLock { $0 }
        for fault in faults.prefix(3) { Issue.record("\(fault)") }
        if faults.count > 3 { Issue.record("\(faults.count) faults in all") }
    }

    // MARK: Files

    func put(_ state: StoreModel) throws {
        switch state.update {
        case .absent: try put(nil, "update.json")
        case .damaged: try put(Array("{\"payload\": \"e30=\", \"payloadType".utf8), "update.json")
        case .unreadable: try put(envelopes[.three], "update.json", mode: 0o666)
        case .update(let update): try put(envelopes[update], "update.json")
        }
        try put(bytes(state.file), "floor.json", mode: state.file == .unreadable ? 0o666 : 0o600)
        if state.file == .obstructed { mkdir(directory.path(of: "floor.json"), 0o700) }
        hasPlace.withLock { $0 = state.outside != nil }
        place.floor.withLock { $0 = state.outside.flatMap(bytes) }
        place.isLocked.withLock { $0 = state.isLocked }
    }

    private func bytes(_ copy: StoreModel.Copy) -> [UInt8]? {
        switch copy {
        case .absent, .obstructed: nil
        case .damaged: Array("{\"version\": 3, \"keySet\": ".utf8)
        case .unreadable: floors[.three]?.json
        case .floor(let update): floors[update]?.json
        case .foreign:
            floors[.three].map { floor in
                UpdateFloor(
                    version: 3, keySetID: String(repeating: "0", count: 64), payloadDigest: floor.payloadDigest
                ).json
            }
        }
    }

    private func put(_ bytes: [UInt8]?, _ name: String, mode: UInt32 = 0o600) throws {
        if unlink(directory.path(of: name)) != 0 { rmdir(directory.path(of: name)) }
        guard let bytes else { return }
        try directory.write(bytes, to: name)
        chmod(directory.path(of: name), mode)
    }

    private func note(_ step: String) {
        if step == "floor.json folderSynced" {
            let body = onFloorFile.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
        guard isRecording.withLock({ $0 }) else { return }
        let snapshot = Snapshot(
            step: step, update: try? directory.read("update.json"), floor: try? directory.read("floor.json"),
            outside: place.floor.withLock { $0 })
        snapshots.withLock { $0.append(snapshot) }
    }

    func restore(_ snapshot: Snapshot) throws {
        try put(snapshot.update, "update.json")
        try put(snapshot.floor, "floor.json")
        place.floor.withLock { $0 = snapshot.outside }
    }

    /// The state that the files of a snapshot stand for.
    func state(_ snapshot: Snapshot, bundled: Int) throws -> StoreModel {
        func copy(_ bytes: [UInt8]?) -> StoreModel.Copy {
            guard let bytes else { return .absent }
            guard let floor = UpdateFloor(json: bytes) else { return .damaged }
            return update(floor: floor).map { .floor($0) } ?? .foreign
        }
        let stored = envelopes.first { $0.value == snapshot.update }?.key
        try #require((stored == nil) == (snapshot.update == nil))
        return StoreModel(
            update: stored.map { .update($0) } ?? .absent, file: copy(snapshot.floor),
            outside: hasPlace.withLock({ $0 }) ? copy(snapshot.outside) : nil, bundled: bundled)
    }

    private func update(floor: UpdateFloor?) -> Update? { floors.first { $0.value == floor }?.key }

    // MARK: The store

    func open(_ version: Int) throws -> UpdateVault {
        let files = StoreFiles(folder: directory.path, floorStorage: hasPlace.withLock { $0 } ? place : nil) {
            [unowned self] step in
            note(step)
        }
        return try UpdateVault(files: files, trust: trust, bundled: try #require(bundled[version]))
    }

    /// Returns the code for which an update is refused.
    func adopt(_ update: Update, in vault: UpdateVault) throws -> String? {
        let envelope = try #require(envelopes[update])
        do throws(PolicyStoreError) {
            _ = try vault.adopt(envelope, at: Publication.now)
            return nil
        } catch {
            switch error {
            case .rejected(let rejection): return rejection.code.rawValue
            case .notStored: return "not-stored"
            case .floorUnreadable: return "floor-unreadable"
            case .lostStore: return "lost"
            }
        }
    }

    /// Performs a sequence of operations with real stores, and compares the result with the model's.
    func replay(
        _ sequence: [StoreWorld.Operation], from start: StoreWorld, to end: StoreWorld, _ refusal: String?
    ) throws {
        try put(start.files)
        var vaults: [UpdateVault?] = [nil, nil]
        var code: String?
        for operation in sequence {
            code = nil
            switch operation {
            case .open(let number): vaults[number] = try open(start.files.bundled)
            case .reload(let number): vaults[number]?.reload()
            case .adopt(let number, let update): code = try adopt(update, in: try #require(vaults[number]))
            case .crash(let number, let update):
                let steps = try record { try adopt(update, in: try #require(vaults[number])) }
                try restore(try #require(steps.last { $0.step == "update.json folderSynced" }))
                vaults[number] = nil
            case .stall(let number, let update):
                let other = try #require(vaults[1 - number])
                onFloorFile.withLock {
                    $0 = { [unowned self] in
                        unlink(directory.path(of: "update.json.lock"))
                        _ = try? adopt(.three, in: other)
                    }
                }
                if let update {
                    code = try adopt(update, in: try #require(vaults[number]))
                } else {
                    vaults[number] = try open(start.files.bundled)
                }
                expect(onFloorFile.withLock { $0 } == nil, "no floor's file was written: \(sequence)")
            case .loseUpdate: try put(nil, "update.json")
            case .loseFloor: try put(nil, "floor.json")
            case .restore:
                try put(envelopes[.one], "update.json")
                try put(floors[.one]?.json, "floor.json")
            case .lock: place.isLocked.withLock { $0 = true }
            case .unlock: place.isLocked.withLock { $0 = false }
            }
        }
        func context() -> String { "\(sequence)" }
        expect(code == refusal, "\(code ?? "adopted"), not \(refusal ?? "adopted"): \(context())")
        compareFiles(end.files, context())
        for (vault, process) in zip(vaults, end.processes) {
            guard let vault, let process else {
                expect((vault == nil) == (process == nil), "processes: \(sequence)")
                continue
            }
            compare(vault.active, end.files.bundled, process, context())
        }
    }

    /// Returns the states of the files after each step.
    func record(_ body: () throws -> String?) throws -> [Snapshot] {
        snapshots.withLock { $0 = [] }
        isRecording.withLock { $0 = true }
        let refusal = try body()
        isRecording.withLock { $0 = false }
        expect(refusal == nil, "refused: \(refusal ?? "")")
        return snapshots.withLock { $0 }
    }

    func compare(
        _ vault: UpdateVault, _ model: StoreModel, _ expected: StoreModel.Opened, _ context: @autoclosure () -> String
    ) {
        let process = StoreWorld.Process(
            inForce: expected.inForce, floor: expected.floor, isLost: expected.isLost,
            isUnchecked: expected.isUnchecked)
        compare(vault.active, model.bundled, process, context())
        compareFiles(model, context())
    }

    private func compare(
        _ active: ActiveState, _ bundled: Int, _ expected: StoreWorld.Process, _ context: @autoclosure () -> String
    ) {
        let inForce = active.update.flatMap { update(floor: $0.floor(for: trust)) }
        let isInForce = active.snapshot.policy.updateVersion == (inForce?.version ?? bundled)
        expect(inForce == expected.inForce && isInForce, "in force: \(context())")
        expect(update(floor: active.floor.lowerBound) == expected.floor, "floor: \(context())")
        expect((active.loss != nil) == expected.isLost, "loss: \(context())")
        expect(active.floor.isUnchecked == expected.isUnchecked, "unchecked: \(context())")
        expect(
            (active.floor.error != nil) == (expected.isUnchecked || expected.isOutdated), "floor's error: \(context())")
    }

    /// Compares the files. The store leaves files that it cannot use as they are, until an update replaces them.
    func compareFiles(_ model: StoreModel, _ context: @autoclosure () -> String) {
        if case .update(let stored) = model.update {
            expect((try? directory.read("update.json")) == envelopes[stored], "update.json: \(context())")
        }
        if case .floor(let floor) = model.file {
            expect((try? directory.read("floor.json")) == floors[floor]?.json, "floor.json: \(context())")
        }
        expect(place.floor.withLock { $0 } == model.outside.flatMap(bytes), "outside: \(context())")
    }
}

/// A storage of the floor that reports each step.
private final class SteppedPlace: UpdateFloorStorage {
    let floor = Locked<[UInt8]?>(nil)
    let isLocked = Locked(false)
    let onStep = Locked<(@Sendable () -> Void)?>(nil)

    func floor(forKeySet keySetID: String) throws(StorageError) -> [UInt8]? {
        if isLocked.withLock({ $0 }) { throw FloorPlace.error(.locked) }
        return floor.withLock { $0 }
    }

    func save(_ bytes: [UInt8], forKeySet keySetID: String) throws(StorageError) {
        let report = onStep.withLock { $0 }
        report?()
        floor.withLock { $0 = bytes }
        report?()
    }
}
