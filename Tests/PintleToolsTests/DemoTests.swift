import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Demonstration")
struct DemoTests {
    @Test("Each scene ends as it should, and the interceptor gets no byte for a pinned server")
    func scenes() throws {
        let run = ToolRun("demo", "--json")
        #expect(run.code == 0)
        #expect(run.errors.isEmpty)
        let scenes = try #require(try run.json()["scenes"]?.elements.map(Array.init))
        #expect(
            scenes.map { $0["reason"]?.string } == [
                "pin-matched", "pin-matched", "pin-matched", "pin-mismatch", "host-not-pinned", "pins-expired",
                "unknown-host", "pin-mismatch", "pin-matched", "pin-mismatch", "pin-mismatch",
            ])
        let bytes = scenes.map { $0["requestBytes"]?.integer ?? -1 }
        #expect(bytes[3] == 0)
        #expect(bytes[4] > 0)
        #expect(bytes[6] == 0)
        #expect(bytes[7] == 0 && bytes[8] > 0 && bytes[9] == 0 && bytes[10] == 0)
    }

    @Test("The demonstration prints a few lines and keeps files only with --keep")
    func text() throws {
        let directory = try TemporaryDirectory()
        let plain = ToolRun("demo", environment: ["TMPDIR": directory.path])
        #expect(plain.code == 0)
        #expect(plain.lines.count < 20)
        #expect(
            plain.output.contains(
                "\n 4  interceptor with a CA you trust      REJECTED  pin-mismatch      0 request bytes"))
        #expect(plain.output.contains("after a restart: rollback"))
        #expect(plain.output.contains("the collector down   REJECTED  pin-mismatch      1 kept; up again: 1 delivered"))
        #expect(!plain.output.contains("kept:"))
        let left = try runProcess(["ls", "-A", directory.path])
        #expect(left.output.isEmpty)

        let kept = ToolRun("demo", "--keep", environment: ["TMPDIR": directory.path])
        let line = try #require(kept.lines.first { $0.hasPrefix("kept: \(directory.path)/pintle-demo-") })
        let folder = String(line.dropFirst("kept: ".count))
        #expect(ToolRun("inspect", folder + "/policy.json").code == 0)
        #expect(ToolRun("pin", folder + "/server.pem", folder + "/unknown.pem").code == 0)
    }

    @Test("The demonstration ignores a proxy in the environment")
    func proxy() {
        #expect(ToolRun("demo", environment: ["HTTPS_PROXY": "http://127.0.0.1:1"]).code == 0)
    }

    @Test(
        "A signal at any time leaves no file",
        .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
    func interrupted() throws {
        let directory = try TemporaryDirectory()
        var statuses: Set<Int32?> = []
        for step in 0..<12 {
            let child = try ChildProcess(
                [try #require(SpawnedTool.path), "demo"], environment: ["TMPDIR": directory.path],
                outputFile: "/dev/null")
            usleep(UInt32(step) * 15_000)
            kill(child.processIdentifier, SIGTERM)
            for _ in 0..<6_000 where child.status == nil { usleep(10_000) }
            statuses.insert(child.status)
        }
        #expect(!statuses.contains(nil), "a demonstration did not end")
        // 2: interrupted between two scenes; 0: too late; by the signal: before the tool could take it.
        #expect(statuses.contains(2) || statuses.contains(0), "\(statuses)")
        let left = try runProcess(["ls", "-AR", directory.path]).output
        #expect(left == "\(directory.path):\n")
    }
}
