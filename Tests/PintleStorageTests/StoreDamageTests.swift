import FoundationEssentials
import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Testing

/// Stores that are damaged or lost, and files that were never stores.
@Suite("Damaged and lost stores")
struct StoreDamageTests {
    /// Possible remains of a store, with the kind of damage.
    static let remainders = [
        "nothing": "", "zeros": "\0\0\0\0", "one byte": "{", "early": "{\n  \"ver",
        "head": "{\n  \"version\": 1,\n  \"gen",
        "number": "{\n  \"version\": 1,\n  \"generation\": 41",
        "list": "{\"version\": 1, \"generation\": 4, \"approvals\": [",
        "more": "{\"version\": 1, \"generation\": 4, \"approvals\": [], \"trust\": \"all\"}",
        "mark": "\u{FEFF}{\"version\": 1, \"generation\": 4, \"approvals\": []}",
        "large": "{\"generation\": 4, \"approvals\": [" + String(repeating: "\"", count: 1_000_000),
        "no start": "\"accepts\": [],\n \"approvedAt\": \"2026-11-20T10:00:00Z\"}]}",
    ]

    @Test(
        "A damaged store approves no server, stays unchanged when read, and is set aside by a change",
        arguments: remainders)
    func damaged(kind: String, text: String) throws {
        let scene = try StoreScene()
        let events = Events()
        try scene.folder.write(text, to: "trust.json")
        for _ in 0..<2 {
            let store = try scene.open(events)
            #expect(store.approvals.count == 0 && store.approvals.record == .unreadable)
            #expect(store.problem?.code == "damaged-store")
            #expect(store.approvals.count == 0)
            #expect(scene.names == ["trust.json"])
            #expect(try scene.folder.read("trust.json") == Array(text.utf8))
        }
        // Each store sends one event.
        #expect(events.all.count == 2)
        guard case .unusable(.damaged(scene.path, _))? = events.all.first else {
            Issue.record("\(events.all)")
            return
        }
        let store = try scene.open()
        let approval = try TrustApproval.test("nas.test")
        try store.approve(approval)
        #expect(store[approval.endpoint] == approval && store.problem == nil)
        #expect(store.approvals.record == .lost)
        #expect(scene.names == ["trust.json", "trust.json.corrupt", "trust.json.lock"])
        #expect(try scene.folder.read("trust.json.corrupt") == Array(text.utf8))
        // Every later store reports the loss, until the user removes the file that was set aside.
        #expect(try scene.open().approvals.record == .lost)
        #expect(unlink(scene.path + ".corrupt") == 0)
        #expect(try scene.open().approvals.record == .complete)
        #expect(try scene.open()[approval.endpoint] == approval)
    }

    @Test("Up to ten damaged files are set aside without overwriting one")
    func many() throws {
        let scene = try StoreScene()
        let events = Events()
        let store = try scene.open(events)
        for number in 0..<15 {
            try scene.folder.write("\"approvals\" \"generation\" \(number)", to: "trust.json")
            try store.approve(try .test("nas.test"))
            #expect(store.approvals.count == 1)
        }
        #expect(events.all.count == 15)
        guard case .setAside(scene.path, to: scene.path + ".corrupt", because: _)? = events.all.first else {
            Issue.record("\(events.all)")
            return
        }
        #expect(scene.names.filter { $0.contains("corrupt") }.count == 10)
        #expect(try scene.folder.read("trust.json.corrupt") == Array("\"approvals\" \"generation\" 0".utf8))
        #expect(try scene.folder.read("trust.json.corrupt-10") == Array("\"approvals\" \"generation\" 14".utf8))
    }

    @Test(
        "A file that was never a store is changed neither by a read nor by a change",
        arguments: [
            "[", "not JSON", "{\"version\": 1}", "{\"version\": 1, \"hosts\": []}", "-----BEGIN PRIVATE KEY-----\n",
            "{\"approvals\": [\"alice\"]}", "{\"version\": 1, \"hosts\": [], \"note\": \"\\\"approvals\\\"\"}",
        ])
    func notAStore(text: String) throws {
        let scene = try StoreScene()
        try scene.folder.write(text, to: "trust.json")
        #expect(scene.refusal() == "not-a-store")
        #expect(scene.names == ["trust.json"])
        // The same if such a file replaces a store that is in use.
        #expect(unlink(scene.path) == 0)
        let store = try scene.open()
        let approval = try TrustApproval.test("nas.test")
        try store.approve(approval)
        #expect(store[approval.endpoint] == approval)
        try scene.folder.write(text, to: "trust.json")
        #expect(store.approvals.count == 0 && store.problem?.code == "not-a-store")
        #expect(store.approvals.record == .unreadable)
        let error = #expect(throws: TrustStoreError.self) { try store.approve(approval) }
        #expect(error?.code == "not-a-store")
        #expect(error?.description.contains("if it was one, move it away") == true)
        #expect(try scene.folder.read("trust.json") == Array(text.utf8))
        #expect(!scene.names.contains { $0.contains("corrupt") })
        // After the user has moved the file, the store works again.
        #expect(rename(scene.path, scene.path + ".old") == 0)
        try store.approve(approval)
        #expect(store[approval.endpoint] == approval && store.problem == nil)
    }

    @Test("A change that finds a damaged store sets it aside and succeeds")
    func damagedAtChange() throws {
        let scene = try StoreScene()
        let events = Events()
        let store = try scene.open(events)
        try store.approve(try .test("a.test"))
        try scene.folder.write(Array(try scene.folder.read("trust.json").dropLast(9)), to: "trust.json")
        try store.approve(try .test("b.test"))
        #expect(store.approvals.all.map(\.endpoint.description) == ["b.test:443"])
        #expect(events.all.count == 1 && store.problem == nil)
    }

    @Test("After a file vanishes, the store sends an event and no server counts as a first contact")
    func vanished() throws {
        let scene = try StoreScene()
        let events = Events()
        let store = try scene.open(events)
        let approval = try TrustApproval.test("nas.test")
        // No file existed, so none could vanish.
        #expect(store.approvals == .none && store.approvals.record == .complete && events.all.isEmpty)
        try store.approve(approval)
        let older = try scene.folder.read("trust.json")
        try store.approve(try .test("b.test"))
        #expect(rename(scene.path, scene.path + ".moved") == 0)
        for _ in 0..<3 { #expect(store.approvals.count == 0 && store.approvals.record == .lost) }
        #expect(events.all == [.vanished(path: scene.path)] && store.problem == nil)
        // The same file is back, so nothing is lost.
        #expect(rename(scene.path + ".moved", scene.path) == 0)
        #expect(store.approvals.count == 2 && store.approvals.record == .complete)
        // An older file is back, so approvals are lost.
        try scene.folder.write(older, to: "trust.json")
        #expect(store[approval.endpoint] == approval && store.approvals.record == .lost)
        // They are still lost after a new file replaces it.
        #expect(unlink(scene.path) == 0)
        try store.approve(approval)
        #expect(store.approvals.count == 1 && store.approvals.record == .lost)
    }

    @Test(
        "A file that could not be read for a moment is read again",
        .enabled(if: Victim.path != nil, "skipped: StorageVictim is not built"))
    func passingError() throws {
        let scene = try StoreScene()
        // The program reads, reads without a free descriptor, and reads again. The file does not change in between.
        let victim = try Victim.run("starve", scene.path)
        let seen = victim.output.split(separator: "\n").filter { !$0.hasPrefix("event: ") }
        #expect(seen == ["1 complete -", "0 unreadable unreadable-file", "2 complete -"], "\(victim.output)")
    }
}
