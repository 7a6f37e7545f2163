import PintleTestKit
import Testing

@Suite("Processes and files")
struct ProcessTests {
    @Test("A program gets a megabyte of input, and its caller gets both outputs and the status")
    func streams() throws {
        let input = [UInt8](repeating: 0x61, count: 1_000_000)
        let result = try runProcess(["sh", "-c", "cat | tee /dev/stderr; exit 7"], input: input)
        #expect(result.status == 7)
        #expect(result.stdout == input)
        #expect(result.stderr == input)
    }

    @Test("A program is killed after its time-out, with all programs that it started")
    func timeout() throws {
        let start = ContinuousClock.now
        let result = try runProcess(["sh", "-c", "echo begun; sleep 60 & sleep 60"], timeout: 0.5)
        #expect(result.timedOut)
        #expect(result.status == 137)
        #expect(result.output == "begun\n")
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("A program that leaves its process group is killed after a time-out and a cancellation")
    func ownGroup() throws {
        let script = "import os, time; os.setpgid(0, os.getpgid(os.getppid())); print(1, flush=True); time.sleep(300)"
        let late = try GuardedProcess.run(["python3", "-c", script], timeout: 3, outputLimit: 8)
        #expect(late.end == .timedOut)
        let asked = try GuardedProcess.run(
            ["python3", "-c", script], timeout: 3, outputLimit: 8, isCancelled: { true })
        #expect(asked.end == .cancelled)
        #expect(try GuardedProcess.run(["true"], timeout: 60, outputLimit: 8).end == .exited(0))
    }

    @Test("Of a long output the end is kept")
    func longOutput() throws {
        let long = try GuardedProcess.run(
            ["sh", "-c", "seq 100000; echo end; echo short >&2"], timeout: 60, outputLimit: 10)
        #expect(long.stdout == Array("00000\nend\n".utf8) && long.stderr == Array("short\n".utf8))
    }

    @Test("A grandchild that keeps the pipes open does not block the caller")
    func daemon() throws {
        let start = ContinuousClock.now
        let result = try runProcess(["sh", "-c", "sleep 25 & echo done"])
        #expect(result.output == "done\n")
        #expect(!result.timedOut)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("A program gets its own variables and working directory")
    func environment() throws {
        let directory = try TemporaryDirectory()
        let result = try runProcess(
            ["sh", "-c", "pwd; echo $COLOUR"], environment: ["COLOUR": "green"], workingDirectory: directory.path)
        #expect(result.output == "\(directory.path)\ngreen\n")
    }

    @Test("The error for a missing program names it")
    func missing() {
        #expect(throws: SystemCallError(operation: "starting /nowhere/nothing", code: 2)) {
            try runProcess(["/nowhere/nothing"])
        }
        #expect(throws: SystemCallError.self) { try runProcess([]) }
    }

    @Test("A child ends on SIGTERM, and by SIGKILL if it ignores that")
    func terminate() throws {
        let polite = try ChildProcess(["sleep", "60"])
        #expect(polite.status == nil)
        polite.terminate()
        #expect(polite.status == 143)
        let directory = try TemporaryDirectory()
        let script = "trap '' TERM; echo ready; while :; do sleep 0.1; done"
        let stubborn = try ChildProcess(["sh", "-c", script], outputFile: directory.path(of: "out"))
        while try directory.read("out").isEmpty && stubborn.status == nil {}
        stubborn.terminate(grace: 0.1)
        #expect(stubborn.status == 137)
    }

    @Test("A temporary directory is removed with its contents when its last reference is released")
    func temporaryDirectory() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory?.path)
        try directory?.write("text", to: "a/b/c.txt")
        #expect(try directory?.read("a/b/c.txt") == Array("text".utf8))
        #expect(try runProcess(["test", "-d", path]).status == 0)
        directory = nil
        #expect(try runProcess(["test", "-e", path]).status == 1)
    }
}
