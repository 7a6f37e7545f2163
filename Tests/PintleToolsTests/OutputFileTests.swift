import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleTools

/// Each test runs the tool in a separate process, because the umask belongs to a process.
@Suite(
    "Permissions of output files",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct OutputFileTests {
    private let files: UpdateFixture
    private let output: String
    /// The content of a file that an export may replace.
    private static let old = "<!-- Written by pintle export; edit the policy, not this file. -->"

    init() throws {
        files = try UpdateFixture()
        output = files.path("pins.plist")
    }

    /// Runs an export to `output` under this umask.
    private func export(umask: String) throws {
        let tool = try #require(SpawnedTool.path)
        let run = try runProcess([
            "/bin/sh", "-c", "umask \(umask) && exec \"$0\" \"$@\"", tool, "export", files.policy, "--to", "ats", "-o",
            output,
        ])
        try #require(run.status == 0, "\(run.errorOutput)")
    }

    @Test(
        "A new file has the permissions that the umask leaves",
        arguments: [("002", 0o664), ("022", 0o644), ("077", 0o600)] as [(String, mode_t)])
    func new(umask: String, mode: mode_t) throws {
        try export(umask: umask)
        #expect(files.mode(output) == mode)
    }

    @Test("Replacing a file keeps its permissions", arguments: [0o600, 0o640, 0o666] as [mode_t])
    func replaced(mode: mode_t) throws {
        try files.directory.write(Self.old, to: "pins.plist")
        try #require(chmod(output, mode) == 0)
        try export(umask: "022")
        #expect(files.mode(output) == mode)
        #expect(try files.text(output) != Self.old)
    }

    @Test(
        "A file that replaces a link has at most the permissions of the link's target and those that the umask leaves",
        arguments: [(0o666, 0o644), (0o777, 0o644), (0o600, 0o600)] as [(mode_t, mode_t)])
    func link(ofTarget mode: mode_t, replaced: mode_t) throws {
        try files.directory.write(Self.old, to: "target.plist")
        let target = files.path("target.plist")
        try #require(chmod(target, mode) == 0 && symlink(target, output) == 0)
        try export(umask: "022")
        #expect(files.mode(output) == replaced && files.mode(target) == mode)
        #expect(try files.text(target) == Self.old)
    }

    @Test(
        "The output for a closed standard stream does not reach a file, and a lost result is an error",
        arguments: [("", 3), ("<&-", 3), ("2>&-", 3), (">&-", 2), (">&- 2>&-", 2)])
    func closedStream(redirection: String, status: Int32) throws {
        let tool = try #require(SpawnedTool.path)
        let results = files.path("results.ndjson")
        // Nothing listens on this port any more.
        let closed = try LoopbackTCPServer { _ in }
        closed.close()
        let run = try runProcess([
            "/bin/sh", "-c", "exec \"$0\" \"$@\" \(redirection)", tool, "audit", files.policy, "--connect-to",
            "127.0.0.1:\(closed.port)", "-o", results,
        ])
        #expect(run.status == status, "\(run.errorOutput)")
        let lines = try files.text(results).split(separator: "\n")
        #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("{\"host\"") && $0.hasSuffix("}") })
    }

    @Test("A file name that is not UTF-8 is refused, and no file of another name is made")
    func invalidName() throws {
        let tool = try #require(SpawnedTool.path)
        let folder = files.directory.path
        let script = "cd \"$1\" && exec \"$0\" export policy.json --to ats -o \"$(printf '\\377.plist')\""
        let run = try runProcess(["/bin/sh", "-c", script, tool, folder])
        #expect(run.status == 2 && run.errorOutput.contains("not UTF-8: "), "\(run.errorOutput)")
        #expect(try runProcess(["/bin/sh", "-c", "ls \"$0\" | grep -c plist", folder]).output == "0\n")
    }

    @Test("A later writer removes what a killed one has left, and nothing that a running one writes")
    func remains() throws {
        let running = getpid()
        try files.directory.write("", to: "pins.plist.new-\(running)")
        // No process can have this number.
        try files.directory.write("", to: "pins.plist.new-\(pid_t.max)")
        try export(umask: "022")
        let left = try runProcess(["/bin/sh", "-c", "cd \"$0\" && ls pins.plist*", files.directory.path]).output
        #expect(left == "pins.plist\npins.plist.new-\(running)\n")
    }

    @Test("Two processes that add signatures at once both succeed, and no signature is lost")
    func signatures() throws {
        let tool = try #require(SpawnedTool.path)
        let update = try files.sign(7)
        let keys = try (0..<4).map { index in
            let key = files.path("more-\(index).key")
            try #require(files.run("keygen", "--out", key).code == 0)
            return key
        }
        let lines = keys.map { "\"$0\" sign --key '\($0)' --append '\(update)' -o '\(update)' & " }.joined()
        let run = try runProcess(["/bin/sh", "-c", lines + "wait", tool])
        #expect(run.status == 0, "\(run.errorOutput)")
        let document = try JSONDocument(try Array(files.text(update).utf8)).root
        #expect(document["signatures"]?.count == 5)
    }

    @Test("Only its owner can read a private key, and everyone can read the public half, under any umask")
    func key() throws {
        let tool = try #require(SpawnedTool.path)
        let path = files.path("other.key")
        let run = try runProcess(["/bin/sh", "-c", "umask 000 && exec \"$0\" \"$@\"", tool, "keygen", "--out", path])
        #expect(run.status == 0 && files.mode(path) == 0o600 && files.mode(path + ".pub") == 0o644)
    }
}
