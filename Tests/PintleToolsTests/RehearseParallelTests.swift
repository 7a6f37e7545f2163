import Glibc
import Pintle
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintlePolicyFile
@testable import PintleTools

/// Attacks at the same time, and the time that clients get.
@Suite("Rehearsal: parallel runs and time-outs")
struct RehearseParallelTests {
    /// Returns the results without the facts that differ from run to run.
    private func stable(_ run: ToolRun) throws -> [[String?]] {
        try #require(try run.json().elements).map { result in
            ["id", "outcome", "remark", "alert"].map { result[$0]?.string }
                + ["requestBytes", "clientExit", "connection"].map { result[$0]?.integer.map { "\($0)" } }
        }
    }

    @Test("Eight attacks at a time give the results of one at a time, in the same order")
    func order() throws {
        let client = RehearseTests.quickGroups + ["--json", "--"] + RehearseTests.curl + ["-L", "{url}"]
        let one = ToolRun(arguments: RehearseTests.rehearse + ["--parallel", "1"] + client)
        let eight = ToolRun(arguments: RehearseTests.rehearse + ["--parallel", "8"] + client)
        #expect(one.code == 1 && eight.code == 1)
        #expect(try stable(one) == stable(eight))
    }

    @Test("The report says how many attacks run at a time, the time-out, and the time without the group hold")
    func timing() {
        let client = ["--", "curl", "-sS", "-m", "3", "--cacert", "{ca}", "{url}"]
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--parallel", "2", "--only", "stall-mid-handshake,expired"] + client)
        #expect(run.output.contains("\n2 attacks at once; time-out 30 s; "))
        #expect(run.output.contains(" s without the group hold\n"))
        let single = ToolRun(arguments: RehearseTests.rehearse + ["--only", "expired"] + client)
        #expect(single.output.contains("\none attack at a time; time-out 30 s\n"))
    }

    @Test("A client that starts slowly gets more time than the standard, as the right server showed")
    func slowStart() throws {
        let slow = ["--", "sh", "-c", "sleep 5.5; exec curl -sS -m 12 --cacert \"$1\" \"$2\"", "sh", "{ca}", "{url}"]
        let run = ToolRun(arguments: ["rehearse", "--only", "expired"] + slow)
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        #expect(run.output.contains(", for a client that starts slowly\n"))
        // With the standard time as a limit of the user, the same client proves nothing.
        let limited = ToolRun(arguments: ["rehearse", "--timeout", "5", "--only", "expired"] + slow)
        #expect(limited.code == 2)
        #expect(limited.errors.contains("the client was ended after 5 s before it connected"))
    }

    @Test("A client that becomes slower gets more time, as the right server shows again")
    func slowerLater() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path(of: "seen")
        func run(_ options: [String]) throws -> ToolRun {
            // The client is fast only where it comes first, which is at the right server.
            let shell = "test -e \(file) && sleep 5.5; touch \(file); exec curl -sS -m 12 --cacert \"$1\" \"$2\""
            _ = try runProcess(["rm", "-f", file])
            return ToolRun(
                arguments: ["rehearse", "--only", "expired,renewed-same-key"] + options
                    + ["--", "sh", "-c", shell, "sh", "{ca}", "{url}"])
        }
        let measured = try run([])
        #expect(measured.code == 0, "\(measured.output) \(measured.errors)")
        let line = try #require(measured.lines.first { $0.contains("; time-out 5 s, later ") })
        #expect(line.hasSuffix(" s for a client that became slower"))
        // With the standard time as a limit of the user, the same client has no verdict.
        let limited = try run(["--timeout", "5"])
        #expect(limited.code == 1)
        #expect(limited.output.contains("; time-out 5 s\n") && limited.output.contains("2 inconclusive"))
    }

    @Test("A client without a time-out of its own is not given more time than it needs at the right server")
    func heldClient() {
        let run = ToolRun(
            "rehearse", "--only", "stall-mid-handshake", "--", "curl", "-sS", "--cacert", "{ca}", "{url}")
        #expect(run.code == 1)
        #expect(run.output.contains("killed after 5 s; no verdict"), "\(run.output)")
        #expect(run.output.contains("; time-out 5 s; "))
    }

    @Test("A client that connects soon and never ends is not measured as a slow one")
    func endlessClient() throws {
        let run = ToolRun(
            arguments: ["rehearse", "--only", "expired", "--parallel", "1", "--", "sh", "-c", "\"$@\"; exec sleep 100"]
                + ["sh"] + RehearseTests.curl + ["{url}"])
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        let limit = try #require(run.output.firstMatch(of: /one attack at a time; time-out (\d+) s/)?.1)
        // A client that took all of the standard time would get three times as much.
        #expect(try #require(Int(limit)) < 15, "\(run.output)")
    }

    @Test("The limit of each attack follows from the start of the client, the number at a time, and --timeout")
    func limits() {
        #expect(ClientTimeLimit(fixed: nil, controlSeconds: 0.02, parallel: 1).seconds == 5)
        #expect(ClientTimeLimit(fixed: nil, controlSeconds: 2, parallel: 1).seconds == 6)
        #expect(ClientTimeLimit(fixed: nil, controlSeconds: 2, parallel: 64).seconds >= 6)
        #expect(ClientTimeLimit(fixed: 1, controlSeconds: 20, parallel: 8).seconds == 1)
    }

    @Test("Jobs keep their numbers, end early on close, and run without threads too")
    func jobs() {
        let jobs = OrderedJobs(Array(0..<20).reversed(), atOnce: 3) { number, _ in number * number }
        #expect((0..<20).map { jobs.result(of: $0) {} } == (0..<20).map { $0 * $0 })
        jobs.close()
        let none = OrderedJobs([0, 1], atOnce: 0) { number, _ in number + 1 }
        #expect((0..<2).map { none.result(of: $0) {} } == [1, 2])
        let begun = Atomic(0)
        let endless = OrderedJobs([0, 1], atOnce: 2) { _, isCancelled in
            begun.add(1, ordering: .relaxed)
            while !isCancelled() { usleep(1_000) }
            return true
        }
        while begun.load(ordering: .relaxed) < 2 { usleep(1_000) }
        endless.close()
        #expect(endless.finishedCount == 2)
    }
}
