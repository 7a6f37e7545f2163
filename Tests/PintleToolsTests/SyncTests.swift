import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools

@Suite("Sync")
struct SyncTests {
    private let fixture: SyncFixture

    init() throws {
        fixture = try SyncFixture()
    }

    private static let empty = "<plist version=\"1.0\">\n<dict>\n</dict>\n</plist>\n"
    private static let config = "<network-security-config>\n</network-security-config>\n"

    /// Writes an Info.plist with the pins of a policy of these hosts.
    private func infoPlist(hosts: [String] = ["api.example.com"]) throws -> String {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write(Self.empty, to: "Info.plist")
        try fixture.policy(hosts: hosts)
        #expect(fixture.sync().code == 0)
        return try fixture.text("Info.plist")
    }

    // MARK: Check

    @Test("A check compares the meaning: order, blanks and comments do not count, a key does")
    func meaning() throws {
        let text = try infoPlist(hosts: ["a.example.com", "b.example.com"])
        let (first, second) = (SyncFixture.pins[0], SyncFixture.pins[1])
        let swapped = text.replacing(first, with: "@").replacing(second, with: first).replacing("@", with: second)
            .replacing("a.example.com", with: "@").replacing("b.example.com", with: "a.example.com")
            .replacing("@", with: "b.example.com")
        let reordered = swapped.replacing("\t", with: "  ").replacing("<array>", with: "<array><!-- ours -->")
        try #require(reordered != text)
        try fixture.directory.write(reordered, to: "Info.plist")
        #expect(fixture.sync("--check").code == 0)
        try fixture.directory.write(text.replacing(second, with: SyncFixture.pins[2]), to: "Info.plist")
        let run = fixture.sync("--check", "--json")
        #expect(run.code == 1)
        let target = try #require(try run.json()["targets"]?.elements?.first { _ in true })
        #expect(target["state"]?.string == "stale")
        let key = "NSPinnedLeafIdentities[] SPKI-SHA256-BASE64"
        #expect(
            target["removed"]?.elements?.compactMap(\.string)
                == ["a", "b"].map { "\($0).example.com \(key) \"\(SyncFixture.pins[2])\"" })
        #expect(
            target["added"]?.elements?.compactMap(\.string)
                == ["a", "b"].map { "\($0).example.com \(key) \"\(second)\"" })
    }

    @Test(
        "A value of another type or nesting is not the same",
        arguments: [
            ("<true/>", "<string>true</string>"), ("<array>", "<array><array>"), ("<string>", "<string>x"),
            ("SPKI-SHA256-BASE64", "SPKI-SHA256-Base64"),
            ("<dict>\n\t\t\t\t<key>NSInc", "<dict><key>N</key><integer>1</integer><key>NSInc"),
        ])
    func types(part: String, other: String) throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write(Self.empty, to: "Info.plist")
        try fixture.policy(hosts: ["api.example.com"], rule: "\"includeSubdomains\": true,")
        #expect(fixture.sync().code == 0)
        var text = try fixture.text("Info.plist")
        try #require(text.contains(part))
        text = text.replacing(part, with: other)
        if other == "<array><array>" { text = text.replacing("</array>", with: "</array></array>") }
        try fixture.directory.write(text, to: "Info.plist")
        #expect(fixture.sync("--check").code == 1)
        #expect(fixture.sync().code == 0 && fixture.sync("--check").code == 0)
    }

    @Test("Pins of a host that the policy no longer has go, with a warning, and so do comments between the pins")
    func removedHost() throws {
        let text = try infoPlist(hosts: ["a.example.com", "b.example.com"])
        try fixture.directory.write(
            text.replacing("<key>b.example.com</key>", with: "<!-- ours --><key>b.example.com</key>"), to: "Info.plist")
        #expect(!fixture.sync("--check").errors.contains("warning"))
        try fixture.policy(hosts: ["a.example.com"])
        let run = fixture.sync()
        #expect(run.code == 0)
        #expect(run.errors.contains("exports no pins of b.example.com, so"))
        #expect(run.errors.contains("1 comment between the pins will be lost"))
        #expect(try !fixture.text("Info.plist").contains("b.example.com"))
    }

    @Test("A network security configuration keeps what has no pins, also beside the policy's own elements")
    func otherElements() throws {
        try fixture.targets(("nsc", "n.xml"))
        let others = """
            <domain-config cleartextTrafficPermitted="true"><domain>localhost</domain></domain-config>
            """
        let old = """
            <domain-config><domain>gone.example.org</domain><pin-set><pin digest="SHA-256">x</pin></pin-set></domain-config>
            """
        try fixture.directory.write(
            "<network-security-config>\n  \(old)\n  \(others)\n  \(old.replacing("gone", with: "also"))\n</network-security-config>\n",
            to: "n.xml")
        let run = fixture.sync()
        #expect(
            run.errors.contains("exports no pins of also.example.org, gone.example.org, so"))
        let text = try fixture.text("n.xml")
        #expect(
            text.hasPrefix(
                "<network-security-config>\n  <domain-config cleartextTrafficPermitted=\"false\">\n    <domain inc"))
        #expect(text.hasSuffix("\n  \(others)\n</network-security-config>\n"))
        #expect(fixture.sync("--check").code == 0)
    }

    // MARK: Refusals

    private static let refused: [(name: String, content: String, code: String, accepted: String)] = [
        ("Info.plist", "bplist00", "binary-plist", empty),
        ("Info.plist", "<\u{0}p\u{0}", "utf-16", empty),
        ("Info.plist", "// !$*UTF8*$!\n{ A = 1; }", "not-xml", empty),
        ("Info.plist", "{\"A\": 1}", "not-xml", "\u{FEFF}\n\(empty)"),
        ("Info.plist", "<plist><array/></plist>", "wrong-type", "<plist><dict/></plist>"),
        ("Info.plist", "<plist><dict><key>a</key></dict></plist>", "malformed-plist", "<plist><dict></dict></plist>"),
        (
            "Info.plist", "<plist><dict><key>NSAppTransportSecurity</key><string/></dict></plist>", "wrong-type",
            "<plist><dict><key>NSAppTransportSecurity</key><dict/></dict></plist>"
        ),
        (
            "Info.plist",
            "<plist><dict><key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains</key><array/></dict></dict></plist>",
            "wrong-type",
            "<plist><dict><key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains</key><dict/></dict></dict></plist>"
        ),
        (
            "Info.plist",
            "<plist><dict><key>NSAppTransportSecurity</key><dict/><key>NSAppTransportSecurity</key><dict/></dict></plist>",
            "duplicate-key", "<plist><dict><key>NSAppTransportSecurity</key><dict/></dict></plist>"
        ),
        (
            "Info.plist", "<!DOCTYPE plist [<!ENTITY e \"x\">]><plist><dict><key>&e;</key><true/></dict></plist>",
            "entity", "<!DOCTYPE plist [ ]><plist><dict><key>x</key><true/></dict></plist>"
        ),
        (
            "Info.plist", "<!DOCTYPE plist PUBLIC \"a\" \"b\"><plist><dict><key>N&e;</key><true/></dict></plist>",
            "entity", "<!DOCTYPE plist PUBLIC \"a\" \"b\"><plist><dict><key>N</key><true/></dict></plist>"
        ),
        ("Info.plist", "<plist><dict></plist>", "malformed-xml", empty),
        ("n.xml", empty, "not-nsc", config),
        (
            "n.xml",
            "<network-security-config><domain-config><domain>a.example</domain><pin-set/><domain-config/></domain-config></network-security-config>",
            "nested-config",
            "<network-security-config><domain-config><domain>a.example</domain><pin-set/></domain-config></network-security-config>"
        ),
        (
            "n.xml",
            "<network-security-config><domain-config><domain>a.example</domain><domain>api.example.com</domain></domain-config></network-security-config>",
            "mixed-config",
            "<network-security-config><domain-config><domain>api.example.com</domain></domain-config></network-security-config>"
        ),
        (
            "n.xml",
            "<network-security-config><domain-config><domain>a.example</domain></domain-config><domain-config><domain>A.example</domain></domain-config></network-security-config>",
            "duplicate-key",
            "<network-security-config><domain-config><domain>a.example</domain></domain-config></network-security-config>"
        ),
        ("Pins.kt", "val pins = 1\n", "foreign-file", "// Written by pintle sync from old.json\n"),
        ("pins.yaml", "a: # Written by pintle sync\n", "foreign-file", "# Written by pintle sync\n"),
    ]

    @Test("A file that cannot be changed safely is refused and stays as it is", arguments: refused.indices)
    func refusals(row: Int) throws {
        let (name, content, code, accepted) = Self.refused[row]
        let format = ["Info.plist": "ats", "n.xml": "nsc", "Pins.kt": "okhttp", "pins.yaml": "envoy"][name] ?? ""
        try fixture.targets((format, name))
        try fixture.directory.write(content, to: name)
        for options in [[], ["--check"]] {
            let run = ToolRun(arguments: ["sync", fixture.directory.path(of: SyncFile.name), "--json"] + options)
            #expect(run.code == 2)
            #expect(try run.json()["error"]?["code"]?.string == code)
            #expect(try run.json()["error"]?["file"]?.string == fixture.directory.path(of: name))
        }
        #expect(try fixture.text(name) == content)
        try fixture.directory.write(accepted, to: name)
        #expect(fixture.sync().code == 0)
        #expect(fixture.sync("--check").code == 0)
    }

    @Test("UTF-16 is refused with a command that converts it")
    func utf16() throws {
        try fixture.targets(("ats", "Info.plist"))
        let bytes: [UInt8] = [0xFF, 0xFE] + Self.empty.utf8.flatMap { [$0, 0] }
        try fixture.directory.write(bytes, to: "Info.plist")
        #expect(try fixture.refusal() == "utf-16")
        #expect(fixture.sync().errors.contains("plutil -convert xml1"))
    }

    @Test("A missing Info.plist is refused with what to do if Xcode generates it; a source file is made")
    func missing() throws {
        try fixture.targets(("ats", "Info.plist"))
        #expect(try fixture.refusal() == "unreadable-file")
        #expect(fixture.sync().errors.contains("INFOPLIST_FILE"))
        try fixture.targets(("okhttp", "src/Pins.kt"), more: ", \"package\": \"com.example\"")
        #expect(fixture.sync("--check").code == 1)
        #expect(fixture.sync().code == 0)
        #expect(
            try fixture.text("src/Pins.kt").hasPrefix(
                """
                // Written by pintle sync from policy.json; edit the policy, not this file.
                package com.example

                import okhttp3.CertificatePinner

                """))
        #expect(fixture.sync("--check").code == 0)
    }

    @Test("A changed pin is two lines of a file that belongs to the policy, also between equal ones")
    func changedLines() throws {
        try fixture.targets(("okhttp", "Pins.kt"))
        try fixture.policy(
            hosts: ["api.example.com", "b.example.com"], pins: [SyncFixture.pins[0], SyncFixture.pins[1]])
        #expect(fixture.sync().code == 0)
        try fixture.policy(
            hosts: ["api.example.com", "b.example.com"], pins: [SyncFixture.pins[2], SyncFixture.pins[1]])
        let check = fixture.sync("--check")
        #expect(check.code == 1)
        let changes = check.lines.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("- ") || $0.hasPrefix("+ ") }
        let (old, new) = ("- \"sha256/\(SyncFixture.pins[0])\",", "+ \"sha256/\(SyncFixture.pins[2])\",")
        #expect(changes.map { String($0) } == [old, old, new, new], "\(check.output)")
        #expect(fixture.sync().code == 0 && fixture.sync("--check").code == 0)
    }

    @Test("A rule that a format would lock out is refused, and no other file is written")
    func locksOut() throws {
        try fixture.directory.write(
            """
            {"version": 1, "hosts": [{"host": "api.example.com", "pins": [{"spki": "sha256/\(SyncFixture.pins[0])", "at": "ca"}],
             "backupPins": [{"spki": "sha256/\(SyncFixture.pins[1])", "at": "ca"}]}]}
            """, to: "policy.json")
        try fixture.directory.write(Self.empty, to: "Info.plist")
        try fixture.targets(("ats", "Info.plist"), ("envoy", "pins.yaml"))
        #expect(try fixture.refusal() == "locks-out")
        #expect(try fixture.text("Info.plist") == Self.empty)
        try fixture.targets(("ats", "Info.plist"))
        #expect(fixture.sync().code == 0)
    }

    @Test("All targets are compared before one is written, and every refusal is named")
    func allErrors() throws {
        try fixture.targets(("ats", "Info.plist"), ("nsc", "n.xml"), ("ats", "Other.plist"))
        try fixture.directory.write(Self.empty, to: "Info.plist")
        try fixture.directory.write(Self.empty, to: "n.xml")
        let run = fixture.sync("--json")
        #expect(run.code == 2)
        #expect(
            try run.json()["errors"]?.elements?.compactMap { $0["code"]?.string } == ["not-nsc", "unreadable-file"])
        #expect(try fixture.text("Info.plist") == Self.empty)
    }

    // MARK: Files

    @Test("A symbolic link, a folder, a pipe and a read-only file are refused")
    func kinds() throws {
        try fixture.targets(("ats", "Info.plist"))
        let (path, target) = (
            fixture.directory.path(of: "Info.plist"), try fixture.directory.write(Self.empty, to: "real")
        )
        try #require(symlink(target, path) == 0)
        #expect(try fixture.refusal() == "not-a-regular-file")
        #expect(try fixture.text("real") == Self.empty)
        unlink(path)
        try #require(mkdir(path, 0o700) == 0)
        #expect(try fixture.refusal() == "not-a-regular-file")
        rmdir(path)
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try fixture.refusal() == "not-a-regular-file")
        unlink(path)
        try fixture.directory.write(Self.empty, to: "Info.plist")
        try #require(chmod(path, 0o444) == 0)
        #expect(try fixture.refusal() == "read-only-file")
        #expect(try fixture.text("Info.plist") == Self.empty)
        #expect(fixture.sync("--check").code == 1)
        let other = fixture.directory.path(of: "other")
        try #require(chmod(path, 0o640) == 0 && link(path, other) == 0)
        #expect(try fixture.refusal() == "several-names")
        unlink(other)
        #expect(fixture.sync().code == 0)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test("A file that another program changes, replaces, removes or makes meanwhile is not overwritten")
    func changedMeanwhile() throws {
        let path = fixture.directory.path(of: "file")
        func error(_ change: () throws -> Void) throws -> String? {
            let file = try EditedFile(path, limit: 1 << 20)
            try change()
            do throws(ToolError) {
                try file.replace(with: Array("ours".utf8))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try error { try fixture.directory.write("made", to: "file") } == "changed-file")
        #expect(try fixture.text("file") == "made")
        #expect(try error { try fixture.directory.write("same", to: "file") } == "changed-file")
        #expect(try fixture.text("file") == "same")
        #expect(
            try error {
                try fixture.directory.write("same", to: "other")
                rename(fixture.directory.path(of: "other"), path)
            } == "changed-file")
        #expect(try error { unlink(path) } == "changed-file")
        #expect(throws: (any Error).self) { try fixture.text("file") }
        #expect(try error {} == nil)
        #expect(try fixture.text("file") == "ours")
        #expect(try error {} == nil)
    }

    @Test("If a later file cannot be written, the error names those that were written and those that were not")
    func partly() throws {
        try fixture.directory.write(Self.empty, to: "Info.plist")
        // A name that is too long for the temporary file beside it.
        let long = String(repeating: "n", count: 250) + ".kt"
        try fixture.targets(("ats", "Info.plist"), ("okhttp", long))
        let run = fixture.sync()
        #expect(run.code == 2)
        #expect(
            run.errors.contains(
                "written: \(fixture.directory.path(of: "Info.plist")); not written: \(fixture.directory.path(of: long))"
            ))
        #expect(try fixture.text("Info.plist").contains(SyncFixture.pins[0]))
    }

    @Test("Private roots of a network security configuration are written into the folder raw, and compared")
    func roots() throws {
        let root = try CertificateAuthority.root(name: "Private Root")
        try fixture.directory.write(root.certificate.pem, to: "root.pem")
        try fixture.policy(hosts: ["api.example.com"], rule: "\"anchors\": {\"include\": [\"root.pem\"]},")
        try #require(mkdir(fixture.directory.path(of: "xml"), 0o700) == 0)
        try fixture.directory.write(Self.config, to: "xml/n.xml")
        try fixture.targets(("nsc", "xml/n.xml"))
        #expect(fixture.sync().code == 0)
        let name = "raw/pintle_root_\(CertificatePin(certificate: root.certificate.der).description.prefix(16)).pem"
        #expect(try fixture.text(name) == root.certificate.pem)
        #expect(fixture.sync("--check").code == 0)
        try fixture.directory.write("", to: name)
        #expect(fixture.sync("--check").code == 1)
        #expect(fixture.sync().code == 0)
        #expect(try fixture.text(name) == root.certificate.pem)
    }

    @Test("TrustKit's other settings stay, because only its domains are the policy's")
    func trustKit() throws {
        try fixture.targets(("trustkit", "Info.plist"))
        let settings = "<key>TSKSwizzleNetworkDelegates</key>\n\t\t<true/>"
        try fixture.directory.write(
            "<plist>\n<dict>\n\t<key>TSKConfiguration</key>\n\t<dict>\n\t\t\(settings)\n\t</dict>\n</dict>\n</plist>",
            to: "Info.plist")
        #expect(fixture.sync().code == 0)
        #expect(fixture.sync("--check").errors.contains("skip the pins"))
        #expect(try fixture.text("Info.plist").contains(settings))
        #expect(try !fixture.text("Info.plist").contains("TSKIgnorePinningForUserDefinedTrustAnchors"))
        #expect(try fixture.rules(of: "Info.plist", .trustkit) == fixture.exportedRules(.trustkit))
        try fixture.directory.write(Self.empty, to: "Info.plist")
        #expect(!fixture.sync().errors.contains("skip the pins"))
        #expect(try fixture.text("Info.plist").contains("TSKIgnorePinningForUserDefinedTrustAnchors"))
    }

    // MARK: The file of targets

    @Test(
        "A mistake in the file of targets is an error with its place",
        arguments: [
            (#"{"version": 1, "targets": []}"#, "missing-key"),
            (#"{"version": 2, "policy": "policy.json", "targets": []}"#, "unsupported-version"),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "curl", "file": "x"}]}"#,
                "unknown-value"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "envoy", "file": "x.json"}]}"#,
                "unknown-value"
            ),
            (#"{"version": 1, "policy": "policy.json", "targets": [{"format": "ats", "file": ""}]}"#, "invalid-name"),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "ats", "file": "a\u0000b"}]}"#,
                "invalid-name"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "ats", "file": "a", "pinsAt": "any"}]}"#,
                "unknown-value"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "nsc", "file": "a", "pinsAt": "leaf"}]}"#,
                "unknown-key"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "okhttp", "file": "a.kt", "pinsAt": "ca"}]}"#,
                "unknown-key"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "trustkit", "file": "a", "pinsAt": "ca"}]}"#,
                "unknown-key"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "okhttp", "file": "a.kt", "package": "a;b"}]}"#,
                "unknown-value"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "ats", "file": "a", "package": "a"}]}"#,
                "unknown-key"
            ),
            (
                #"{"version": 1, "policy": "policy.json", "targets": [{"format": "ats", "file": "a"}, {"format": "ats", "file": "a"}]}"#,
                "duplicate-target"
            ),
        ])
    func mistakes(text: String, code: String) throws {
        try fixture.directory.write(text, to: SyncFile.name)
        let run = fixture.sync("--json")
        #expect(run.code == 2)
        #expect(
            try run.json()["error"]?["code"]?.string == code
                || run.json()["errors"]?.elements?.contains { $0["code"]?.string == code } == true)
        #expect(try run.json()["error"]?["line"]?.integer == 1)
        try fixture.targets(("okhttp", "a.kt"), more: ", \"package\": \"a.b\"")
        #expect(fixture.sync().code == 0)
        try fixture.directory.write(Self.empty, to: "Info.plist")
        try fixture.targets(("ats", "Info.plist"), ("envoy", "a.yaml"), more: ", \"pinsAt\": \"leaf\"")
        #expect(fixture.sync().code == 0)
    }

    @Test("A name of a policy cannot end the comment of a source file")
    func remark() {
        #expect(OwnFile.remark("a\nb\\u000ac\u{2028}d.json").contains("from a?b?u000ac?d.json;"))
        #expect(OwnFile.remark("conf/policy.json").contains("from conf/policy.json;"))
    }
}

/// Each test kills the tool in a separate process.
@Suite(
    "Sync and sudden ends",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct SyncCrashTests {
    @Test("After 200 kills the file is the old or the new one, and the next run removes what was left")
    func kills() throws {
        let fixture = try SyncFixture()
        let tool = try #require(SpawnedTool.path)
        let hosts = (0..<400).map { "h\($0).example.com" }
        try fixture.directory.write("<plist>\n<dict>\n</dict>\n</plist>\n", to: "Info.plist")
        var contents: [[UInt8]] = []
        for (name, pins) in [("a", SyncFixture.pins), ("b", Array(SyncFixture.pins.reversed()))] {
            try fixture.policy(hosts: hosts, pins: pins, to: "\(name).json")
            try fixture.targets(("ats", "Info.plist"), policy: "\(name).json")
            try fixture.directory.write(try fixture.directory.read(SyncFile.name), to: "sync-\(name).json")
            #expect(fixture.sync().code == 0)
            contents.append(try fixture.directory.read("Info.plist"))
        }
        let start = Date()
        _ = try runProcess([tool, "sync", fixture.directory.path(of: "sync-a.json")])
        let duration = Date().timeIntervalSince(start)
        var numbers = SeededNumbers(state: 7)
        var (killed, old, new) = (0, 0, 0)
        for round in 0..<200 {
            let before = try fixture.directory.read("Info.plist")
            let child = try ChildProcess(
                [tool, "sync", fixture.directory.path(of: round % 2 == 0 ? "sync-b.json" : "sync-a.json")])
            usleep(useconds_t.random(in: 0...useconds_t(duration * 1_500_000), using: &numbers))
            kill(child.processIdentifier, SIGKILL)
            child.terminate()
            if child.status == 128 + SIGKILL { killed += 1 }
            let after = try fixture.directory.read("Info.plist")
            try #require(contents.contains(after), "round \(round)")
            if after == before { old += 1 } else { new += 1 }
        }
        #expect(killed > 0 && old > 0 && new > 0, "killed \(killed), old \(old), new \(new)")
        let last = try runProcess([tool, "sync", fixture.directory.path(of: "sync-a.json")])
        #expect(last.status == 0)
        _ = try runProcess([tool, "sync", fixture.directory.path(of: "sync-b.json")])
        let names = try runProcess(["/bin/ls", fixture.directory.path]).output
        #expect(!names.contains("Info.plist.pintle"))
    }
}
