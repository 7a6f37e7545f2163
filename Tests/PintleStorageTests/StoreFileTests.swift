import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleStorage
import PintleTestKit
import Testing

/// Other objects in the place of the store's file.
@Suite("The store's file")
struct StoreFileTests {
    @Test("A file of a later release is left unchanged, and its approvals do not count")
    func laterVersion() throws {
        let scene = try StoreScene()
        let text = "{\"version\": 2, \"generation\": 1, \"approvals\": [], \"more\": true}"
        try scene.folder.write(text, to: "trust.json")
        #expect(scene.refusal() == "unsupported-version")
        #expect(scene.names == ["trust.json"])
        try scene.folder.write(
            text.replacing("2,", with: "1,").replacing(", \"more\": true", with: ""), to: "trust.json")
        #expect(scene.refusal() == nil)
        // The same for a store that is already open.
        let store = try scene.open()
        try store.approve(try .test("nas.test"))
        try scene.folder.write(text, to: "trust.json")
        #expect(store.approvals.count == 0 && store.approvals.record == .unreadable)
        #expect(store.problem?.code == "unsupported-version")
        let error = #expect(throws: TrustStoreError.self) { try store.approve(try .test("b.test")) }
        #expect(error?.code == "unsupported-version")
        #expect(try scene.folder.read("trust.json") == Array(text.utf8))
    }

    @Test("A folder, a link, a pipe and a socket are refused and left unchanged")
    func notRegular() throws {
        for kind in ["folder", "link", "dangling", "pipe"] {
            let scene = try StoreScene()
            let target = try scene.folder.write(TrustApprovals.none.json(), to: "real.json")
            switch kind {
            case "folder": #expect(mkdir(scene.path, 0o700) == 0)
            case "link": #expect(symlink(target, scene.path) == 0)
            case "dangling": #expect(symlink(target + ".gone", scene.path) == 0)
            default: #expect(mkfifo(scene.path, 0o600) == 0)
            }
            #expect(scene.refusal() == "not-a-regular-file", "\(kind)")
            #expect(scene.names == ["real.json", "trust.json"])
            _ = kind == "folder" ? rmdir(scene.path) : unlink(scene.path)
            #expect(rename(target, scene.path) == 0)
            #expect(scene.refusal() == nil)
        }
    }

    @Test("A replacement of the file during use is detected, reported once, and not trusted")
    func replacedByLink() throws {
        let scene = try StoreScene()
        let events = Events()
        let store = try scene.open(events)
        let approval = try TrustApproval.test("nas.test")
        try store.approve(approval)
        #expect(rename(scene.path, scene.path + ".moved") == 0)
        #expect(symlink(scene.path + ".moved", scene.path) == 0)
        for _ in 0..<3 { #expect(store.approvals.count == 0) }
        #expect(store.problem?.code == "not-a-regular-file")
        #expect(events.all.count == 1)
        let error = #expect(throws: TrustStoreError.self) { try store.approve(approval) }
        #expect(error?.code == "not-a-regular-file")
        #expect(unlink(scene.path) == 0 && rename(scene.path + ".moved", scene.path) == 0)
        #expect(store[approval.endpoint] == approval && store.problem == nil)
    }

    @Test("A file writable by others is refused, and one readable by others causes an event until the next change")
    func looseModes() throws {
        let scene = try StoreScene()
        let first = try scene.open()
        try first.approve(try .test("nas.test"))
        for mode in [0o622, 0o660, 0o602, 0o666] as [mode_t] {
            #expect(chmod(scene.path, mode) == 0)
            #expect(scene.refusal() == "writable-by-others")
            #expect(first.approvals.count == 0)
        }
        #expect(chmod(scene.path, 0o644) == 0)
        let events = Events()
        let store = try scene.open(events)
        #expect(events.all == [.readableByOthers(path: scene.path, mode: 0o644)])
        #expect(store.approvals.count == 1)
        try store.approve(try .test("b.test"))
        #expect(scene.mode(scene.path) == 0o600)
        #expect(first.approvals.count == 2)
    }

    @Test("A file of 16 MiB is read, and a larger one is refused before it is read")
    func size() throws {
        let scene = try StoreScene()
        var bytes = TrustApprovals.none.json()
        bytes += [UInt8](repeating: 0x20, count: (16 << 20) - bytes.count)
        try scene.folder.write(bytes, to: "trust.json")
        #expect(scene.refusal() == nil)
        try scene.folder.write(bytes + [0x20], to: "trust.json")
        #expect(scene.refusal() == "too-large")
        #expect(scene.names == ["trust.json"])
    }

    @Test("A path with a NUL is an error, and so is a missing folder")
    func paths() throws {
        let scene = try StoreScene()
        let nul = #expect(throws: TrustStoreError.self) { try TrustApprovalStore(path: scene.path + "\0.txt") }
        #expect(nul?.code == "unreadable-file")
        let store = try TrustApprovalStore(path: scene.folder.path(of: "gone/trust.json"))
        let error = #expect(throws: TrustStoreError.self) { try store.approve(try .test("nas.test")) }
        #expect(error?.code == "not-written")
        #expect(error?.description.contains("make the folder first") == true)
        #expect(mkdir(scene.folder.path(of: "gone"), 0o700) == 0)
        try store.approve(try .test("nas.test"))
    }

    @Test("A link or a pipe in the place of the lock is refused")
    func lockFile() throws {
        for isLink in [true, false] {
            let scene = try StoreScene()
            let store = try scene.open()
            let lock = scene.path + ".lock"
            #expect(isLink ? symlink("/dev/null", lock) == 0 : mkfifo(lock, 0o600) == 0)
            let error = #expect(throws: TrustStoreError.self) { try store.approve(try .test("nas.test")) }
            #expect(["not-written", "not-a-regular-file"].contains(error?.code))
            #expect(scene.names == ["trust.json.lock"])
            unlink(lock)
            try store.approve(try .test("nas.test"))
        }
    }

    @Test(
        "Another user's file is refused, and an unreadable one is an error that says so",
        .enabled(if: geteuid() == 0 && Victim.path != nil, "skipped: needs root, to act as another user"))
    func otherUsers() throws {
        let scene = try StoreScene()
        try scene.open().approve(try .test("nas.test"))
        #expect(chmod(scene.folder.path, 0o755) == 0)
        let unread = try Victim.run("open", scene.path, "65534")
        #expect(unread.status == 1 && unread.output.contains("unreadable-file: "), "\(unread.output)")
        #expect(chown(scene.path, 65_534, 65_534) == 0)
        #expect(scene.refusal() == "foreign-owner")
        #expect(try Victim.run("open", scene.path, "65534").status == 0)
        // A file that belongs to root is read if its mode allows it.
        #expect(chown(scene.path, 0, 0) == 0 && chmod(scene.path, 0o644) == 0)
        let read = try Victim.run("open", scene.path, "65534")
        #expect(read.status == 0 && read.output.contains("others may read it"), "\(read.output)")
    }
}
