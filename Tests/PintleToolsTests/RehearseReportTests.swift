import Glibc
import Pintle
import PintleAttacks
import PintlePolicyFile
import PintleTestKit
import Testing

/// The report files of a rehearsal.
@Suite("Rehearsal: reports")
struct RehearseReportTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs a client whose name and output look like markup. It lets an interceptor through.
    private func run() throws -> ToolRun {
        let client = try directory.write(
            "#!/bin/sh\nprintf '<b>]]>&\"\\033[31m\\001 words\\n' >&2\nexec curl -s -m 12 --cacert \"$1\" \"$2\"\n",
            to: "a<i>&'client", mode: 0o700)
        return ToolRun(
            arguments: RehearseTests.rehearse + [
                "--only", "trusted-interceptor,expired,rotated-to-backup-key,tls-1.0", "--junit",
                directory.path(of: "r.xml"), "--html", directory.path(of: "r.html"), "--", client, "{ca}", "{url}",
            ])
    }

    @Test("JUnit is well-formed whatever the client writes, and counts the failures")
    func junit() throws {
        let run = try run()
        #expect(run.code == 1)
        #expect(run.output.contains("junit: \(directory.path(of: "r.xml"))"))
        let script = """
            import sys, xml.etree.ElementTree as tree
            root = tree.parse(sys.argv[1]).getroot()
            suite = root.find("testsuite")
            skipped = [case for case in suite.findall("testcase") if case.find("skipped") is not None]
            tests, left = int(suite.get("tests")), int(suite.get("skipped"))
            assert root.tag == "testsuites" and tests == 5 + left and left == len(skipped) > 30
            assert suite.get("failures") == "1" and suite.get("errors") == "0"
            names = {case.get("name"): case.find("skipped").get("message") for case in skipped}
            assert names["self-signed"] == "not run: not chosen by --only or --group"
            assert names["approved-server-changed"].startswith("not run: needs a client")
            for case in suite.findall("testcase"):
                if case not in skipped: print(case.get("name"), [child.tag for child in case])
            """
        let read = try runProcess(["python3", "-c", script, directory.path(of: "r.xml")])
        #expect(
            read.output == """
                control []
                expired []
                trusted-interceptor ['failure']
                rotated-to-backup-key []
                tls-1.0 []

                """,
            "\(read.output) \(read.errorOutput)")
        let text = String(decoding: try directory.read("r.xml"), as: UTF8.self)
        #expect(text.contains("&lt;b&gt;]]&gt;&amp;"))
        #expect(text.contains("\nweaknesses: CWE-295, MASVS-NETWORK-2, MASWE-0028, MASTG-TEST-0244\n"))
        #expect(!text.contains("\u{1B}") && !text.contains("\u{1}"))
    }

    @Test("The page loads nothing, and no output of the client becomes markup")
    func page() throws {
        #expect(try run().code == 1)
        let page = String(decoding: try directory.read("r.html"), as: UTF8.self)
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("<script") && !page.contains("<b>") && !page.contains("<i>") && !page.contains("\u{1B}"))
        #expect(page.contains("a&lt;i&gt;&amp;"))
        #expect(page.contains("<td class=\"bad\">LET THROUGH</td>"))
        #expect(page.contains("1 LET THROUGH"))
        #expect(page.contains("RFC 7469 section 2.6, CWE-295, MASVS-NETWORK-2, MASWE-0028, MASTG-TEST-0244</small>"))
        #expect(page.contains("resumed-session-after-policy-change"))
    }

    @Test("The text shows the bad outcomes, and all outcomes with -v")
    func text() throws {
        let run = try run()
        #expect(run.lines.allSatisfy { $0.count <= 80 || $0.contains(directory.path) }, "\(run.output)")
        #expect(run.output.hasPrefix("control   valid chain, right host: accepted, "))
        #expect(run.output.contains("\n  trusted-interceptor           refused   LET THROUGH "))
        #expect(!run.output.contains("\n  expired "))
        #expect(run.output.contains("  ... 3 more, all as they must be (-v lists them)"))
        #expect(run.output.contains("\n  not run: resumed-session-after-policy-change,"))
        #expect(run.output.contains("\nnext: 1. this client validates but does not pin"))
        let verbose = ToolRun(
            arguments: RehearseTests.rehearse + ["-v", "--only", "expired", "--"] + RehearseTests.curl + ["{url}"])
        #expect(verbose.output.contains("\n  expired                       refused   blocked "))
        #expect(verbose.output.contains("an expired certificate; alert certificate_expired (45); exit code 60"))
        #expect(!verbose.output.contains("next: nothing"))
    }

    @Test("A part run says how many attacks were not chosen; a run of all does not")
    func notChosen() throws {
        func rehearse(_ options: String...) -> ToolRun {
            ToolRun(
                arguments: RehearseTests.rehearse + options + ["--html", directory.path(of: "p.html"), "--"]
                    + RehearseTests.curl + ["{url}"])
        }
        let all = Array(try #require(try ToolRun("rehearse", "--list", "--json").json().elements))
            .compactMap { $0["id"]?.string }.filter { $0 != "control" }
        let left = all.count - 1
        let part = rehearse("--only", "expired")
        #expect(part.code == 0)
        #expect(part.output.contains(": 1 as they must be, \(left) not chosen\n"), "\(part.output)")
        #expect(part.output.contains("\nnext: run it without --only and --group for \(left) more attacks\n"))
        let page = String(decoding: try directory.read("p.html"), as: UTF8.self)
        #expect(page.contains("The attack ended as it must; \(left) others were not chosen"))
        let json = try rehearse("--only", "expired", "--json").json()
        #expect(
            Set(json.elements?.first { _ in true }?["notChosen"]?.elements?.compactMap(\.string) ?? [])
                == Set(all).subtracting(["expired"]))
        let groups = Scenario.Group.allCases.map(\.rawValue).joined(separator: ",")
        let whole = rehearse("--group", groups)
        #expect(!whole.output.contains("not chosen") && whole.output.contains(" attacks in "), "\(whole.output)")
        #expect(!String(decoding: try directory.read("p.html"), as: UTF8.self).contains("not chosen"))
    }

    @Test("A file that cannot be written is an error before any attack runs")
    func unwritable() throws {
        let run = ToolRun(
            arguments: RehearseTests.rehearse + [
                "--only", "expired", "--junit", directory.path(of: "no/such.xml"), "--", "sh", "-c",
                "touch \(directory.path(of: "ran")); exec \"$@\"", "sh",
            ]
                + RehearseTests.curl + ["{url}"])
        #expect(access(directory.path(of: "ran"), F_OK) != 0)
        #expect(run.code == 2)
        #expect(run.errors.contains("no/such.xml"))
        let folder = ToolRun("rehearse", "--html", directory.path, "--", "curl", "{url}")
        #expect(folder.code == 2 && folder.errors.contains("is a directory"), "\(folder.errors)")
    }

    @Test("A full disk costs the file but not the result", arguments: [[], ["--json"]])
    func fullDisk(options: [String]) throws {
        let run = ToolRun(
            arguments: RehearseTests.rehearse + options + ["--only", "expired", "--junit", "/dev/full", "--"]
                + RehearseTests.curl + ["{url}"])
        #expect(run.code == 2)
        #expect(run.output.contains(options.isEmpty ? "1 attack in " : "\"blocked\""), "\(run.output)")
        #expect(run.errors.contains("/dev/full"))
    }
}
