import Glibc
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools

/// States in which a file would look as the policy says, and pin less or lock out.
@Suite("Sync: files that only look pinned")
struct SyncGapTests {
    private let fixture: SyncFixture

    init() throws { fixture = try SyncFixture() }

    private func config(_ content: String = "") throws {
        try fixture.targets(("nsc", "n.xml"))
        try fixture.directory.write(
            "<network-security-config>\n\(content)</network-security-config>\n", to: "n.xml")
    }

    private func rule(_ host: String, _ numbers: [Int], _ more: String = "") -> String {
        let pins = numbers.map { "{\"spki\": \"sha256/\(SyncFixture.pins[$0])\", \"at\": \"leaf\"}" }
        return "{\"host\": \"\(host)\", \"pins\": [\(pins[0])], \"backupPins\": [\(pins[1])]\(more)}"
    }

    private func policy(_ rules: String...) throws {
        try fixture.directory.write(
            "{\"version\": 1, \"hosts\": [\(rules.joined(separator: ", "))]}", to: "policy.json")
    }

    @Test("A private root goes with its rule")
    func withdrawnRoot() throws {
        try #require(mkdir(fixture.directory.path(of: "xml"), 0o700) == 0)
        try fixture.targets(("nsc", "xml/n.xml"))
        try fixture.directory.write("<network-security-config/>", to: "xml/n.xml")
        try fixture.directory.write(try PolicyText.anchor(), to: "root.pem")
        let anchored = "{\"host\": \"internal.test\", \"anchors\": {\"include\": [\"root.pem\"]}}"
        try policy(rule("api.example.com", [0, 1]), anchored)
        #expect(fixture.sync().code == 0 && fixture.sync("--check").code == 0)
        #expect(try fixture.text("xml/n.xml").contains("internal.test"))
        try policy(rule("api.example.com", [0, 1]))
        #expect(fixture.sync("--check").code == 1)
        #expect(fixture.sync().code == 0)
        #expect(try !fixture.text("xml/n.xml").contains("internal.test"))
    }

    @Test("An element without pins below a pinned domain is refused, because Android takes it first")
    func unpinnedBelow() throws {
        try policy(rule("example.com", [0, 1], ", \"includeSubdomains\": true"))
        try config()
        #expect(fixture.sync().code == 0)
        func add(_ host: String) throws -> String {
            let written = try fixture.text("n.xml")
            defer { _ = try? fixture.directory.write(written, to: "n.xml") }
            let element = "<domain-config><domain includeSubdomains=\"true\">\(host)</domain></domain-config>"
            try fixture.directory.write(
                written.replacing("</network-security-config>", with: element + "</network-security-config>"),
                to: "n.xml")
            return try fixture.refusal("--check") ?? ""
        }
        #expect(try add("cdn.example.com") == "unpinned-below")
        #expect(try add("a.cdn.example.com") == "unpinned-below")
        #expect(try add("cdn.example.org") == "exit 0")
        #expect(try add("notexample.com") == "exit 0")
        // A rule of the policy that pins nothing there.
        try policy(
            rule("example.com", [0, 1], ", \"includeSubdomains\": true"),
            rule("cdn.example.com", [2, 3], ", \"enforcement\": \"reportOnly\""))
        #expect(fixture.sync().code == 0 && fixture.sync("--check").code == 0)
    }

    @Test("Two ports without a pin in common are refused for a format without ports")
    func ports() throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        try policy(
            rule("api.example.com", [0, 1], ", \"port\": 443"), rule("api.example.com", [2, 3], ", \"port\": 8443"))
        #expect(try fixture.refusal() == "locks-out")
        try policy(
            rule("api.example.com", [0, 1], ", \"port\": 443"), rule("api.example.com", [0, 3], ", \"port\": 8443"))
        #expect(fixture.sync().code == 0)
    }

    @Test("Pins that have ended, and files without pins, are named each time")
    func silent() throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        let ended = ", \"expiry\": {\"after\": \"2025-12-20T00:00:00Z\", \"then\": \"systemTrust\"}"
        try policy(rule("api.example.com", [0, 1], ended))
        #expect(fixture.sync().errors.contains("the pins of api.example.com ended 2025-12-20"))
        #expect(fixture.sync("--check").errors.contains("the pins of api.example.com ended 2025-12-20"))
        try policy(rule("api.example.com", [0, 1], ended.replacing("2025", with: "2099")))
        #expect(!fixture.sync().errors.contains("ended"))
        try policy(rule("api.example.com", [0, 1], ", \"enforcement\": \"reportOnly\""))
        #expect(fixture.sync("--check").errors.contains("nothing is pinned there"))
        let warnings = try fixture.sync("--check", "--json").json()["warnings"]?.elements.map(Array.init) ?? []
        #expect(warnings.contains { $0.string?.hasSuffix("nothing is pinned there") == true })
    }

    @Test("One file under two spellings is one target")
    func spellings() throws {
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        try fixture.targets(("ats", "Info.plist"), ("ats", "./Info.plist"))
        #expect(try fixture.refusal() == "duplicate-target")
        try fixture.targets(("ats", "./Info.plist"))
        #expect(fixture.sync().code == 0)
    }

    @Test("A file of the user with a number at its end stays")
    func otherFiles() throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        try fixture.directory.write("mine", to: "Info.plist.new-4194399")
        #expect(fixture.sync().code == 0)
        #expect(try fixture.text("Info.plist.new-4194399") == "mine")
    }

    @Test("The hint of a lock-out names the key of the file, not an option")
    func hint() throws {
        try fixture.targets(("ats", "Info.plist"))
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        let pins = SyncFixture.pins.prefix(5).map { "\"sha256/\($0)\"" }.joined(separator: ", ")
        try policy("{\"host\": \"api.example.com\", \"pins\": [\(pins)], \"backupPins\": \"none-accepted\"}")
        let run = fixture.sync()
        #expect(run.code == 2)
        #expect(run.errors.contains("\"pinsAt\"") && !run.errors.contains("--pins-at"))
    }

    @Test("The page of a plan does not replace a policy or an Info.plist that the plan names")
    func planPage() throws {
        let plan = PlanFixture().text.replacing(
            "\"version\": \"1.0\",", with: "\"version\": \"1.0\", \"infoPlist\": \"Info.plist\",")
        try fixture.directory.write("<plist><dict/></plist>", to: "Info.plist")
        try fixture.directory.write(plan, to: "plan.json")
        func run(_ page: String) -> ToolRun {
            ToolRun(
                "plan", fixture.directory.path(of: "plan.json"), "--at", "2026-11-20", "--html",
                fixture.directory.path(of: page))
        }
        let refused = run("Info.plist")
        #expect(refused.code == 2 && refused.errors.contains("would replace"))
        #expect(try fixture.text("Info.plist") == "<plist><dict/></plist>")
        #expect(run("page.html").code != 2)
    }
}
