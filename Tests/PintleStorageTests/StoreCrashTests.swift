import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleStorage

/// Processes that are killed at any instruction, and processes that change the store concurrently.
@Suite("The store in several processes", .enabled(if: Victim.path != nil, "skipped: StorageVictim is not built"))
struct StoreCrashTests {
    @Test("After a crash at any step of a change, the store has the old or the new approvals")
    func killedAtEveryStep() throws {
        var ends: [Int32] = []
        for step in 1...100 {
            let scene = try StoreScene()
            let events = Events()
            try scene.open().approve(try .test("before.test"))
            let victim = try Victim.run("approve", scene.path, "victim", "2", "\(step)")
            ends.append(victim.status)
            let done = victim.output.split(separator: "\n")

            let store = try scene.open(events)
            let names = Set(store.approvals.all.map(\.endpoint.host.description))
            #expect(names.contains("before.test"))
            for number in done { #expect(names.contains("victim-\(number).test"), "step \(step)") }
            #expect(names.count - 1 - done.count <= 1, "step \(step): \(names)")
            #expect(events.all.isEmpty && store.problem == nil)
            // The lock is free, and partial files do not prevent a change.
            try store.approve(try .test("after.test"))
            #expect(store.approvals.count == names.count + 1)
            #expect(scene.names == ["trust.json", "trust.json.lock"])
            if victim.status == 0 { break }
        }
        #expect(ends.last == 0)
        #expect(ends.dropLast().allSatisfy { $0 == 128 + SIGKILL })
        // Two changes, each with lock, creation, pieces, fsync, rename and the folder.
        #expect(ends.count > 2 * DurableFile.Step.allCases.count)
    }

    @Test("A change that was reported as done survives a crash at any instruction")
    func killedAnywhere() throws {
        let scene = try StoreScene()
        let output = scene.folder.path(of: "output")
        for round in 0..<10 {
            let child = try ChildProcess(
                [Victim.path ?? "", "approve", scene.path, "round-\(round)", "1000"], outputFile: output)
            // Kill in the middle of a change, a little later in each round.
            while (try scene.folder.read("output")).count < 2 * round + 2, child.status == nil { usleep(1_000) }
            usleep(useconds_t(310 * round))
            kill(child.processIdentifier, SIGKILL)
            child.terminate()
            #expect(child.status == 128 + SIGKILL)
            let text = String(decoding: try scene.folder.read("output"), as: UTF8.self)
            unlink(output)
            #expect(!text.contains("event"))
            let events = Events()
            let approvals = try scene.open(events).approvals
            for number in text.split(separator: "\n") {
                #expect(approvals[try .test("round-\(round)-\(number).test")] != nil)
            }
            #expect(events.all.isEmpty)
        }
        #expect(try scene.open().approvals.count > 0)
    }

    @Test("Concurrent approvals by two processes and a thread lose nothing")
    func atOnce() throws {
        let scene = try StoreScene()
        let count = 40
        let children = try ["a", "b"].map { name in
            try ChildProcess([Victim.path ?? "", "approve", scene.path, name, "\(count)"])
        }
        let store = try scene.open()
        for number in 0..<count { try store.approve(try .test("c-\(number).test")) }
        while children.contains(where: { $0.status == nil }) { usleep(5_000) }
        #expect(children.allSatisfy { $0.status == 0 })
        #expect(store.approvals.count == 3 * count)
        #expect(store.approvals.revision == UInt64(3 * count))
        for name in ["a", "b", "c"] {
            for number in 0..<count { #expect(store[try .test("\(name)-\(number).test")] != nil) }
        }
    }

    @Test("Concurrent approvals by threads of one process lose nothing, through one store or several")
    func threads() async throws {
        let scene = try StoreScene()
        let shared = try scene.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    let store = task < 2 ? shared : try scene.open()
                    for number in 0..<10 { try store.approve(try .test("t\(task)-\(number).test")) }
                }
            }
            try await group.waitForAll()
        }
        #expect(shared.approvals.count == 40 && shared.approvals.revision == 40)
        #expect(try scene.open().approvals == shared.approvals)
    }

    @Test("A read never waits for a lock, and a change times out")
    func lockIsHeld() throws {
        let scene = try StoreScene()
        let file = DurableFile(scene.path, options: .init(maximumSize: TrustApprovals.maximumFileSize, patience: 50))
        let store = try TrustApprovalStore(file: file)
        try store.approve(try .test("nas.test"))
        let output = scene.folder.path(of: "output")
        let child = try ChildProcess([Victim.path ?? "", "hold", scene.path], outputFile: output)
        while (try scene.folder.read("output")).isEmpty, child.status == nil { usleep(1_000) }

        #expect(store.approvals.count == 1)
        #expect(try scene.open().approvals.count == 1)
        let error = #expect(throws: TrustStoreError.self) { try store.revoke(.test("nas.test")) }
        #expect(error?.code == "busy")
        // A read does not wait either when it finds an unusable file.
        let good = try scene.folder.read("trust.json")
        try scene.folder.write("garbage", to: "trust.json")
        #expect(store.approvals.count == 0 && store.problem != nil)
        try scene.folder.write(good, to: "trust.json")
        #expect(store.approvals.count == 1 && store.problem == nil)

        kill(child.processIdentifier, SIGKILL)
        child.terminate()
        #expect(try store.revoke(.test("nas.test")) != nil)
    }
}
