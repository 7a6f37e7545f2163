import Glibc
import PintleTestKit
import Testing

/// A typo on the command line must not destroy the policy that all other files are made from.
@Suite("Output files do not replace input files")
struct GuardedFilesTests {
    private let files: UpdateFixture

    init() throws {
        files = try UpdateFixture()
    }

    /// Returns `true` if the command refused to replace the file and left it unchanged.
    private func isKept(_ path: String, by arguments: [String]) throws -> Bool {
        let before = try files.text(path)
        let run = ToolRun(arguments: arguments, now: files.now)
        return try run.code == 2 && run.errors.contains(" would replace ") && run.errors.contains(" another name\n")
            && files.text(path) == before
    }

    @Test("A command refuses to replace a policy with its export or its update, even through a link")
    func policy() throws {
        let link = files.path("link.json")
        try #require(symlink(files.policy, link) == 0)
        let sign = [
            "sign", "--key", files.key, "--version", "7", "--expires", "2027-02-18T00:00:00Z", files.policy, "-o",
        ]
        for format in ["nsc", "ats", "curl"] {
            let export = ["export", files.policy, "--to", format, "-o"]
            #expect(try isKept(files.policy, by: export + [files.policy]))
            #expect(try isKept(files.policy, by: export + [link]))
            #expect(ToolRun(arguments: export + [files.path("out.\(format)")]).code == 0)
        }
        #expect(try isKept(files.policy, by: sign + [files.policy]))
        #expect(try isKept(files.key, by: sign + [files.key]))
        #expect(ToolRun(arguments: sign + [files.path("7.json")], now: files.now).code == 0)
    }

    @Test("Import refuses to replace its input, and so does plan")
    func others() throws {
        let list = files.path("pins.plist")
        #expect(ToolRun("export", files.policy, "--to", "ats", "-o", list).code == 0)
        #expect(try isKept(list, by: ["import", "--from", "ats", list, "-o", list]))
        #expect(ToolRun("import", "--from", "ats", list, "-o", files.path("back.json")).code == 0)

        let plan = try files.directory.write(PlanFixture().text, to: "plan.json")
        let command = ["plan", plan, "--at", "2026-11-20", "--html"]
        #expect(try isKept(plan, by: command + [plan]))
        #expect(ToolRun(arguments: command + [files.path("plan.html")]).code != 2)
    }
}
