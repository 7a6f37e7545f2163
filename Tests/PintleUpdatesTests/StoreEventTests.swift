import FoundationEssentials
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

@Suite("Texts of store events")
struct StoreEventTests {
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)
    private static let error = StorageError(.notWritten, at: "/a/b", message: "the disk is full", hint: "make room")
    private static let rejection = UpdateError(.rollback(version: 2, floor: 3), version: 2)

    static let events: [(event: PolicyStoreEvent, text: String)] = [
        (
            .stale(version: 4, since: date),
            "update 4 expired 2023-11-14T22:13:20Z and stays in force; no newer one has been adopted"
        ),
        (
            .lostStore(LostUpdate(version: 4, cause: .missing)),
            "the stored update 4 is lost: its file is gone; the bundled policy is in force"
        ),
        (
            .lostStore(LostUpdate(version: nil, cause: .unreadable(error))),
            "the stored update is lost: /a/b: the disk is full; make room; the bundled policy is in force"
        ),
        (
            .rejected(rejection, from: "https://a.example/u"),
            "the update from https://a.example/u was not taken: rollback: version 2 is older than 3"
        ),
        (
            .notFetched(from: "https://a.example/u", description: "timed out"),
            "no update could be fetched from https://a.example/u: timed out"
        ),
        (.notStored(error), "the update was not stored: /a/b: the disk is full; make room"),
        (
            .floorUnreadable(error),
            "the floor of updates cannot be read: /a/b: the disk is full; make room; no update is taken until it can"
        ),
    ]

    @Test("Each event prints as one line of plain words", arguments: 0..<events.count)
    func text(index: Int) {
        let (event, text) = Self.events[index]
        #expect("\(event)" == text)
        #expect(!text.contains("PolicyStore") && !text.contains("("))
    }

    @Test("An adopted update prints its version")
    func adopted() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.adopt(try scene.update(2))
        let text = scene.events.withLock { $0.map(\.description) }
        #expect(text.count == 1)
        #expect(text.first?.hasPrefix("update 2 is in force; it may be adopted until 20") == true)
    }

    @Test("Text from a server stays on one line")
    func hostile() {
        let event = PolicyStoreEvent.notFetched(from: "https://a.example/", description: "a\nb\u{1B}[2J\u{202E}c")
        #expect(!"\(event)".unicodeScalars.contains { $0.value < 0x20 })
        #expect("\(event)" == "no update could be fetched from https://a.example/: a\\nb\\u{1B}[2J\\u{202E}c")
        // Quotes cannot harm a log, so they stay readable.
        let quoted = PolicyStoreEvent.notFetched(from: "https://a.example/", description: #"the file "x\y" is gone"#)
        #expect("\(quoted)" == #"no update could be fetched from https://a.example/: the file "x\y" is gone"#)
    }
}
