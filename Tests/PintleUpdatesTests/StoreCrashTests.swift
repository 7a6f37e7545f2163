import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleUpdates

/// Runs the store in separate processes that are killed at every step of writing, or that run out of disk space.
@Suite(
    "Update store in several processes", .enabled(if: UpdateVictim.path != nil, "skipped: UpdateVictim is not built")
)
struct StoreCrashTests {
    private let scene: StoreScene
    private let bundled: String

    init() throws {
        scene = try StoreScene()
        bundled = try scene.directory.write(scene.app.bundled, to: "bundled.json")
        for version in UInt8(6)...9 { try scene.directory.write(scene.update(version), to: "\(version).json") }
    }

    private func run(
        in folder: String, _ versions: Int..., endingAt step: Int = 0, limit: Int = 0
    ) throws -> ProcessResult {
        try runProcess(
            [
                try #require(UpdateVictim.path), "adopt", scene.directory.path(of: folder),
                Hex.encode(scene.app.one.key.rawRepresentation), bundled, "2026-11-20T12:00:00Z", "\(step)", "\(limit)",
            ] + versions.map { scene.directory.path(of: "\($0).json") }, timeout: 120)
    }

    private func folder(_ name: String) throws -> String {
        try scene.directory.write("", to: "\(name)/.keep")
        return name
    }

    @Test("After a crash at any step of an adoption, the store has the old or the new update and adopts the next")
    func crashes() throws {
        var ends: [Int32] = []
        var afterwards: Set<String> = []
        var step = 0
        while ends.last != 0, step < 100 {
            step += 1
            let folder = try folder("crash-\(step)")
            #expect(try run(in: folder, 7).output == "open 0\nadopted 7\nin force 7\n")
            ends.append(try run(in: folder, 8, endingAt: step).status)
            // Never the bundled policy, never an older update, and always the update that it reports.
            let replay = try run(in: folder, 6)
            let version = String(replay.output.prefix(6))
            #expect(["open 7", "open 8"].contains(version), "step \(step): \(replay.output)")
            #expect(replay.output.contains("refused rollback"))
            afterwards.insert(version)
            #expect(try run(in: folder, 9).output == "\(version)\nadopted 9\nin force 9\n", "step \(step)")
            #expect(try run(in: folder).output == "open 9\n")
        }
        #expect(ends.dropLast().allSatisfy { $0 == 128 + SIGKILL } && ends.last == 0)
        #expect(ends.count > 10 && afterwards == ["open 7", "open 8"])
    }

    @Test("A crash at any step of the first adoption leaves no partial state")
    func firstAdoption() throws {
        for step in 1...12 {
            let folder = try folder("first-\(step)")
            _ = try run(in: folder, 7, endingAt: step)
            let output = try run(in: folder, 7).output
            #expect(
                ["open 0\nadopted 7\nin force 7\n", "open 7\nadopted 7\nin force 7\n"].contains(output), "\(output)")
        }
    }

    @Test("A crash while a lagging floor is written leaves the store as it was")
    func recovery() throws {
        let whole = try folder("whole")
        #expect(try run(in: whole, 7).status == 0)
        let update = try #require(scene.file("whole/update.json"))
        for step in 1...6 {
            let folder = try folder("recovery-\(step)")
            try scene.directory.write(update, to: "\(folder)/update.json")
            _ = try run(in: folder, endingAt: step)
            #expect(try run(in: folder, 6).output == "open 7\nrefused rollback\nin force 7\n")
        }
    }

    @Test("With a full disk, the update is refused and the active one stays")
    func fullDisk() throws {
        let folder = try folder("full")
        #expect(try run(in: folder, 7).status == 0)
        let before = scene.file("full/update.json")
        for limit in [1, 100, 500] {
            let full = try run(in: folder, 8, limit: limit)
            #expect(full.output == "open 7\nrefused not-written\nin force 7\n")
            #expect(scene.file("full/update.json") == before)
            #expect(try run(in: folder).output == "open 7\n")
        }
        #expect(try run(in: folder, 8, limit: 1 << 20).output == "open 7\nadopted 8\nin force 8\n")
    }

    @Test("After concurrent adoptions by several processes, the highest version is stored intact")
    func atOnce() throws {
        let folder = try folder("race")
        let path = try #require(UpdateVictim.path)
        let children = try (0..<4).map { number in
            let order = number.isMultiple(of: 2) ? [6, 7, 8, 9] : [9, 8, 7, 6]
            return try ChildProcess(
                [
                    path, "adopt", scene.directory.path(of: folder), Hex.encode(scene.app.one.key.rawRepresentation),
                    bundled, "2026-11-20T12:00:00Z", "0", "0",
                ] + order.map { scene.directory.path(of: "\($0).json") },
                outputFile: scene.directory.path(of: "race-\(number).log"))
        }
        for child in children { while child.status == nil { usleep(5_000) } }
        for (number, child) in children.enumerated() {
            let log = String(decoding: try #require(scene.file("race-\(number).log")), as: UTF8.self)
            #expect(child.status == 0, "\(log)")
            // The active update went back in no process.
            let versions = log.split(separator: "\n").filter { $0.hasPrefix("in force ") }.map(\.last)
            #expect(versions == versions.sorted { ($0 ?? "0") < ($1 ?? "0") }, "\(log)")
            #expect(log.hasSuffix("in force 9\n"), "\(log)")
        }
        #expect(try run(in: folder, 8).output == "open 9\nrefused rollback\nin force 9\n")
    }
}

/// The program that the tests kill while it writes.
enum UpdateVictim {
    static let path = siblingProgram("UpdateVictim")
}
