import Glibc
import Pintle
import PintleTestKit
import Testing

/// The queries of `Examples/key-history`, run by SQLite.
@Suite(
    "Queries of the example key-history",
    .enabled(if: ConsumerTests.has("sqlite3"), "skipped: no sqlite3; apt-get install sqlite3"))
struct KeyHistoryQueryTests {
    private let scene: HistoryFixture
    private let example = Recipes.root + "/Examples/key-history"

    init() throws {
        scene = try HistoryFixture()
    }

    /// Returns the rows of both queries, each as a line with bars between its columns.
    private func rows(_ files: [String]) throws -> [String] {
        let path = ["PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"]
        let database = scene.directory.path(of: "keys.db")
        let load = try runProcess(["sh", example + "/load.sh", database] + files, environment: path)
        try #require(load.status == 0, "\(load.errorOutput)")
        let queries = try runProcess(
            ["sqlite3", database], input: Recipes.file("Examples/key-history/queries.sql"), environment: path)
        try #require(queries.status == 0, "\(queries.errorOutput)")
        return String(decoding: queries.stdout, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("The queries name the time of each key, and the pin that stopped matching")
    func changed() throws {
        let first = try scene.write(
            [
                HistoryFixture.result("a.test", "2026-11-10", leaf: "1", key: "k", matched: "k"),
                HistoryFixture.result("a.test", "2026-11-11", leaf: "2", key: "k", matched: "k"),
            ], to: "first.ndjson")
        let second = try scene.write(
            [
                HistoryFixture.result("a.test", "2026-11-12", leaf: "3", key: "n", matched: nil),
                HistoryFixture.line("a.test", "2026-11-13", HistoryFixture.unreached), "{\"host\":\"cut",
            ], to: "second.ndjson")
        // A file that is loaded twice, in any order, changes nothing.
        let found = try rows([second, first, first])
        let (key, new) = (HistoryFixture.key("k"), HistoryFixture.key("n"))
        #expect(
            found == [
                "a.test:443|\(key)|2026-11-10T06:00:00Z|2026-11-11T06:00:00Z|2",
                "a.test:443|\(new)|2026-11-12T06:00:00Z|2026-11-12T06:00:00Z|1",
                "a.test:443|\(key)|2026-11-11T06:00:00Z|2026-11-12T06:00:00Z|pin-mismatch",
            ])
    }

    @Test("A pin that the newest path still has did not stop matching, even if another pin matched")
    func kept() throws {
        let file = try scene.write([
            HistoryFixture.result("a.test", "2026-11-10", leaf: "1", key: "k", matched: "R1"),
            HistoryFixture.result("a.test", "2026-11-11", leaf: "2", key: "k", matched: "k"),
        ])
        #expect(
            try rows([file]) == [
                "a.test:443|\(HistoryFixture.key("k"))|2026-11-10T06:00:00Z|2026-11-11T06:00:00Z|2"
            ])
    }
}
