import Glibc
import PintleTestKit
import Testing

@testable import PintleTools

/// Each test runs the tool in a separate process, because the umask belongs to a process.
@Suite(
    "Permissions of output files",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct OutputFileTests {
    private let files: UpdateFixture
    private let output: String

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
        try files.directory.write("old", to: "pins.plist")
        try #require(chmod(output, mode) == 0)
        try export(umask: "022")
        #expect(files.mode(output) == mode)
        #expect(try files.text(output) != "old")
    }

    @Test(
        "A file that replaces a link has at most the permissions of the link's target and those that the umask leaves",
        arguments: [(0o666, 0o644), (0o777, 0o644), (0o600, 0o600)] as [(mode_t, mode_t)])
    func link(ofTarget mode: mode_t, replaced: mode_t) throws {
        try files.directory.write("old", to: "target.plist")
        let target = files.path("target.plist")
        try #require(chmod(target, mode) == 0 && symlink(target, output) == 0)
        try export(umask: "022")
        #expect(files.mode(output) == replaced && files.mode(target) == mode)
        #expect(try files.text(target) == "old")
    }

    @Test("Only its owner can read a private key, and everyone can read the public half, under any umask")
    func key() throws {
        let tool = try #require(SpawnedTool.path)
        let path = files.path("other.key")
        let run = try runProcess(["/bin/sh", "-c", "umask 000 && exec \"$0\" \"$@\"", tool, "keygen", "--out", path])
        #expect(run.status == 0 && files.mode(path) == 0o600 && files.mode(path + ".pub") == 0o644)
    }
}
