import FoundationEssentials
import Glibc
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleReports

/// Runs the spool in separate processes that are killed at every step of writing and of sending.
@Suite(
    "The spool of reports among processes", .enabled(if: ReportVictim.path != nil, "skipped: ReportVictim is not built")
)
struct SpoolCrashTests {
    private let directory: TemporaryDirectory
    private let policy: String
    private static let hosts = ["a.example.com", "b.example.com", "c.example.com"]

    init() throws {
        directory = try TemporaryDirectory()
        policy = try directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.com", "includeSubdomains": true, "backupPins": "none-accepted",
              "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="],
              "reportTo": ["https://one.example.net/", "https://two.example.net/"]}]}
            """, to: "policy.json")
    }

    private func keep(_ folder: String, hosts: [String] = Self.hosts, endingAt step: Int = 0) throws -> ProcessResult {
        try runProcess(
            [try #require(ReportVictim.path), "keep", directory.path(of: folder), policy, "\(step)"] + hosts,
            timeout: 120)
    }

    /// - Parameter seconds: the time after now, so that the lease of a killed process has expired.
    private func deliver(
        _ folder: String, endingAt step: Int = 0, later seconds: Int = 0
    ) throws -> ProcessResult {
        try runProcess(
            [
                try #require(ReportVictim.path), "deliver", directory.path(of: folder),
                directory.path(of: folder + ".log"), "\(step)",
            ], environment: ["LATER": "\(seconds)"], timeout: 120)
    }

    /// Returns the requests to the collector, as `ID URL`.
    private func log(_ folder: String) -> [String] {
        ((try? directory.read(folder + ".log")).map { String(decoding: $0, as: UTF8.self) } ?? "")
            .split(separator: "\n").map(String.init)
    }

    private func names(_ folder: String) throws -> [String] {
        try runProcess(["ls", "-A", directory.path(of: folder)]).output.split(separator: "\n").map(String.init)
    }

    @Test("After a crash at any step of adding, a report exists as a whole or not at all, and finally once")
    func keeping() throws {
        var ends: [Int32] = []
        var step = 0
        while ends.last != 0, step < 100 {
            step += 1
            let folder = "keep-\(step)"
            let result = try keep(folder, endingAt: step)
            ends.append(result.status)
            // Every report that the process said it kept is there.
            let said = result.output.split(separator: "\n").count { $0.hasSuffix(" kept") }
            #expect(try names(folder).count { $0.hasSuffix(".report") } >= said)
            let again = try keep(folder)
            #expect(again.status == 0)
            let names = try names(folder)
            #expect(
                names.count { $0.hasSuffix(".report") } == 3 && !names.contains { $0.hasSuffix(".new") }, "\(names)")
            #expect(try deliver(folder).output == "done 6 0\n")
            #expect(Set(log(folder)).count == 6 && log(folder).count == 6)
        }
        #expect(ends.dropLast().allSatisfy { $0 == 128 + SIGKILL } && ends.last == 0 && ends.count > 15)
    }

    @Test("After a crash at any step of sending, no report is lost, and only the current one may be sent twice")
    func sending() throws {
        var ends: [Int32] = []
        var repeats: Set<Int> = []
        var step = 0
        while ends.last != 0, step < 150 {
            step += 1
            let folder = "send-\(step)"
            #expect(try keep(folder).status == 0)
            ends.append(try deliver(folder, endingAt: step).status)
            #expect(try deliver(folder, later: 120).status == 0)
            let log = log(folder)
            // A second sending has the same id and address, so the collector can detect it.
            #expect(Set(log).count == 6, "step \(step): \(log)")
            repeats.insert(log.count - 6)
            #expect(try deliver(folder, later: 240).output == "done 0 0\n")
            #expect(self.log(folder).count == log.count)
            #expect(try !names(folder).contains { $0.hasSuffix(".report") || $0.hasSuffix(".report.new") })
            // Within 24 hours the same failures are duplicates.
            #expect(try keep(folder).output.split(separator: "\n").allSatisfy { $0.hasSuffix(" duplicate") })
        }
        #expect(ends.dropLast().allSatisfy { $0 == 128 + SIGKILL } && ends.last == 0 && ends.count > 30)
        #expect(repeats == [0, 1])
    }

    @Test("With a full disk, no new report is kept, no old one is lost, and none is sent twice")
    func fullDisk() throws {
        let victim = try #require(ReportVictim.path)
        #expect(try keep("full").status == 0)
        let before = try names("full")
        let full = try runProcess(
            [victim, "keep", directory.path(of: "full"), policy, "0", "z.example.com"], environment: ["LIMIT": "100"],
            timeout: 120)
        #expect(full.output.hasPrefix("z.example.com notStored("), "\(full.output)")
        #expect(try names("full") == before)
        // The collector accepts the reports, but the disk cannot record it.
        let sent = try runProcess(
            [victim, "deliver", directory.path(of: "full"), directory.path(of: "full.log"), "0"],
            environment: ["LIMIT": "400"], timeout: 120)
        #expect(sent.status == 0 && sent.output == "done 6 0\n", "\(sent.output)")
        #expect(try deliver("full").output == "done 0 0\n")
        #expect(Set(log("full")).count == 6 && log("full").count == 6)
    }

    @Test("A program that exits directly after its failures has kept them")
    func ending() throws {
        for round in 0..<5 {
            let hosts = (0..<20).map { "h\($0).example.com" }
            let result = try runProcess(
                [try #require(ReportVictim.path), "exit", directory.path(of: "exit-\(round)"), policy, "0"] + hosts,
                timeout: 120)
            #expect(result.status == 0)
            #expect(try names("exit-\(round)").count { $0.hasSuffix(".report") } == 20)
        }
    }

    @Test("A program can exit while an observer blocks")
    func lingering() throws {
        let result = try runProcess(
            [
                try #require(ReportVictim.path), "linger", directory.path(of: "linger"), policy, "0", "a.example.com",
                "b.example.com", "c.example.com",
            ], timeout: 120)
        #expect(result.status == 0)
    }

    @Test("Concurrent processes lose no report and send none twice")
    func atOnce() throws {
        let victim = try #require(ReportVictim.path)
        let folder = directory.path(of: "race")
        #expect(try keep("race", hosts: ["first.example.com"]).status == 0)
        let all = (0..<40).map { "h\($0).example.com" }
        let keepers = try (0..<3).map { number in
            // Two processes add each report.
            let own = all.enumerated().filter { $0.offset % 3 != number }.map(\.element)
            return try ChildProcess(
                [victim, "keep", folder, policy, "0"] + own, outputFile: directory.path(of: "keep-\(number).log"))
        }
        var rounds = 0
        while keepers.contains(where: { $0.status == nil }), rounds < 500 {
            rounds += 1
            let senders = try (0..<2).map { number in
                try ChildProcess(
                    [victim, "deliver", folder, directory.path(of: "race.log"), "0"],
                    outputFile: directory.path(of: "deliver-\(number).log"))
            }
            for sender in senders { while sender.status == nil { usleep(2_000) } }
        }
        #expect(keepers.allSatisfy { $0.status == 0 })
        #expect(try deliver("race").status == 0)
        let log = log("race")
        #expect(log.count == Set(log).count && log.count == 2 * (all.count + 1), "\(log.count)")
    }
}

/// The program that the tests kill while it works.
enum ReportVictim {
    static let path = siblingProgram("ReportVictim")
}
